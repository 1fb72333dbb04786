//! What differs between operating systems. The only place with `cfg(target_os)`.
//!
//! Mechanism without opinion: nothing here knows scopes, policies or operations.

#![deny(unsafe_code)]
#![expect(clippy::disallowed_methods, reason = "this layer opens roots and Bailiwick's own files")]

#[cfg(not(any(target_os = "linux", target_os = "macos", windows)))]
compile_error!("Bailiwick is built for Linux, macOS and Windows: below, `unix` means the first two");

pub mod accessibility;
#[cfg(target_os = "linux")]
mod bus;
#[cfg(target_os = "linux")]
mod bus_address;
pub mod checksum;
pub mod devices;
pub mod dirs;
pub mod emulator;
pub mod fs;
pub mod handle;
pub mod launch;
#[cfg(target_os = "macos")]
mod libproc;
pub mod local_socket;
pub mod machine;
pub mod memory;
pub mod names;
pub mod notifications;
pub mod paths;
pub mod port;
pub mod program_error;
pub mod programs;
pub mod quoting;
pub mod screen;
pub mod service_manager;
pub mod signals;
pub mod system;
pub mod tray;
pub mod tty;
#[cfg(windows)]
pub mod windows;
