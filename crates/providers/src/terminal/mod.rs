//! Terminals of processes: what keys send, and what a screen shows.
//!
//! Must not start or end processes: it makes bytes of names, and pictures of what was printed.

mod keys;
mod screen;
mod screens;
mod sizes;
mod titles;

pub use keys::{CursorKeys, Key, MAX_KEYS, for_pipe, for_terminal, read as read_key};
pub use screen::{Cursor, Picture, Screen};
pub use screens::{Screens, no_terminal};
pub use sizes::{SizeChange, add_size_change, size_changes};
