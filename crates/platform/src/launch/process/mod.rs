//! What runs in the launcher process and below it: never in the service.
//!
//! One thread, no locks, no runtime. Errors go to the service as reports; nothing is printed.

mod child;
#[cfg(any(target_os = "macos", feature = "portable-launch", test))]
mod family;
mod keeper;
#[cfg(all(target_os = "linux", not(feature = "portable-launch")))]
mod linux;
mod memory;
mod pipeline;
#[cfg(any(target_os = "macos", feature = "portable-launch"))]
mod portable;
mod prepare;
#[cfg(any(target_os = "macos", feature = "portable-launch", test))]
mod profile;
mod proxy_port;
mod serve;
mod supervisor;
mod waiting;

#[cfg(all(target_os = "linux", not(feature = "portable-launch")))]
use linux as system;
#[cfg(any(target_os = "macos", feature = "portable-launch"))]
use portable as system;

pub use serve::serve_if_asked;
pub(super) use system::{enter_sandbox, limit, probe};
