//! Facts about this computer and this process.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::dirs::System;

#[cfg(unix)]
pub use unix::{host_name, raise_open_files, user_id};
#[cfg(windows)]
pub use windows::{host_name, raise_open_files, user_id};

/// The variables that name the user, and the home folder.
#[cfg(unix)]
const NAMES: [&str; 3] = ["USER", "LOGNAME", "HOME"];
#[cfg(windows)]
const NAMES: [&str; 3] = ["USERNAME", "USER", "USERPROFILE"];

#[cfg(unix)]
mod unix {
    /// Returns the host name, or `computer` where the system does not tell it.
    pub fn host_name() -> String {
        let name = rustix::system::uname().nodename().to_string_lossy().into_owned();
        if name.is_empty() { "computer".to_owned() } else { name }
    }

    /// Lets this process open as many files as the system allows it, and returns how many those are; `None` for no limit.
    pub fn raise_open_files() -> Option<u64> {
        use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

        let limit = getrlimit(Resource::Nofile);
        // The limit of most systems is infinite only in name: what was refused stays as it was.
        let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit });
        getrlimit(Resource::Nofile).current
    }

    /// Returns the numeric id of the user that this process runs as.
    pub fn user_id() -> u32 {
        rustix::process::getuid().as_raw()
    }
}

#[cfg(windows)]
mod windows {
    /// Returns the computer's name, or `computer` where the environment does not tell it.
    pub fn host_name() -> String {
        std::env::var("COMPUTERNAME")
            .ok()
            .filter(|name| !name.is_empty())
            .unwrap_or_else(|| "computer".to_owned())
    }

    /// Returns `None`: there is no limit of open files.
    pub const fn raise_open_files() -> Option<u64> {
        None
    }

    /// Returns 1: users have no numbers on this system, and this one stands for anyone who runs this process.
    pub const fn user_id() -> u32 {
        1
    }
}

/// Returns the variables of this process without which programs of the system do not start or find their parts. Nothing on
/// Unix.
pub fn needed_environment() -> impl Iterator<Item = (&'static str, OsString)> {
    const NEEDED: &[&str] =
        if cfg!(windows) { &["SystemRoot", "SystemDrive", "PATH", "PATHEXT"] } else { &[] };
    NEEDED.iter().filter_map(|name| Some((*name, std::env::var_os(name)?)))
}

/// The variable that shows the home folder.
pub const HOME: &str = NAMES[2];

/// Returns how long the computer has been running, at least: a measure of time that no change of its clock moves.
#[cfg(unix)]
pub fn uptime() -> Duration {
    use rustix::time::{ClockId, clock_gettime};

    // With the time that it was asleep, where the system counts that.
    #[cfg(target_os = "linux")]
    const CLOCK: ClockId = ClockId::Boottime;
    #[cfg(not(target_os = "linux"))]
    const CLOCK: ClockId = ClockId::Monotonic;
    Duration::try_from(clock_gettime(CLOCK)).unwrap_or_default()
}

/// Returns how long this process has asked for it, which the computer has been running at least.
#[cfg(windows)]
pub fn uptime() -> Duration {
    static FIRST: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    FIRST.get_or_init(std::time::Instant::now).elapsed()
}

/// A moment that no change of the computer's clock moves: how long the computer had been running, since which start of it.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct BootMoment {
    /// Names the start of the computer.
    pub boot: String,
    /// How long it had been running since, in milliseconds.
    pub uptime_ms: i64,
}

impl BootMoment {
    /// Returns the present one; `None` where the system does not name its starts.
    pub fn now() -> Option<Self> {
        #[cfg(target_os = "linux")]
        {
            static BOOT: std::sync::OnceLock<Option<String>> = std::sync::OnceLock::new();
            let boot = BOOT.get_or_init(|| {
                let text = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
                Some(text.trim().to_owned()).filter(|boot| !boot.is_empty())
            });
            let uptime_ms = i64::try_from(uptime().as_millis()).unwrap_or(i64::MAX);
            Some(Self { boot: boot.clone()?, uptime_ms })
        }
        #[cfg(not(target_os = "linux"))]
        None
    }

    /// Returns how long ago this was, in milliseconds, if the computer has not been started since.
    pub fn elapsed_ms(&self, now: Option<&Self>) -> Option<i64> {
        now.filter(|now| now.boot == self.boot).map(|now| now.uptime_ms.saturating_sub(self.uptime_ms))
    }
}

/// Returns how much memory this computer has, in bytes; 0 where the system is not asked.
pub fn memory_bytes() -> u64 {
    #[cfg(target_os = "linux")]
    {
        let facts = rustix::system::sysinfo();
        (facts.totalram as u64).saturating_mul(u64::from(facts.mem_unit))
    }
    #[cfg(not(target_os = "linux"))]
    0
}

/// Returns the home folder of the user, where the environment tells it.
pub fn home_folder() -> Option<PathBuf> {
    std::env::var_os(HOME).map(PathBuf::from).filter(|home| home.is_absolute() && home != Path::new("/"))
}

/// Returns the name of the user that this process runs as, or `user` where the environment does not tell it.
pub fn user_name() -> String {
    let word = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    let named = NAMES[..2].iter().filter_map(|name| std::env::var(name).ok());
    let mut fitting = named.filter(|name| (1..=64).contains(&name.len()) && name.bytes().all(word));
    fitting.next().unwrap_or_else(|| if user_id() == 0 { "root" } else { "user" }.to_owned())
}

/// Returns whether a program is a stand-in that would ask the user to install the real one: those of macOS for
/// developers' tools, Git among them.
///
/// # Source
/// xcode-select(1), "FILES"; where the tools are installed and none was chosen, the shims find these.
pub fn is_stand_in(system: System, program: &Path, is_there: impl Fn(&str) -> bool) -> bool {
    const REAL: [&str; 3] =
        ["/var/db/xcode_select_link", "/Library/Developer/CommandLineTools", "/Applications/Xcode.app"];
    const SHIMS: [&str; 6] = ["git", "make", "clang", "cc", "python3", "swift"];
    system == System::MacOs
        && SHIMS.iter().any(|name| program == Path::new("/usr/bin").join(name))
        && !REAL.into_iter().any(is_there)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tools_of_macos_are_stand_ins_until_they_are_installed() {
        let git = Path::new("/usr/bin/git");
        let installed = |path: &str| path == "/Library/Developer/CommandLineTools";
        assert!(is_stand_in(System::MacOs, git, |_| false));
        assert!(!is_stand_in(System::MacOs, git, installed));
        assert!(!is_stand_in(System::MacOs, Path::new("/opt/homebrew/bin/git"), |_| false));
        assert!(!is_stand_in(System::MacOs, Path::new("/usr/bin/true"), |_| false));
        assert!(!is_stand_in(System::Linux, git, |_| false));
    }
}
