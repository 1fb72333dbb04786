//! What a Wayland session tells: displays and, if its desktop or the user lets it, pictures of them. No windows.

use std::time::Duration;

use super::window::SystemWindow;
use crate::screen::{Access, ScreenError};

/// The protocol has no list of windows that a program may ask for.
pub(super) const TELLS_WINDOWS: bool = false;

/// A unit is more pixels than one where the display is scaled.
pub(super) const UNIT_IS_PIXEL: bool = false;

/// How long a picture may take: some desktops ask the user first.
pub(super) const PATIENCE: Duration = Duration::from_secs(25);

/// Only a picture shows whether there may be one.
pub(super) fn access() -> Access {
    Access::Granted
}

pub(super) fn prepare() -> Result<(), String> {
    Ok(())
}

pub(super) fn windows() -> Result<Option<Vec<SystemWindow>>, String> {
    Ok(None)
}

pub(super) fn display_id(name: &str, _: u32) -> String {
    name.to_owned()
}

/// Returns why nothing can be listed.
pub(super) fn unreachable(why: String) -> Access {
    let why = format!(
        "the Wayland session does not tell its displays: {why}; they are asked for through its X server (Xwayland), so \
         DISPLAY has to name that"
    );
    Access::Unsupported { why }
}

/// Returns why there is no picture.
pub(super) fn refused(_: &str, why: String) -> ScreenError {
    let setting = "let Bailiwick take screenshots: answer the desktop's question, or in its settings under Apps or \
                   Privacy; it takes them by the GNOME shell, the desktop portal (xdg-desktop-portal) or wlr-screencopy, \
                   and one of these has to run";
    ScreenError::NoAccess(Access::Denied { why, setting: setting.to_owned() })
}
