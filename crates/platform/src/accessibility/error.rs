//! Why elements could not be read or acted on.

/// Why elements could not be read or acted on.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AccessibilityError {
    /// This system's elements cannot be read yet.
    #[error("the elements of windows cannot be read on this system")]
    Unsupported,
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
    /// The program does not answer in time.
    #[error("the program of the window does not answer")]
    Unresponsive,
    /// The element or its program is gone.
    #[error("the element is gone")]
    Gone,
    /// The element cannot do that.
    #[error("the element cannot do that")]
    Unable,
    /// The program answered with an error: its name on the bus, which is a word of letters, digits, dots and underscores.
    #[error("the program answered with the error `{0}`")]
    Refused(String),
    /// The connection ended before there was an answer. What was asked for may have been done.
    #[error("the connection to the accessibility bus was lost")]
    Lost,
}
