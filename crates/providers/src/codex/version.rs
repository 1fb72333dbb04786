//! Which Codex it is: asked once for each file, and again when the file is another.

use std::fmt;
use std::time::Duration;

use crate::command::{ReadyCommand, VersionCache, ask_version};
use bailiwick_contract::{ErrorCode, Failure};
use bailiwick_platform::fs::FileStamp;
use bailiwick_platform::launch::Launcher;

use super::Installation;
use super::find::INSTALL;

/// The oldest Codex with the permission profiles that Bailiwick holds it by.
const OLDEST: Version = Version(0, 138, 0);
/// How long it may take to tell its version.
const TIME: Duration = Duration::from_secs(15);

static VERSIONS: VersionCache<Version> = VersionCache::new();

/// A version: major, minor, patch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version(pub u32, pub u32, pub u32);

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.0, self.1, self.2)
    }
}

impl Version {
    /// Reads what `codex --version` prints, such as `codex-cli 0.169.0`.
    fn read(text: &str) -> Option<Self> {
        text.split_whitespace().find_map(|word| {
            let plain = word.trim_start_matches('v').split(['-', '+']).next()?;
            let mut parts = plain.split('.').map(|part| part.parse::<u32>().ok());
            let version = Self(parts.next()??, parts.next()??, parts.next()??);
            parts.next().is_none().then_some(version)
        })
    }

    /// Returns what was found out before about the same file.
    pub(super) fn known(installation: &Installation) -> Option<Self> {
        let stamp = FileStamp::of(&installation.program.path)?;
        VERSIONS.get(&installation.program.path, &stamp)
    }

    /// Asks the program, which `prepared` starts with `--version`.
    ///
    /// # Errors
    /// `provider_unavailable` where it does not tell; those of the launcher.
    pub(super) async fn ask(
        launcher: &Launcher,
        installation: &Installation,
        prepared: ReadyCommand,
    ) -> Result<Self, Failure> {
        let stamp = FileStamp::of(&installation.program.path);
        let text = ask_version(launcher, prepared, TIME).await?;
        let version = text.as_deref().and_then(Self::read).ok_or_else(|| {
            Failure::new(ErrorCode::ProviderUnavailable, "`codex --version` does not tell a version")
                .detail("rule", "codex-broken")
                .hint(format!("For the user: install Codex again with `{INSTALL}`."))
        })?;
        if let Some(stamp) = stamp {
            VERSIONS.insert(installation.program.path.clone(), stamp, version);
        }
        Ok(version)
    }

    /// Refuses a version that cannot be sandboxed as it must be.
    ///
    /// # Errors
    /// `provider_unavailable` with the rule `codex-too-old`.
    pub(super) fn check(self) -> Result<(), Failure> {
        if self >= OLDEST {
            return Ok(());
        }
        Err(Failure::new(
            ErrorCode::ProviderUnavailable,
            format!("Codex {self} is too old: {OLDEST} or newer can be sandboxed as the scope wants"),
        )
        .detail("rule", "codex-too-old")
        .hint(format!("For the user: update it with `{INSTALL}@latest`.")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_read_from_what_codex_prints() {
        assert_eq!(Version::read("codex-cli 0.169.0\n"), Some(Version(0, 169, 0)));
        assert_eq!(Version::read("codex v1.2.3-alpha.4"), Some(Version(1, 2, 3)));
        assert_eq!(Version::read("codex-cli"), None);
        assert_eq!(Version::read("1.2"), None);
    }

    #[test]
    fn only_versions_with_permission_profiles_pass() {
        assert!(Version(0, 169, 0).check().is_ok());
        assert!(Version(1, 0, 0).check().is_ok());
        let failure = Version(0, 137, 9).check().expect_err("too old");
        assert_eq!((failure.code, failure.rule()), (ErrorCode::ProviderUnavailable, Some("codex-too-old")));
        assert!(failure.hints.iter().any(|hint| hint.contains("npm install")));
    }
}
