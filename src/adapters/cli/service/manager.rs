//! Asking systemd's user manager, with an end to every wait.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::contract::{ErrorCode, Failure};

use super::super::bounded_run::{Unfinished, run_to_end};
use super::super::limit::Limit;

/// How long the manager may take.
const TIME: Duration = Duration::from_secs(20);

/// What the manager said.
#[derive(Debug, Clone)]
pub struct Said {
    /// Whether it did what it was asked.
    pub ok: bool,
    /// Its words.
    pub text: String,
}

/// Runs `systemctl --user` with some words.
///
/// # Errors
/// `unsupported_platform` where there is no systemd; `timeout` if it does not end.
pub fn systemctl(words: &[&str]) -> Result<Said, Failure> {
    ask("systemctl", &[&["--user", "--no-pager"], words].concat(), &[])
}

/// Runs a program of systemd to its end, with further variables in its environment.
///
/// # Errors
/// As [`systemctl`].
pub fn ask(program: &str, words: &[&str], environment: &[(&str, &Path)]) -> Result<Said, Failure> {
    let mut command = Command::new(program);
    command.args(words).env("LC_ALL", "C.UTF-8").envs(environment.iter().copied());
    match run_to_end(&mut command, &Limit::default(), TIME) {
        Ok(ended) => Ok(Said { ok: ended.status.success(), text: ended.said() }),
        Err(Unfinished::NotStarted(error)) => Err(missing(program, &error)),
        Err(Unfinished::TookTooLong) => Err(Failure::new(
            ErrorCode::Timeout,
            format!("`{program} {}` did not end within {} s", words.join(" "), TIME.as_secs()),
        )),
    }
}

fn missing(program: &str, error: &std::io::Error) -> Failure {
    Failure::new(ErrorCode::UnsupportedPlatform, format!("`{program}` cannot be run: {error}")).hint(
        "`bailiwick service` is for systems with systemd; elsewhere have `bailiwick start` run at login.",
    )
}

/// Tells why the user manager cannot be asked; none if it can.
///
/// # Errors
/// `unsupported_platform` where there is no systemd.
pub fn unreachable() -> Result<Option<String>, Failure> {
    let said = systemctl(&["show", "--property=Version"])?;
    Ok((!said.ok).then(|| said.text.lines().next().unwrap_or("it does not say why").to_owned()))
}
