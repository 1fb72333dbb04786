//! The text of the unit file, and where it lies.
//!
//! # Source
//! systemd.unit(5), systemd.service(5), systemd.kill(5); quoting by systemd.syntax(7).

use std::env;
use std::path::{Path, PathBuf};

use crate::contract::{ErrorCode, Failure};

use super::super::client::own_program;
use super::super::home::Home;

/// The unit's name.
pub const UNIT: &str = "bailiwick.service";

/// Gives the place of the unit file.
///
/// # Errors
/// `provider_unavailable` where the user has no home folder.
pub fn path() -> Result<PathBuf, Failure> {
    let absolute = |name: &str| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let config = absolute("XDG_CONFIG_HOME").or_else(|| absolute("HOME").map(|home| home.join(".config")));
    config.map(|config| config.join("systemd/user").join(UNIT)).ok_or_else(|| {
        Failure::new(ErrorCode::ProviderUnavailable, "HOME is not set, so there is no place for the unit")
            .hint("Set HOME to your home folder.")
    })
}

/// Gives the unit's text for an installation, with this program.
///
/// # Errors
/// `invalid_request` for paths that a unit cannot name.
pub fn text(home: &Home) -> Result<String, Failure> {
    let running = env::current_exe().and_then(|path| path.canonicalize()).map_err(|error| {
        Failure::new(ErrorCode::ProviderUnavailable, format!("this program cannot be found: {error}"))
    })?;
    let mut words = vec![quoted(path_text(&own_program(&running))?), "start".to_owned()];
    if home.config_is_named {
        // Only behind the program `$` stands for other things.
        words.extend(["--config".to_owned(), quoted(&path_text(&home.config_path)?.replace('$', "$$"))]);
    }
    let mut environment = String::new();
    for name in ["BAILIWICK_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"] {
        if let Some(value) = env::var_os(name).map(PathBuf::from).filter(|value| value.is_absolute()) {
            environment
                .push_str(&format!("Environment={}\n", quoted(&format!("{name}={}", path_text(&value)?))));
        }
    }
    Ok(format!(
        "# Written by `bailiwick service install`; `bailiwick service remove` removes it.\n\
         [Unit]\n\
         Description=Bailiwick: lets AI clients work on this computer, within bounds\n\
         \n\
         [Service]\n\
         Type=exec\n\
         ExecStart={}\n\
         {environment}\
         # Started processes outlive the service: their keepers are not stopped with it.\n\
         KillMode=process\n\
         Restart=on-failure\n\
         RestartSec=2\n\
         \n\
         [Install]\n\
         WantedBy=default.target\n",
        words.join(" ")
    ))
}

fn path_text(path: &Path) -> Result<&str, Failure> {
    path.to_str().filter(|text| !text.contains(char::is_control)).ok_or_else(|| {
        Failure::invalid("service", format!("a unit cannot name the path `{}`", path.display()))
            .hint("Move it to a path without control characters, in UTF-8.")
    })
}

/// Quotes a word: `%` stands for other things in a unit.
fn quoted(word: &str) -> String {
    let mut text = String::with_capacity(word.len() + 2);
    text.push('"');
    for it in word.chars() {
        match it {
            '"' | '\\' => text.extend(['\\', it]),
            '%' => text.extend([it, it]),
            _ => text.push(it),
        }
    }
    text.push('"');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_path_means_anything_to_systemd() {
        assert_eq!(quoted("/opt/a b/bailiwick"), "\"/opt/a b/bailiwick\"");
        assert_eq!(quoted("/%h/$HOME/\"\\"), "\"/%%h/$HOME/\\\"\\\\\"");
        assert!(path_text(Path::new("/a\nExecStart=/bin/sh")).is_err());
    }
}
