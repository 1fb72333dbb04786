//! What this computer can do to hold a command, and why not more.

use std::sync::OnceLock;

use super::{FolderChanges, LaunchError, SandboxRequest};
use bailiwick_contract::command::{Containment, Network};

/// What this computer can do, found out once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Levels {
    /// The strongest level that commands can be sandboxed at; at `none` they only run where the user wants no sandbox.
    pub strongest: Containment,
    /// Why `full` cannot be had.
    pub full_missing: Option<String>,
    /// Why `partial` cannot be had.
    pub partial_missing: Option<String>,
    /// The version of Landlock's interface; 0 means none.
    pub landlock_abi: u32,
}

impl Levels {
    /// Returns whether the full level keeps a plan with the computer's network from abstract sockets of the desktop.
    ///
    /// # Source
    /// landlock(7), ABI 6 (Linux 6.12): `LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET`.
    pub const fn shuts_abstract_sockets(&self) -> bool {
        self.landlock_abi >= 6
    }

    /// Returns why a level cannot be had; none if it can.
    pub fn missing(&self, level: Containment) -> Option<&str> {
        match level {
            Containment::Full => self.full_missing.as_deref(),
            Containment::Partial => self.partial_missing.as_deref(),
            Containment::None => None,
        }
    }
}

/// Returns what this computer can do. The first call looks, which takes a few milliseconds.
pub fn levels() -> &'static Levels {
    LEVELS.get_or_init(probe)
}

/// Returns whether [`levels`] answers at once.
pub fn levels_are_known() -> bool {
    LEVELS.get().is_some()
}

static LEVELS: OnceLock<Levels> = OnceLock::new();

/// Checks that a plan can be held as it is wanted.
pub(super) fn check(hold: &SandboxRequest) -> Result<(), LaunchError> {
    if let Some(missing) = levels().missing(hold.level) {
        return Err(LaunchError::Level(missing.to_owned()));
    }
    // Elsewhere nothing keeps a plan from going past its proxy.
    if hold.network == Network::Hosts && hold.level != Containment::Full {
        return Err(LaunchError::Level("network access by hosts is part of the full level only".to_owned()));
    }
    let is_shut = hold.level == Containment::Full && hold.network == Network::None;
    if hold.changes == FolderChanges::Discarded && !is_shut {
        return Err(LaunchError::Level(
            "changes are discarded at the full level without a network only".to_owned(),
        ));
    }
    Ok(())
}

#[cfg(unix)]
fn probe() -> Levels {
    super::process::probe()
}

#[cfg(windows)]
fn probe() -> Levels {
    const MISSING: &str = "Bailiwick has no sandbox on Windows, as yet";
    Levels {
        strongest: Containment::None,
        full_missing: Some(MISSING.to_owned()),
        partial_missing: Some(MISSING.to_owned()),
        landlock_abi: 0,
    }
}

/// Returns whether files in the folders of a plan can be hidden from it at a level.
pub const fn hides_files(level: Containment) -> bool {
    // Landlock, and the profile on macOS, grant a folder with all that is in it.
    matches!(level, Containment::Full)
}

/// Returns how the memory is bounded that all processes of a plan take together: `measured` while it runs, `enforced` by the
/// system, or `none`.
pub const fn job_memory() -> &'static str {
    if cfg!(windows) {
        "enforced"
    } else if cfg!(all(target_os = "linux", not(feature = "portable-launch"))) {
        "measured"
    } else {
        "none"
    }
}

/// Returns whether names in a folder that can be written stay as they are at a level.
pub const fn holds_names(level: Containment) -> bool {
    match level {
        Containment::Full => true,
        // The profile of the sandbox holds them there, where there are no namespaces.
        Containment::Partial => cfg!(any(target_os = "macos", feature = "portable-launch")),
        Containment::None => false,
    }
}
