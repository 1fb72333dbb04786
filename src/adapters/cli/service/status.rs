//! `service status`, `start`, `stop`.

use std::path::Path;

use bailiwick_contract::{ErrorCode, Failure};

use super::super::home::Home;
use super::super::printer::{Report, labelled, one_line};
use super::super::running::RunningNote;
use super::file;
use super::job::Job;
use super::manager::{Manager, Standing};
use super::output::{DoneOutput, StatusOutput};

/// Returns how the service stands: its file, what its manager says, and what the service itself says.
///
/// # Errors
/// `not_found` if it is not installed.
pub fn run(home: &Home, manager: &dyn Manager) -> Result<Report, Failure> {
    let path = installed(manager)?;
    let is_current = file::read(path) == Some(manager.text(&Job::of(home)?)?);
    let why = manager.unreachable()?;
    let Standing { is_running: runs, words, .. } = match &why {
        None => manager.standing()?,
        Some(why) => Standing {
            is_known: false,
            is_running: false,
            words: format!("unknown: it cannot be asked ({why})"),
        },
    };
    // A service that was killed leaves its note behind.
    let note = RunningNote::of_running(home);
    let url = note.as_ref().map_or_else(|| "nothing is served".to_owned(), |note| note.url.clone());
    let says = format!("{} says", manager.name());
    let mut lines =
        vec![("file", path.display().to_string()), (says.as_str(), one_line(&words)), ("serves", url)];
    if !is_current {
        lines.push((
            "file is",
            "of another version or another program: run `bailiwick service install`".to_owned(),
        ));
    }
    let output = StatusOutput {
        ok: is_current && runs && note.is_some(),
        manager: manager.kind(),
        unit: path.to_owned(),
        current: is_current,
        running: runs,
        state: words,
        service: note,
        unreachable: why,
    };
    let exit = if output.ok { 0 } else { ErrorCode::ProviderUnavailable.facts().exit_code };
    Ok(Report { exit, ..Report::of(labelled(&lines), &output) })
}

/// Returns the manager's file.
///
/// # Errors
/// `not_found` where there is none.
pub fn installed(manager: &dyn Manager) -> Result<&Path, Failure> {
    let path = manager.file();
    if path.is_file() {
        return Ok(path);
    }
    Err(Failure::new(
        ErrorCode::NotFound,
        format!("the service is not installed: there is no {}", path.display()),
    )
    .hint("Run `bailiwick service install`."))
}

/// Starts the service.
///
/// # Errors
/// `not_found` if it is not installed; what its manager says.
pub fn start(home: &Home, manager: &dyn Manager) -> Result<Report, Failure> {
    // The manager would only say that it failed.
    home.config()?;
    reachable(manager)?;
    manager.start()?;
    Ok(Report::of("Started.\n", &DoneOutput { ok: true }))
}

/// Ends the service; processes that clients started keep running.
///
/// # Errors
/// As [`start`].
pub fn stop(manager: &dyn Manager) -> Result<Report, Failure> {
    reachable(manager)?;
    manager.stop()?;
    let text = "Stopped. It starts again when you log in; `bailiwick service remove` ends that.\n";
    Ok(Report::of(text, &DoneOutput { ok: true }))
}

fn reachable(manager: &dyn Manager) -> Result<(), Failure> {
    installed(manager)?;
    let Some(why) = manager.unreachable()? else { return Ok(()) };
    let name = manager.name();
    Err(Failure::new(ErrorCode::ProviderUnavailable, format!("{name} cannot be asked: {why}"))
        .hint(format!("{}; `bailiwick serve` serves without it.", manager.way_to_it())))
}
