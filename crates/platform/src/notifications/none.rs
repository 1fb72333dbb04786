//! Where Bailiwick shows no messages on the desktop.

use super::Notification;

/// Shows nothing: this system has no notifications of Bailiwick's as yet.
pub fn show(_: Notification) {}
