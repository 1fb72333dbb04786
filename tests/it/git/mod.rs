//! `git.*` against real repositories, hostile ones too.

mod hostile;
mod outside;
mod shapes;
mod ground;
mod odd;
mod worktrees;

pub use ground::{Ground, person_git};
