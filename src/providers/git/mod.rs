//! Git: finding the repository of a path, and a Git that runs nothing which the repository names.
//!
//! Decides nothing about rights, and shows nothing that lies outside the scope.

mod check;
mod drivers;
mod parse;
mod repository;
mod revision;
mod runner;
mod status;

pub use check::{Busy, busy};
pub use parse::{Fields, Hash, lossy};
pub use repository::{Repository, Seen};
pub use revision::Revision;
pub use runner::{Asked, Git, Printed, Reach, Surroundings, word};
pub use status::{Branch, Change, Conflict, Status, StatusEntry, Untracked, status, whole};
