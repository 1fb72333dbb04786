//! Short messages that the desktop shows to the user.
//!
//! Mechanism without opinion. A message is shown, or it is not: nobody waits for the desktop, and nothing comes back from it, since
//! nobody can tell who has pressed what it shows.

#[cfg(target_os = "linux")]
mod freedesktop;
#[cfg(not(target_os = "linux"))]
mod none;

#[cfg(target_os = "linux")]
pub use freedesktop::show;
#[cfg(not(target_os = "linux"))]
pub use none::show;

/// A message to the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notification {
    /// What it is about, on one line.
    pub title: String,
    /// What there is to know and to do, a line each.
    pub lines: Vec<String>,
}
