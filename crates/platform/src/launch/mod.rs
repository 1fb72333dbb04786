//! Starting programs, held: a helper process that forks, shuts in, watches and kills.
//!
//! The service never forks itself. At the first command it starts its own binary once more as the
//! *launcher* ([`Launcher`]), which has a single thread and forks a *supervisor* for each job. The
//! supervisor builds the sandbox, runs the whole plan inside it, and leaves nothing behind. Its control
//! socket is the job's life: when the service's end closes, for whatever reason, everything is killed.
//!
//! Nothing here decides whether a command may run. It starts exactly what it is given, as strongly held as
//! it is told, or not at all.

mod answers;
#[cfg(unix)]
mod connection;
mod error;
#[cfg(unix)]
mod flags;
#[cfg(unix)]
mod handing;
mod layers;
#[cfg(unix)]
mod job;
pub mod kept;
#[cfg(unix)]
mod launcher;
mod levels;
pub mod pipe;
#[cfg_attr(all(target_os = "linux", not(feature = "portable-launch")), path = "overlay_port/linux.rs")]
#[cfg_attr(any(not(target_os = "linux"), feature = "portable-launch"), path = "overlay_port/other.rs")]
mod overlay_port;
#[cfg(unix)]
mod process;
#[cfg(unix)]
mod protect;
#[cfg_attr(unix, path = "proxy_port/unix.rs")]
#[cfg_attr(windows, path = "proxy_port/windows.rs")]
mod proxy_port;
mod request;
#[cfg(all(target_os = "linux", not(feature = "portable-launch")))]
mod sys;
#[cfg_attr(
    windows,
    expect(dead_code, reason = "a part of it is for launchers, and not every system has one")
)]
mod wire;
#[cfg(windows)]
mod windows;
pub mod worker;

pub use error::LaunchError;
#[cfg(target_os = "linux")]
pub(crate) use handing::peer_process;
#[cfg(unix)]
pub use job::Job;
#[cfg(unix)]
pub use launcher::Launcher;
pub use levels::{Levels, hides_files, holds_names, job_memory, levels, levels_are_known};
pub use overlay_port::{OverlayPort, is_opaque, is_stand_in};
#[cfg(unix)]
pub use process::serve_if_asked;
pub use proxy_port::ProxyPort;
pub use request::{
    ActiveSandbox, FolderChanges, HiddenPath, InnerSandboxes, LaunchCommand, LaunchRequest, MemoryExcess,
    PathGrant, PlanEnd, ProcessLimits, ProtectedPath, SandboxRequest, SetGroupId, StandIn, Step,
};
#[cfg(all(target_os = "linux", not(feature = "portable-launch")))]
pub(crate) use sys::bound_allocator;
#[cfg(windows)]
pub use windows::{Job, Launcher, serve_if_asked};

/// The `argv[0]` by which this program knows that it is to be the launcher.
pub const LAUNCHER_NAME: &str = "bailiwick-launcher";
