//! What source text defines, and where its names are used: by grammar alone, without a compiler.
//!
//! ```text
//! language_of   the language of a file whose definitions can be found
//! definitions   the definitions in a text: kind, name, container, signature, range
//! references    the places where a text uses a name
//! outlines      the definitions of many files
//! used          the places where the files beneath a folder use a name
//! index         an index of the definitions beneath each root
//! ```
//!
//! Texts come from callers; only `outlines`, `used` and `index` open files, through the scope's door. A grammar
//! knows no types and resolves no names: what is found is what the text says, and two things of one name are not
//! told apart.

mod arrange;
mod definition;
mod definitions;
mod extent;
pub mod index;
mod kind;
mod kinds;
mod language;
mod masked;
pub mod outlines;
mod recover;
mod references;
mod signature;
mod source;
mod used;

pub use definition::{Definition, Definitions, Position};
pub use definitions::definitions;
pub use kind::Kind;
pub use language::language_of;
pub(crate) use references::is_used_in;
pub use references::{Reference, References, Role, references};
pub(crate) use source::worth_parsing;
pub use source::{MAX_BYTES, SourceProblem};
pub use used::{ReferenceSearch, Use, UsedQuery, used};
