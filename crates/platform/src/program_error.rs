//! Why another program of the desktop did not do what it was asked on a bus: about its elements or its icons.

/// Why a program did not do what it was asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProgramError {
    /// It does not answer in time.
    #[error("the program does not answer")]
    Unresponsive,
    /// It went while it was asked: it may have done what was asked for.
    #[error("the program does not answer any more")]
    NoReply,
    /// The element or its program is gone.
    #[error("the element is gone")]
    Gone,
    /// The element cannot do that: its program knows no such call.
    #[error("the element cannot do that")]
    Unable,
    /// It answered with an error, of which this is the name on the bus (a word of letters, digits, dots and underscores), or
    /// with something else than was asked for.
    #[error("the program answered with the error `{0}`")]
    Refused(String),
    /// The connection ended before there was an answer. What was asked for may have been done.
    #[error("the connection to the bus was lost")]
    Lost,
}

impl ProgramError {
    /// Returns whether what was asked for may have been done, or still be.
    pub fn may_be_done(&self) -> bool {
        matches!(self, Self::Unresponsive | Self::NoReply | Self::Lost)
    }
}
