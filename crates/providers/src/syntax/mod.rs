//! Syntax of programming languages, by tree-sitter: trees of texts, and the errors in them.
//!
//! ```text
//! Language       which grammar a file's name calls for; it is mapped into memory when it is first used
//! parse          a text's tree, within a limit of time, from an earlier tree where there is one
//! Trees          the trees of the last edited files, for a short while
//! check          the errors of a text that an earlier text of the same file did not have
//! ```
//!
//! Texts come from callers: no file is opened here. All of it runs in a parse worker ([`crate::parser`]), as grammars are C
//! code that a text can crash. A grammar is a good reader, not the compiler: what it
//! calls an error is said, and never the reason for a change of the text.

mod check;
mod depth;
mod fault;
mod language;
mod parse;
mod trees;

pub use check::{Region, Side, SyntaxInput, SyntaxReport, check};
pub use fault::{Fault, faults};
pub use language::Language;
pub use parse::{MAX_BYTES, SyntaxTreeError, parse, rest_of};
