//! What the manager is to start, and how the started program finds itself at home.

use std::env;
use std::fs::OpenOptions;
use std::io;
use std::path::{Path, PathBuf};

use bailiwick_contract::{ErrorCode, Failure};
use bailiwick_platform::dirs::{self, Dirs};
use bailiwick_platform::fs::create_private_file;
use bailiwick_platform::{paths, service_manager};

use super::file;
use crate::installation::home::Home;
use crate::installation::own_program::own_program;

/// The variables that choose an installation.
const VARIABLES: [&str; 3] = ["BAILIWICK_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"];
/// A file of what was said that is longer than this starts over.
const MAX_SAID_BYTES: u64 = 1 << 20;

/// The service as a manager has to know it. Holds no token and no other secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Job {
    /// The program.
    pub program: String,
    /// The config, where `--config` named it.
    pub config: Option<String>,
    /// The variables by which it finds its installation.
    pub environment: Vec<(&'static str, String)>,
    /// The file of what it says, where the manager keeps no journal.
    pub said: String,
    /// The account of this user.
    pub account: String,
}

impl Job {
    /// Describes the service of an installation, with this program.
    ///
    /// # Errors
    /// `invalid_request` for paths that cannot be written down.
    pub fn of(home: &Home) -> Result<Self, Failure> {
        let lost = |error: io::Error| {
            Failure::new(ErrorCode::ProviderUnavailable, format!("this program cannot be found: {error}"))
        };
        let running = env::current_exe().and_then(|path| paths::real(&path)).map_err(lost)?;
        let program = own_program(&running);
        let mut environment = Vec::new();
        for name in VARIABLES {
            if let Some(value) = dirs::absolute(name) {
                environment.push((name, path_text(&value)?));
            }
        }
        Ok(Self {
            program: path_text(&program)?,
            config: home.config_is_named.then(|| path_text(&home.config_path)).transpose()?,
            environment,
            said: path_text(&said_file(home))?,
            account: account()?,
        })
    }
}

/// Returns the account of this user, by which managers know it.
///
/// # Errors
/// `provider_unavailable` where the system does not tell it.
pub fn account() -> Result<String, Failure> {
    service_manager::own_account().map_err(|error| {
        Failure::new(ErrorCode::ProviderUnavailable, format!("this user's account is not told: {error}"))
    })
}

/// Returns the file of what the service says, where its manager keeps no journal.
pub fn said_file(home: &Home) -> PathBuf {
    home.dirs.state.join("service.log")
}

/// Returns a path as text for a manager's file.
///
/// # Errors
/// `invalid_request` where it is no text, or would end a line of the file.
pub fn path_text(path: &Path) -> Result<String, Failure> {
    let fitting = path.to_str().filter(|text| !text.contains(|it: char| it.is_control() || is_no_xml(it)));
    fitting.map(str::to_owned).ok_or_else(|| {
        Failure::invalid("service", format!("a service cannot name the path `{}`", path.display()))
            .hint("Move it to a path without control characters, in UTF-8.")
    })
}

/// Returns whether XML has no way to say a character.
const fn is_no_xml(it: char) -> bool {
    matches!(it, '\u{fffe}' | '\u{ffff}')
}

/// Takes up what a manager could not give, before anything is said. Returns the installation.
///
/// # Errors
/// `provider_unavailable` where the file cannot be written.
pub fn begin(home: Home, own_home: Option<&Path>, said: Option<&Path>) -> Result<Home, Failure> {
    if let Some(said) = said {
        let failed = |error: io::Error| {
            Failure::new(ErrorCode::ProviderUnavailable, format!("{}: {error}", said.display()))
        };
        file::make_folder_of(said)?;
        create_private_file(said).map_err(failed)?;
        let is_long = said.metadata().is_ok_and(|facts| facts.len() > MAX_SAID_BYTES);
        let mut options = OpenOptions::new();
        let options = if is_long { options.write(true).truncate(true) } else { options.append(true) };
        options.open(said).and_then(service_manager::say_into).map_err(failed)?;
    }
    let Some(folder) = own_home else { return Ok(home) };
    Home::in_dirs(Dirs::below(folder.to_owned()), home.config_is_named.then_some(&*home.config_path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_that_would_end_a_line_is_refused() {
        for path in ["/a\nExecStart=/bin/sh", "/a\u{1}", "/a\u{85}", "/a\u{ffff}"] {
            assert!(path_text(Path::new(path)).is_err(), "{path:?}");
        }
        assert_eq!(path_text(Path::new("/a b/größe")).ok().as_deref(), Some("/a b/größe"));
    }
}
