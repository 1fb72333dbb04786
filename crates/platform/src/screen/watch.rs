//! Waiting until a display shows something else.

use std::time::Duration;

use super::ScreenError;

/// Waits for a display or a window to be drawn on.
#[derive(Debug)]
pub struct ChangeWatch {
    #[cfg(target_os = "linux")]
    drawing: Option<super::x11::DrawingWatch>,
}

impl ChangeWatch {
    /// Creates one for a system that does not report drawing: anything may have changed whenever it is asked.
    pub(super) fn of_silent() -> Self {
        Self {
            #[cfg(target_os = "linux")]
            drawing: None,
        }
    }

    #[cfg(target_os = "linux")]
    pub(super) fn of_drawing(drawing: super::x11::DrawingWatch) -> Self {
        Self { drawing: Some(drawing) }
    }

    /// Waits until something may have been drawn, for so long at most. Returns whether something may have been.
    ///
    /// # Errors
    ///
    /// [`ScreenError`] if the display is gone.
    pub fn wait(&mut self, at_most: Duration) -> Result<bool, ScreenError> {
        #[cfg(target_os = "linux")]
        if let Some(drawing) = &mut self.drawing {
            return drawing.wait(at_most);
        }
        std::thread::sleep(at_most);
        Ok(true)
    }
}
