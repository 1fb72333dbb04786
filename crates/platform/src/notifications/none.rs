//! Where Bailiwick shows no messages on the desktop.

use super::{Notification, NotificationError, Urgency};

/// Shows nothing: this system has no notifications of Bailiwick's as yet.
pub fn show(_: Notification) {}

/// Shows nothing.
///
/// # Errors
/// [`NotificationError::Unsupported`].
pub fn send(_: &Notification, _: Urgency) -> Result<(), NotificationError> {
    Err(NotificationError::Unsupported)
}
