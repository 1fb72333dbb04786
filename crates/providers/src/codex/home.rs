//! Codex's home of a scope, in Bailiwick's state folder: settings, the way to the user's login, and its sessions.
//!
//! Each scope has its own, so that no scope sees or continues with the sessions of another, or of the user.

#![expect(clippy::disallowed_methods, reason = "the folder is Bailiwick's own, in its state folder")]

use std::io;
use std::path::{Path, PathBuf};

use bailiwick_contract::{ErrorCode, Failure};
use bailiwick_platform::dirs::Dirs;
use bailiwick_platform::fs::{create_private_dir, replace_private_file};

use super::login::{AUTH_FILE, Login};
use super::settings;

/// Returns the folder of a scope.
pub(super) fn folder(dirs: &Dirs, scope: &str) -> PathBuf {
    dirs.state.join("codex").join(format!("scope-{scope}"))
}

/// Creates the home with these settings, and lets Codex find the login of the user.
///
/// # Errors
/// `provider_unavailable` where the state folder cannot be written.
pub(super) fn make(
    folder: &Path,
    settings: &str,
    person: Option<&Path>,
    login: Login,
) -> Result<(), Failure> {
    try_make(folder, settings, person, login).map_err(|error| {
        Failure::new(
            ErrorCode::ProviderUnavailable,
            format!("Codex's home of the scope cannot be made: {}", error.kind()),
        )
        .hint("For the user: `bailiwick doctor` checks the owner of Bailiwick's state folder and the space left there.")
    })
}

fn try_make(folder: &Path, settings: &str, person: Option<&Path>, login: Login) -> io::Result<()> {
    create_private_dir(folder)?;
    let file = folder.join(settings::FILE);
    // Written only when it changes: another run may be reading it.
    if std::fs::read(&file).ok().as_deref() != Some(settings.as_bytes()) {
        replace_private_file(&file, settings.as_bytes())?;
    }
    let link = folder.join(AUTH_FILE);
    let wanted = person.filter(|_| reads_file(login)).map(|person| person.join(AUTH_FILE));
    let is_there = std::fs::symlink_metadata(&link).is_ok();
    if wanted.is_some() && std::fs::read_link(&link).ok() == wanted {
        return Ok(());
    }
    if is_there {
        std::fs::remove_file(&link)?;
    }
    match wanted {
        Some(wanted) => match bailiwick_platform::fs::modes::symlink(wanted, &link) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            other => other,
        },
        None => Ok(()),
    }
}

/// Returns whether Codex is allowed in by what its file holds.
pub(super) const fn reads_file(login: Login) -> bool {
    matches!(login, Login::Account | Login::KeyFile)
}
