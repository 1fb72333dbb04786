//! Finds out what this computer can hold a command with, by trying it.

use crate::launch::Levels;
use bailiwick_contract::command::Containment;

/// Why there is no full level.
const NOT_FULL: &str = "a full sandbox needs namespaces, which only Linux has";

/// Looks what this computer can do.
pub(in super::super::super) fn probe() -> Levels {
    let partial_missing = system::missing();
    let full_missing = partial_missing.clone().unwrap_or_else(|| NOT_FULL.to_owned());
    let strongest = if partial_missing.is_none() { Containment::Partial } else { Containment::None };
    Levels { strongest, full_missing: Some(full_missing), partial_missing, landlock_abi: 0 }
}

#[cfg(target_os = "macos")]
mod system {
    use std::ffi::OsString;
    use std::path::{Path, PathBuf};
    use std::process::{Command, Stdio};

    use crate::fs::FileId;
    use crate::launch::process::portable::hold::SANDBOX_EXEC;
    use crate::launch::process::profile::ProfilePaths;
    use crate::launch::{FolderChanges, InnerSandboxes, PathGrant, SandboxRequest, SetGroupId};
    use bailiwick_contract::command::{Containment, Network};

    /// A program that does nothing.
    const TRUE: &str = "/usr/bin/true";

    /// Tries a profile that allows everything, then those of jobs.
    pub(super) fn missing() -> Option<String> {
        if let Err(why) = run("(version 1)(allow default)".into(), Vec::new()) {
            return Some(format!("`sandbox-exec` does not work: {why}"));
        }
        [Network::None, Network::Loopback, Network::Full].into_iter().find_map(|network| {
            let hold = SandboxRequest {
                level: Containment::Partial,
                network,
                network_group: None,
                read_only: Vec::new(),
                read_write: Vec::new(),
                protected: Vec::new(),
                lacks_protected: false,
                closed: Vec::new(),
                lacks_closed: false,
                // Nothing is written; a folder that is always there stands for one that could be.
                home: PathGrant {
                    path: PathBuf::from("/private/var/empty"),
                    identity: FileId { device: 0, inode: 0 },
                },
                inner: InnerSandboxes::Refused,
                set_group_id: SetGroupId::Refused,
                changes: FolderChanges::Lasting,
            };
            let places = ProfilePaths::of(&hold, Path::new(TRUE), None, Path::to_owned).ok()?;
            let profile = places.profile(network);
            run(profile.text.into(), profile.parameters)
                .err()
                .map(|why| format!("`sandbox-exec` does not take the profile of commands: {why}"))
        })
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "a program of the system that starts one that does nothing"
    )]
    fn run(profile: OsString, parameters: Vec<OsString>) -> Result<(), String> {
        let mut command = Command::new(SANDBOX_EXEC);
        command.arg("-p").arg(profile);
        for parameter in parameters {
            command.arg("-D").arg(parameter);
        }
        let output = command.arg(TRUE).env_clear().current_dir("/").stdin(Stdio::null()).output();
        let output = output.map_err(|error| error.to_string())?;
        if output.status.success() {
            return Ok(());
        }
        let said = String::from_utf8_lossy(&output.stderr);
        Err(said.lines().next().unwrap_or("it says nothing").chars().take(200).collect())
    }
}

#[cfg(target_os = "linux")]
mod system {
    /// Tells that nothing holds: this form of the launcher is for tests.
    #[expect(clippy::unnecessary_wraps, reason = "on macOS it is found out")]
    pub(super) fn missing() -> Option<String> {
        Some("this program was built to test how commands are started elsewhere, and holds none".to_owned())
    }
}
