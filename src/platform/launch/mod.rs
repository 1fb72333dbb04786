//! Starting programs, held: a helper process that forks, shuts in, watches and kills.
//!
//! The service never forks itself. At the first command it starts its own binary once more as the
//! *launcher* ([`Launcher`]), which has a single thread and forks a *supervisor* for each job. The
//! supervisor builds the sandbox, runs the whole plan inside it, and leaves nothing behind. Its control
//! socket is the job's life: when the service's end closes, for whatever reason, everything is killed.
//!
//! Nothing here decides whether a command may run. It starts exactly what it is given, as strongly held as
//! it is told, or not at all.

#[cfg(target_os = "linux")]
mod connection;
#[cfg(not(target_os = "linux"))]
mod elsewhere;
mod error;
#[cfg(target_os = "linux")]
mod held;
#[cfg(target_os = "linux")]
mod job;
pub mod kept;
#[cfg(target_os = "linux")]
mod launcher;
mod levels;
pub mod pipe;
#[cfg(target_os = "linux")]
mod process;
#[cfg(target_os = "linux")]
mod protect;
mod request;
#[cfg(target_os = "linux")]
mod sys;
#[cfg(target_os = "linux")]
mod wire;

#[cfg(not(target_os = "linux"))]
pub use elsewhere::{Job, Launcher, serve_if_asked};
pub use error::LaunchError;
#[cfg(target_os = "linux")]
pub use job::Job;
#[cfg(target_os = "linux")]
pub use launcher::Launcher;
pub use levels::{Levels, levels};
#[cfg(target_os = "linux")]
pub use process::serve_if_asked;
pub use request::{Ended, Held, Hold, InnerSandboxes, LaunchCommand, LaunchRequest, ProcessLimits, Step};

/// The `argv[0]` by which this program knows that it is to be the launcher.
pub const LAUNCHER_NAME: &str = "bailiwick-launcher";
