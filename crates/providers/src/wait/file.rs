//! Looking whether a file has come, gone or changed.

use crate::file::facts_version;
use bailiwick_contract::{ErrorCode, Failure};
use bailiwick_platform::fs::FileKind;
use bailiwick_policy::PermittedPath;

/// Returns the version of what a path leads to, after its facts; empty if there is nothing.
///
/// # Errors
/// Where a link on the way leads to what is closed, or the operating system says no.
pub(super) fn version(path: &PermittedPath) -> Result<String, Failure> {
    let stat = path.stat().and_then(|stat| match stat.kind {
        FileKind::Symlink => path.follow()?.stat(),
        _ => Ok(stat),
    });
    match stat {
        Ok(stat) => Ok(facts_version(&stat)),
        Err(failure) if failure.code == ErrorCode::NotFound => Ok(String::new()),
        Err(failure) => Err(failure),
    }
}
