//! The terminal of the person who runs a command: asking there, with and without echo.

#[cfg(windows)]
mod elsewhere;
#[cfg(unix)]
mod unix;

use crate::contract::Secret;

#[cfg(windows)]
pub use elsewhere::{Tty, forget_typed, output_columns};
#[cfg(unix)]
pub use unix::{Tty, forget_typed, output_columns};

/// Whether what is typed is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Echo {
    /// It is.
    Shown,
    /// It is not.
    Hidden,
}

/// How a person has ended a line.
#[derive(Debug)]
pub enum Line {
    /// With Enter.
    Typed(Secret),
    /// With Ctrl-C, Ctrl-\, or Ctrl-D on an empty line; or the terminal is gone.
    Interrupted,
}
