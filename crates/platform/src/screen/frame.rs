//! A picture as the display gave it, with what else was known at that moment.

use super::{Point, Rect, ScreenError, Window};

/// What a picture of a window shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Content {
    /// What is on the display there, whatever covers it. Of a display, and of a window that nothing covers.
    Display,
    /// The window itself, as it would look with nothing before it and all of it on the display.
    Window,
}

/// A window before the one that was captured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cover {
    /// Its id.
    pub window: String,
    /// The part of the captured window that it covers, on the display.
    pub part: Rect,
}

/// A picture as the display gave it. Its pixels stay where the display has put them until they are read.
#[derive(Debug)]
pub struct Frame {
    /// How many pixels wide.
    pub width: u32,
    /// How many pixels high.
    pub height: u32,
    /// The id of the display (not of a monitor of it).
    pub display: String,
    /// Where on that display the upper left pixel lies.
    pub origin: Point,
    /// What is shown.
    pub content: Content,
    /// Of a window: which windows lay before it, and where. Empty if none did. They are in the picture only if
    /// `content` is [`Content::Display`], which it never is when there are any.
    pub covered_by: Vec<Cover>,
    /// When it was taken, in milliseconds since 1970.
    pub taken_at_ms: i64,
    /// Every window of the display at that very moment: nothing moved between this and the pixels.
    pub windows: Vec<Window>,
    pub(super) pixels: Pixels,
}

/// Where the pixels are.
#[derive(Debug)]
pub(super) enum Pixels {
    /// As the X server gave them.
    #[cfg(target_os = "linux")]
    X11(super::x11::Image),
    /// As the desktop gave them.
    #[cfg(any(windows, target_os = "macos", all(target_os = "linux", feature = "wayland")))]
    Desktop(super::desktop::Image),
}

impl Frame {
    /// Returns the rectangle of the display that it shows.
    pub fn bounds(&self) -> Rect {
        Rect::new(self.origin.x, self.origin.y, self.width, self.height)
    }

    /// Reads the pixels: rows from the top, pixels from the left, a byte each of red, green and blue.
    ///
    /// # Errors
    ///
    /// [`ScreenError::Failed`] if the system does not give them.
    pub fn to_rgb(&self) -> Result<Vec<u8>, ScreenError> {
        match &self.pixels {
            #[cfg(target_os = "linux")]
            Pixels::X11(image) => image.to_rgb(&self.display),
            #[cfg(any(windows, target_os = "macos", all(target_os = "linux", feature = "wayland")))]
            Pixels::Desktop(image) => Ok(image.rgb()),
        }
    }
}
