//! The fixtures that the integration tests share: folders, installations, displays, ports, and the repository's own files.
//!
//! Only tests use it. A fixture that one test target needs alone belongs there.

#![forbid(unsafe_code)]
#![expect(
    clippy::disallowed_methods,
    clippy::panic,
    reason = "tests make files of their own, start programs, and fail by panicking"
)]
#![expect(missing_docs, reason = "names that say it all need no sentence")]
#![expect(clippy::new_without_default, reason = "`new` makes files; a default value should not")]

pub mod access;
// Programs on it are those of Linux.
#[cfg(target_os = "linux")]
pub mod bus;
// Desktops are X servers with programs that the tests start.
#[cfg(target_os = "linux")]
pub mod desktop;
pub mod elements;
pub mod generator;
pub mod http_client;
pub mod installation;
pub mod lines;
pub mod logs;
pub mod needs;
pub mod patience;
pub mod ports;
#[cfg(target_os = "linux")]
pub mod pty;
pub mod scope;
#[cfg(target_os = "linux")]
pub mod screen;
pub mod server;
pub mod service;
pub mod source;
pub mod stdio_client;
pub mod system;
pub mod temporary;
#[cfg(target_os = "linux")]
pub mod tray;
pub mod update;

use std::env;
use std::path::PathBuf;
use std::sync::Arc;

use bailiwick::platform::launch::Launcher;
use bailiwick::platform::screen::Sources;
use bailiwick::service::{BootError, Service, ServiceSettings};

/// Returns the path of the program `bailiwick` that was built with the tests.
pub fn program() -> PathBuf {
    let variables = ["CARGO_BIN_EXE_bailiwick", "NEXTEST_BIN_EXE_bailiwick"];
    if let Some(path) = variables.into_iter().find_map(env::var_os) {
        return path.into();
    }
    // Test programs are in the folder `deps`, beside which the program lies.
    let own = env::current_exe().expect("the test program has a path");
    let folder = own.ancestors().nth(2).expect("the test program is in a folder of cargo's");
    folder.join(format!("bailiwick{}", env::consts::EXE_SUFFIX))
}

/// Boots a service in this process whose commands and parse workers are the program that was built with the tests.
///
/// # Errors
/// As [`Service::boot`].
pub fn boot(settings: ServiceSettings) -> Result<Arc<Service>, BootError> {
    Service::boot_with(settings, Launcher::with_program(program()))
}

/// As [`boot`], looking for displays there.
///
/// # Errors
/// As [`Service::boot`].
pub fn boot_on(settings: ServiceSettings, displays: Sources) -> Result<Arc<Service>, BootError> {
    Service::boot_on(settings, Launcher::with_program(program()), displays)
}
