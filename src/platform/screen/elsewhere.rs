//! Systems whose displays this build cannot look at. It says so, and nothing else.

use super::{Access, Frame, Listing, Point, Rect, ScreenError, Sources};

/// No server.
#[derive(Debug)]
pub(super) struct Servers;

impl Servers {
    pub(super) fn new(_: Sources) -> Self {
        Self
    }

    pub(super) fn list(&self) -> Result<Listing, ScreenError> {
        Ok(Listing { access: access(), displays: Vec::new(), windows: Vec::new(), unreachable: Vec::new() })
    }

    pub(super) fn capture_display(&self, _: &str, _: Option<Rect>, _: bool) -> Result<Frame, ScreenError> {
        Err(ScreenError::NoAccess(access()))
    }

    pub(super) fn capture_window(&self, _: &str, _: Option<Rect>) -> Result<Frame, ScreenError> {
        Err(ScreenError::NoAccess(access()))
    }
}

/// No window can be shown, so none of these is ever made.
#[derive(Debug)]
pub enum Mark {}

impl Mark {
    /// How wide and how high it would be, in pixels.
    pub const SIDE: u32 = 16;

    /// Says that there is no display to show it on.
    ///
    /// # Errors
    ///
    /// Always `NoAccess`.
    pub fn show(_: &Sources, _: &str, _: Point, _: [u8; 3]) -> Result<Self, ScreenError> {
        Err(ScreenError::NoAccess(access()))
    }

    /// Gives the colour that the display has where the mark is.
    ///
    /// # Errors
    ///
    /// None: there is no mark.
    pub fn seen(&self) -> Result<Option<[u8; 3]>, ScreenError> {
        match *self {}
    }
}

fn access() -> Access {
    Access::Unsupported { why: "displays are looked at on Linux, macOS and Windows".to_owned() }
}
