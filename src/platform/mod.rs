//! What differs between operating systems. The only place with `cfg(target_os)`.
//!
//! Mechanism without opinion: nothing here knows scopes, policies or operations.

#![expect(clippy::disallowed_methods, reason = "this layer opens roots and Bailiwick's own files")]

pub mod dirs;
pub mod emulator;
pub mod fs;
pub mod handle;
pub mod launch;
pub mod local_socket;
pub mod machine;
pub mod names;
pub mod port;
pub mod screen;
pub mod signals;
pub mod tty;
#[cfg(windows)]
pub mod windows;
