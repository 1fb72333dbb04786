//! Flags that are not the same on every system.

use rustix::fs::OFlags;
use rustix::net::SendFlags;

/// Opens a folder to name what is in it.
#[cfg(target_os = "linux")]
pub(super) const FOLDER: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
/// Opens a folder to name what is in it.
#[cfg(not(target_os = "linux"))]
pub(super) const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// Sends without a signal where nobody receives.
#[cfg(target_os = "linux")]
pub(super) const QUIET: SendFlags = SendFlags::NOSIGNAL;
/// Sends as usual: every process of this program ignores the signal, which cannot be left out by a flag.
#[cfg(not(target_os = "linux"))]
pub(super) const QUIET: SendFlags = SendFlags::empty();
