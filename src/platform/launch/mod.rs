//! Starting programs, held: a helper process that forks, shuts in, watches and kills.
//!
//! The service never forks itself. At the first command it starts its own binary once more as the
//! *launcher* ([`Launcher`]), which has a single thread and forks a *supervisor* for each job. The
//! supervisor builds the sandbox, runs the whole plan inside it, and leaves nothing behind. Its control
//! socket is the job's life: when the service's end closes, for whatever reason, everything is killed.
//!
//! Nothing here decides whether a command may run. It starts exactly what it is given, as strongly held as
//! it is told, or not at all.

#![cfg_attr(
    not(target_os = "linux"),
    expect(dead_code, reason = "there is a launcher on Linux only, as yet")
)]

#[cfg(target_os = "linux")]
mod connection;
mod error;
mod held;
mod job;
pub mod kept;
mod launcher;
mod levels;
#[cfg(target_os = "linux")]
mod process;
mod protect;
mod request;
#[cfg(target_os = "linux")]
mod sys;
mod wire;

pub use error::LaunchError;
pub use job::Job;
pub use launcher::Launcher;
#[cfg(not(target_os = "linux"))]
pub use launcher::serve_if_asked;
pub use levels::{Levels, levels};
#[cfg(target_os = "linux")]
pub use process::serve_if_asked;
pub use request::{Ended, Held, Hold, InnerSandboxes, LaunchCommand, LaunchRequest, ProcessLimits, Step};

/// The `argv[0]` by which this program knows that it is to be the launcher.
pub const LAUNCHER_NAME: &str = "bailiwick-launcher";
