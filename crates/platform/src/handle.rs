//! What the system gives for something open, to be handed to another process.

#[cfg(unix)]
pub use std::os::fd::OwnedFd as Handle;
#[cfg(windows)]
pub use std::os::windows::io::OwnedHandle as Handle;
