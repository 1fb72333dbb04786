//! Systems on which no mark can be shown and no input made, whatever can be captured there. It says so, and nothing else.

use super::{Access, Point, ScreenError, Sources};

/// No window can be shown, so none of these is ever made.
#[derive(Debug)]
pub enum Mark {}

impl Mark {
    /// How wide and how high it would be, in pixels.
    pub const SIDE: u32 = 16;

    /// Says that it cannot be shown.
    ///
    /// # Errors
    ///
    /// Always `NoAccess`.
    pub fn show(_: &Sources, _: &str, _: Point, _: [u8; 3]) -> Result<Self, ScreenError> {
        let why = "windows of its own are shown on Linux with X11 only, so far".to_owned();
        Err(ScreenError::NoAccess(Access::Unsupported { why }))
    }

    /// Returns the colour that the display has where the mark is.
    ///
    /// # Errors
    ///
    /// None: there is no mark.
    pub fn seen(&self) -> Result<Option<[u8; 3]>, ScreenError> {
        match *self {}
    }
}

/// Reads the lock of the X server that has the number of a display: this program starts none here.
pub const fn server_lock(_: u16) -> Option<Vec<u8>> {
    None
}

/// Removes what the X server of a lock has left: nothing.
pub const fn remove_server_leftovers(_: u16, _: &[u8]) -> bool {
    true
}

/// Becomes what releases keys if this process was started as that: here it never is.
pub const fn guard_if_asked() -> Option<std::process::ExitCode> {
    None
}
