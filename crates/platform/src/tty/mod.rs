//! The terminal of the user who runs a command: asking there, where nothing that is typed is shown.

#[cfg(windows)]
mod console;
mod typing;
#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

use bailiwick_contract::Secret;

#[cfg(unix)]
pub use unix::{Tty, forget_typed, output_columns, shows_colours};
#[cfg(windows)]
pub use windows::{Tty, forget_typed, output_columns, shows_colours};

/// How a person has ended a line.
#[derive(Debug)]
pub enum Line {
    /// With Enter.
    Typed(Secret),
    /// With Ctrl-R.
    Refused,
    /// With Ctrl-C, Ctrl-\, or Ctrl-D on an empty line; or the terminal is gone.
    Interrupted,
}
