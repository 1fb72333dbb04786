//! Short messages that the desktop shows to the user.
//!
//! Mechanism without opinion. Nothing comes back from the desktop, since nobody can tell who has pressed what it shows. Messages of
//! Bailiwick's are shown or they are not, and nobody waits for that; those of clients share nothing with them.

#[cfg(target_os = "linux")]
mod freedesktop;
#[cfg(not(target_os = "linux"))]
mod none;

#[cfg(target_os = "linux")]
pub use freedesktop::{send, show};
#[cfg(not(target_os = "linux"))]
pub use none::{send, show};

/// A message to the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notification {
    /// What it is about, on one line.
    pub title: String,
    /// What there is to know and to do, a line each.
    pub lines: Vec<String>,
}

/// How urgent a message is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Urgency {
    /// It need not be seen at once.
    Low,
    /// As most are.
    Normal,
    /// It stays until the user closes it.
    Critical,
}

/// Why a message was not shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotificationError {
    /// The system has none.
    #[error("this system shows no messages of Bailiwick's yet")]
    Unsupported,
    /// The service belongs to no session, or nothing in the session shows messages.
    #[error("there is no desktop session with anything that shows messages")]
    NoDesktop,
    /// Its time is over.
    #[error("the desktop does not answer; it may still show the message")]
    Silent,
}
