//! A worker: this program started again to read what nobody vouches for, with two pipes and nothing else.
//!
//! It has no files and no network, its memory and time are limited, and it ends with the service: at the end of its
//! input, and on Linux also with the thread that started it.

use std::io;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// What a worker may use.
#[derive(Debug, Clone, Copy)]
pub struct WorkerLimits {
    /// Memory that it can write to, in bytes.
    pub memory_bytes: u64,
    /// All that it maps, its own program included, in bytes.
    pub address_space_bytes: u64,
    /// Time of a processor, in seconds, from its start to its end.
    pub cpu_seconds: u64,
}

/// A running worker. Dropping it kills it.
#[derive(Debug)]
pub struct Worker(Child);

impl Worker {
    /// Starts a program as a worker of a role, which [`is_worker`] recognizes there. The calling thread must live
    /// longer than the worker.
    ///
    /// # Errors
    /// Those of starting a process.
    pub fn start(program: &Path, role: &str) -> io::Result<(Self, ChildStdin, ChildStdout)> {
        let mut child = command(program, role)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let ends = child.stdin.take().zip(child.stdout.take());
        let worker = Self(child);
        let (input, output) = ends.ok_or(io::ErrorKind::BrokenPipe)?;
        widen(&input);
        Ok((worker, input, output))
    }

    /// Returns whether it has ended.
    pub fn has_ended(&mut self) -> bool {
        !matches!(self.0.try_wait(), Ok(None))
    }

    /// Kills it. Anyone who reads from it gets the end of its output.
    pub fn kill(&mut self) {
        // It may have ended already.
        let _ = self.0.kill();
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.kill();
        let _ = self.0.wait();
    }
}

/// Has a pipe hold a whole file, so that nobody is woken for each part of it.
#[cfg(target_os = "linux")]
fn widen(pipe: &ChildStdin) {
    // The most that a user may have without further rights; a smaller one works, too.
    let _ = rustix::pipe::fcntl_setpipe_size(pipe, 1 << 20);
}

/// Does nothing: pipes grow on their own, or have one size.
#[cfg(not(target_os = "linux"))]
const fn widen(_: &ChildStdin) {}

#[cfg(unix)]
#[expect(clippy::disallowed_methods, reason = "the worker is this program itself")]
fn command(program: &Path, role: &str) -> Command {
    use std::os::unix::process::CommandExt;
    let mut command = Command::new(program);
    command.arg0(role).arg(role).env_clear().current_dir("/");
    command
}

#[cfg(windows)]
#[expect(clippy::disallowed_methods, reason = "the worker is this program itself")]
fn command(program: &Path, role: &str) -> Command {
    use std::os::windows::process::CommandExt;
    /// `CREATE_NO_WINDOW`.
    const NO_WINDOW: u32 = 0x0800_0000;
    let mut command = Command::new(program);
    command.arg(role).env_clear().creation_flags(NO_WINDOW);
    // Libraries of the system are found by it.
    command.envs(std::env::var_os("SystemRoot").map(|root| ("SystemRoot", root)));
    command
}

/// Returns whether this process was started as a worker of a role.
///
/// The role is a word behind the program's name: what runs tests takes it for a name of tests, and finds none.
pub fn is_worker(role: &str) -> bool {
    let mut words = std::env::args_os().skip(1);
    words.next().is_some_and(|word| word == role) && words.next().is_none()
}

/// Sets the limits of this process; the first thing that a worker does.
///
/// # Errors
/// Those of the system: the worker must end then.
pub fn limit(limits: &WorkerLimits) -> io::Result<()> {
    system::limit(limits)
}

/// Takes files, network and other processes from all threads of this process; what a worker does before it reads
/// anything, and after it has started its threads.
///
/// # Errors
/// Those of the system: the worker must end then.
pub fn enter_sandbox() -> io::Result<()> {
    system::enter_sandbox()
}

/// What this process has used.
#[derive(Debug, Clone, Copy)]
pub struct Usage {
    /// The most memory that it ever had at a time, in bytes.
    pub peak_memory_bytes: u64,
    /// Time of a processor, in seconds.
    pub cpu_seconds: u64,
}

/// Returns what this process has used; `None` where the system does not say.
pub fn usage() -> Option<Usage> {
    system::usage()
}

#[cfg(unix)]
mod system {
    use nix::sys::resource::{UsageWho, getrusage};

    use super::Usage;
    pub(super) use crate::launch::process::{enter_sandbox, limit};

    /// The unit of the memory, in bytes.
    const UNIT: u64 = if cfg!(target_os = "macos") { 1 } else { 1 << 10 };

    pub(super) fn usage() -> Option<Usage> {
        let usage = getrusage(UsageWho::RUSAGE_SELF).ok()?;
        let seconds = usage.user_time().tv_sec() + usage.system_time().tv_sec();
        Some(Usage {
            peak_memory_bytes: u64::try_from(usage.max_rss()).ok()? * UNIT,
            cpu_seconds: u64::try_from(seconds).ok()?,
        })
    }
}

#[cfg(windows)]
#[expect(clippy::unnecessary_wraps, reason = "other systems can fail here")]
mod system {
    use std::io;

    use super::{Usage, WorkerLimits};

    pub(super) const fn limit(_: &WorkerLimits) -> io::Result<()> {
        Ok(())
    }

    pub(super) const fn enter_sandbox() -> io::Result<()> {
        Ok(())
    }

    pub(super) const fn usage() -> Option<Usage> {
        None
    }
}
