//! Systems whose terminal this build cannot ask at. It says so, and nothing else.

use std::convert::Infallible;
use std::io;

use super::{Echo, Line};

/// The terminal of the person. None is opened on this system.
#[derive(Debug)]
pub struct Tty(Infallible);

#[expect(clippy::unused_async, reason = "they are the same calls on every system")]
impl Tty {
    /// Opens nothing.
    ///
    /// # Errors
    /// Always `Unsupported`.
    pub fn open() -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Cannot be called.
    ///
    /// # Errors
    /// None.
    pub async fn write(&self, _: &str) -> io::Result<()> {
        match self.0 {}
    }

    /// Cannot be called.
    ///
    /// # Errors
    /// None.
    pub async fn ask(&self, _: &str, _: Echo) -> io::Result<Line> {
        match self.0 {}
    }
}

/// Gives the columns of the terminal that standard output is: not known here.
pub fn output_columns() -> Option<u16> {
    None
}

/// Forgets what was typed and not read yet: nothing here.
pub fn forget_typed() {}
