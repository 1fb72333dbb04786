//! What can be done to a window.

use super::{Rect, Window};

/// What is done to a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WindowChange {
    /// The user works in it from then on; it is shown if it was minimised.
    Focus,
    /// It is put away.
    Minimise,
    /// It fills its display.
    Maximise,
    /// It is brought back if it was minimised, else made as large as it was before it was maximised.
    Restore,
    /// Its program is asked to close it.
    Close,
    /// It is on the workspace of this number from then on.
    Workspace(u32),
    /// Its content is put somewhere else. What is not named stays.
    Place {
        /// Its left edge.
        x: Option<i32>,
        /// Its upper edge.
        y: Option<i32>,
        /// How wide it is to be.
        width: Option<u32>,
        /// How high it is to be.
        height: Option<u32>,
    },
}

impl WindowChange {
    /// Returns where a window's content is to be, if the change is about that.
    pub fn place_of(&self, window: &Window) -> Option<Rect> {
        let Self::Place { x, y, width, height } = *self else { return None };
        let now = window.bounds;
        Some(Rect::new(
            x.unwrap_or(now.x),
            y.unwrap_or(now.y),
            width.unwrap_or(now.width),
            height.unwrap_or(now.height),
        ))
    }
}

/// Asked about the windows of the instant in which something is to be done: whether it may be.
pub type Judge = Box<dyn Fn(&[Window]) -> bool + Send>;
