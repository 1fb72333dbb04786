//! A window as the system tells it.

use crate::screen::{Rect, WindowState};

/// A window that can be on a display, in the system's own units of length.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SystemWindow {
    /// The number that the system gave it.
    pub number: u64,
    /// Its title; empty if none is told.
    pub title: String,
    /// The name of its program; empty if none is told.
    pub app: String,
    /// What its program calls this kind of windows; empty if none is told.
    pub instance: String,
    /// The window that it was opened for.
    pub owner: Option<u64>,
    /// Its process.
    pub pid: Option<u32>,
    /// The name of that process's program file.
    pub process: Option<String>,
    /// What a picture of it shows.
    pub bounds: Rect,
    /// All that it covers.
    pub frame: Rect,
    /// Whether it can be seen.
    pub state: WindowState,
    /// Whether a picture of a display may have pixels of it.
    pub mapped: bool,
    /// Whether the user works in it.
    pub active: bool,
    /// Whether it fills its display.
    pub maximised: bool,
    /// Whether it is a menu, a hint, or the like.
    pub unmanaged: bool,
}
