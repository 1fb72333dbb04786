//! What is below the roots of scopes that a command must leave alone: of Git repositories, what Git runs later, and the
//! files that the scope closes.
//!
//! A command may work with a repository: its objects, refs and index are written. What names a program or another
//! folder stays as it is. A repository that a command makes where none was is said, with what names programs in it.

mod closed;
mod finder;
mod names;
mod review;
mod survey;

pub(crate) use names::names_of;
pub use review::Review;
pub use survey::{ProtectedNames, Repositories};
