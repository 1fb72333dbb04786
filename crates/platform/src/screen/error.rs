//! Why there is no picture.

use super::{Access, Rect};

/// Why displays or windows could not be listed or captured.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ScreenError {
    /// No display can be read; [`Access`] has the reason and the setting.
    #[error("no display can be read")]
    NoAccess(Access),
    /// No display has this id.
    #[error("there is no display `{0}`")]
    UnknownDisplay(String),
    /// No window has this id, or it has been closed.
    #[error("there is no window `{0}`")]
    UnknownWindow(String),
    /// The region is not within what is captured.
    #[error("the region {region} is not within {bounds}")]
    Outside {
        /// What was asked for.
        region: Rect,
        /// What there is; its origin is 0,0.
        bounds: Rect,
    },
    /// The window is minimised: no picture of it exists before somebody brings it back.
    #[error("the window `{0}` is minimised, and a minimised window has no picture")]
    Minimised(String),
    /// The window is not shown: its program has hidden it, or it is on another desktop.
    #[error("the window `{0}` is hidden by its program or its desktop, and has no picture")]
    Hidden(String),
    /// More pixels than are captured at once.
    #[error("{pixels} pixels are more than the {limit} that are captured at once")]
    TooLarge {
        /// How many there are.
        pixels: u64,
        /// How many may be.
        limit: u64,
    },
    /// The display does not tell its windows, so that none can be kept out of a picture of it.
    #[error(
        "the display `{0}` does not tell which windows it shows, so that none can be kept out of its picture"
    )]
    Blind(String),
    /// The display did not answer in time: it hangs, or another program has it to itself.
    #[error("the display `{0}` did not answer in time: it hangs, or another program has it to itself")]
    Timeout(String),
    /// The display went away, or broke the connection.
    #[error("the connection to the display `{0}` was lost")]
    Lost(String),
    /// The display keeps its pixels in a way that is not read.
    #[error("the display `{display}` keeps its pixels in a way that cannot be read: {why}")]
    PixelFormat {
        /// The display's id.
        display: String,
        /// Which way.
        why: String,
    },
    /// Who asked does not let it be done to this window.
    #[error("the window `{0}` is not one that may be acted on")]
    Refused(String),
    /// The clipboard has more than may be read.
    #[error("the clipboard has {bytes} bytes, more than the {limit} that are read")]
    ClipboardTooLarge {
        /// How many it has, as far as that is known.
        bytes: usize,
        /// How many may be.
        limit: usize,
    },
    /// The program that owns the clipboard does not answer.
    #[error("the program that owns the clipboard of the display `{0}` did not answer in time")]
    ClipboardSilent(String),
    /// The clipboard got another owner meanwhile.
    #[error("the clipboard of the display `{0}` changed meanwhile")]
    ClipboardChanged(String),
    /// No window manager runs on the display, so that nobody changes windows there when asked.
    #[error("no window manager runs on the display `{0}`, and it is the window manager that changes windows")]
    NoWindowManager(String),
    /// The display server or the system refused a step.
    #[error("the display `{display}` refused {step}: {why}")]
    Failed {
        /// The display's id.
        display: String,
        /// What was being done.
        step: &'static str,
        /// What the server or the system said.
        why: String,
    },
}
