//! `git.*` against real repositories, hostile ones too.

mod scope;
mod hostile;
// They start Git hundreds of times, minutes under wine; there the case files and the conversation show the operations.
#[cfg(target_os = "linux")]
mod odd;
mod outside;
// They start Git hundreds of times, minutes under wine; there the case files and the conversation show the operations.
#[cfg(target_os = "linux")]
mod shapes;
// They start Git hundreds of times, minutes under wine; there the case files and the conversation show the operations.
#[cfg(target_os = "linux")]
mod worktrees;

pub use scope::{GitScope, person_git};
