//! Systems whose displays this build cannot look at. It says so, and nothing else.

use super::{Access, Frame, Listing, Rect, ScreenError, Sources};

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

fn access() -> Access {
    Access::Unsupported { why: "displays are looked at on Linux, macOS and Windows".to_owned() }
}
