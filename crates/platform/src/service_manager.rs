//! Which program of this system keeps services of a person's own session, how it names the user, and how a process
//! that it starts takes leave of its terminal.

use std::fs::File;
use std::io;

use schemars::JsonSchema;
use serde::Serialize;

/// What keeps services of a person's own session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ServiceManager {
    /// systemd's user manager.
    Systemd,
    /// launchd, for the session at the screen of a Mac.
    Launchd,
    /// The Task Scheduler of Windows.
    TaskScheduler,
}

/// Returns the manager of this system.
pub const fn service_manager() -> ServiceManager {
    if cfg!(target_os = "macos") {
        ServiceManager::Launchd
    } else if cfg!(windows) {
        ServiceManager::TaskScheduler
    } else {
        ServiceManager::Systemd
    }
}

/// Returns the account by which the manager knows this user: a number, on Windows an identifier such as `S-1-5-21-…`.
///
/// # Errors
/// Those of the system.
pub fn own_account() -> io::Result<String> {
    #[cfg(unix)]
    return Ok(super::machine::user_id().to_string());
    #[cfg(windows)]
    return super::windows::own_account();
}

/// Has all that this process says from now on written to a file. On Windows it lets go of its console too, whose window
/// then closes; elsewhere a manager gives none.
///
/// # Errors
/// Those of the system.
pub fn say_into(file: File) -> io::Result<()> {
    #[cfg(unix)]
    {
        rustix::stdio::dup2_stdout(&file)?;
        rustix::stdio::dup2_stderr(&file)?;
    }
    #[cfg(windows)]
    super::windows::say_into(file)?;
    Ok(())
}
