//! The Git repositories below the roots of scopes, of which a command must not change what Git runs later.
//!
//! A command may work with a repository: its objects, refs and index are written. What names a program or another
//! folder stays as it is. A repository that a command makes where none was is said, with what names programs in it.

mod finder;
mod names;
mod review;
mod survey;

pub(crate) use names::names_of;
pub use review::Review;
pub use survey::{ProtectedNames, Repositories};
