//! `service status`, `start`, `stop`, `logs`.

use std::fs;
use std::process::Command;

use crate::contract::{ErrorCode, Failure};

use super::super::args::ServiceLogsArgs;
use super::super::home::Home;
use super::super::printer::{Report, labelled, one_line};
use super::super::running::RunningNote;
use super::manager::{Said, systemctl, unreachable};
use super::output::{DoneOutput, StatusOutput};
use super::unit::{UNIT, path, text};

/// Tells how the service stands: its unit, what systemd says, and what the service itself says.
///
/// # Errors
/// `not_found` if it is not installed.
pub fn run(home: &Home) -> Result<Report, Failure> {
    let unit = installed()?;
    let is_current = fs::read_to_string(&unit).ok() == Some(text(home)?);
    let why = unreachable()?;
    let state = match &why {
        None => systemctl(&["is-active", UNIT])?.text,
        Some(why) => format!("unknown: your systemd cannot be asked ({why})"),
    };
    let note = RunningNote::read(&home.dirs);
    let url = note.as_ref().map_or_else(|| "nothing is served".to_owned(), |note| note.url.clone());
    let mut lines =
        vec![("unit", unit.display().to_string()), ("systemd says", one_line(&state)), ("serves", url)];
    if !is_current {
        lines.push((
            "unit is",
            "of another version or another program: run `bailiwick service install`".to_owned(),
        ));
    }
    let ok = is_current && state == "active" && note.is_some();
    let service = note.map(|note| serde_json::to_value(note).expect("a note has a JSON form"));
    let output = StatusOutput { ok, unit, current: is_current, state, service, unreachable: why };
    let exit = if ok { 0 } else { ErrorCode::ProviderUnavailable.facts().exit_code };
    Ok(Report { exit, ..Report::of(labelled(&lines), &output) })
}

fn installed() -> Result<std::path::PathBuf, Failure> {
    let unit = path()?;
    if unit.is_file() {
        return Ok(unit);
    }
    Err(Failure::new(
        ErrorCode::NotFound,
        format!("the service is not installed: there is no {}", unit.display()),
    )
    .hint("Run `bailiwick service install`."))
}

/// Starts the service.
///
/// # Errors
/// `not_found` if it is not installed; what systemd says.
pub fn start(home: &Home) -> Result<Report, Failure> {
    // Systemd would only say that it failed.
    home.config()?;
    done("start", "Started.\n")
}

/// Ends the service; processes that clients started go on.
///
/// # Errors
/// As [`start`].
pub fn stop(_: &Home) -> Result<Report, Failure> {
    done("stop", "Stopped. It starts again when you log in; `bailiwick service remove` ends that.\n")
}

fn done(verb: &str, text: &str) -> Result<Report, Failure> {
    installed()?;
    if let Some(why) = unreachable()? {
        return Err(Failure::new(
            ErrorCode::ProviderUnavailable,
            format!("your systemd cannot be asked: {why}"),
        )
        .hint("Log in to a session with systemd; `bailiwick start` serves without it."));
    }
    let Said { ok, text: said } = systemctl(&[verb, UNIT])?;
    if !ok {
        return Err(Failure::new(ErrorCode::ExecutionFailed, format!("systemd: {said}"))
            .hint("`bailiwick service logs` shows what the service said."));
    }
    Ok(Report::of(text, &DoneOutput { ok: true }))
}

/// Shows what the service said, by the journal's own pager and follow mode.
///
/// # Errors
/// `unsupported_platform` where there is no journal.
pub fn logs(args: &ServiceLogsArgs) -> Result<Option<Report>, Failure> {
    installed()?;
    let mut command = Command::new("journalctl");
    command.args(["--user", "--unit", UNIT, "--lines", &args.lines.to_string(), "--no-pager"]);
    if args.follow {
        command.arg("--follow");
    }
    let status = command.status().map_err(|error| {
        Failure::new(ErrorCode::UnsupportedPlatform, format!("`journalctl` cannot be run: {error}"))
    })?;
    if status.success() {
        return Ok(None);
    }
    Err(Failure::new(ErrorCode::ExecutionFailed, "the journal could not be shown")
        .hint("`journalctl --user --unit bailiwick` says why."))
}
