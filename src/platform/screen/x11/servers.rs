//! The X servers of this computer.

use crate::platform::screen::{Access, Frame, Listing, Rect, ScreenError, Sources};

/// No server.
#[derive(Debug)]
pub(in crate::platform::screen) struct Servers;

impl Servers {
    pub(in crate::platform::screen) fn new(_: Sources) -> Self {
        Self
    }

    pub(in crate::platform::screen) fn list(&self) -> Result<Listing, ScreenError> {
        Ok(Listing { access: access(), displays: Vec::new(), windows: Vec::new(), unreachable: Vec::new() })
    }

    pub(in crate::platform::screen) fn capture_display(
        &self,
        _: &str,
        _: Option<Rect>,
    ) -> Result<Frame, ScreenError> {
        Err(ScreenError::NoAccess(access()))
    }

    pub(in crate::platform::screen) fn capture_window(
        &self,
        _: &str,
        _: Option<Rect>,
    ) -> Result<Frame, ScreenError> {
        Err(ScreenError::NoAccess(access()))
    }
}

fn access() -> Access {
    Access::Unsupported { why: "X11 is not built in yet".to_owned() }
}
