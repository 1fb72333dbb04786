//! Terminals of processes: what keys send, and what a screen shows.
//!
//! Must not start or read processes; it makes bytes of names, and pictures of bytes.

mod keys;
mod screen;
mod titles;

pub use keys::{CursorKeys, Key, MAX_KEYS, for_pipe, for_terminal, read as read_key};
pub use screen::{Cursor, MAX_COLUMNS, MAX_ROWS, Picture, Screen};
