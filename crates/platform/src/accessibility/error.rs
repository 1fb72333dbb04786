//! Why elements could not be read or acted on.

use crate::program_error::ProgramError;

/// Why elements could not be read or acted on.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AccessibilityError {
    /// This system's elements cannot be read.
    #[error("the elements of windows cannot be read on this system: {0}")]
    Unsupported(&'static str),
    /// The system does not let this process use its accessibility. macOS only.
    #[error("the system does not let Bailiwick read and use the elements of windows")]
    NotAllowed {
        /// What the user has to change, in words.
        setting: &'static str,
    },
    /// The display names no accessibility bus, or nothing answers there.
    #[error("the display `{display}` has no accessibility bus: {why}")]
    NoBus {
        /// The display's id.
        display: String,
        /// What was found instead.
        why: String,
    },
    /// The program of the window shows no elements.
    #[error("the program of the window `{0}` shows no elements to assistive technology")]
    NoElements(String),
    /// Several sets of elements could be those of the window.
    #[error("the program of the window `{0}` has several windows that cannot be distinguished")]
    AmbiguousWindow(String),
    /// The program did not do what it was asked.
    #[error(transparent)]
    Program(#[from] ProgramError),
}
