//! What is printed of `service install`, `status`, `start`, `stop` and `remove`.

use bailiwick_contract::{ErrorCode, Failure};

use super::super::printer::{Report, labelled, one_line};
use crate::autostart::manager::{Manager, manager};
use crate::autostart::output::DoneOutput;
use crate::autostart::service::{self, installed_file};
use crate::installation::home::Home;

/// Installs the service.
///
/// # Errors
/// As [`service::install`].
pub fn install(home: &Home, manager: &dyn Manager) -> Result<Report, Failure> {
    let done = service::install(home, manager)?;
    let (shown, name) = (done.output.unit.display().to_string(), manager.name());
    if home.is_dry_run {
        let text = if done.is_same { format!("{shown} is as it would be written.\n") } else { done.diff };
        return Ok(Report::of(text, &done.output));
    }
    let mut text = match (done.is_same, done.is_rewritten) {
        (true, _) => format!("{shown} is there already.\n"),
        (false, true) => format!("Rewrote {shown}:\n{}", done.diff),
        (false, false) => format!("Wrote {shown}{}.\n", done.finding),
    };
    if done.output.started {
        text.push_str("It is started, and starts when you log in. `bailiwick service status` asks it.\n");
    }
    let report = Report::of(text, &done.output);
    Ok(match (done.output.unreachable, manager.after_install()) {
        (Some(why), _) => report
            .note(format!("It is not started: {name} cannot be asked ({why})."))
            .note(format!("{}, and run this again.", manager.way_to_it())),
        (None, Some(note)) => report.note(note),
        (None, None) => report,
    })
}

/// Reports the state of the service.
///
/// # Errors
/// As [`service::status`].
pub fn status(home: &Home, manager: &dyn Manager) -> Result<Report, Failure> {
    let output = service::status(home, manager)?;
    let url = output.service.as_ref().map_or_else(|| "nothing is served".to_owned(), |note| note.url.clone());
    let says = format!("{} says", manager.name());
    let mut lines = vec![
        ("file", output.unit.display().to_string()),
        (says.as_str(), one_line(&output.state)),
        ("serves", url),
    ];
    if !output.current {
        lines.push((
            "file is",
            "of another version or another program: run `bailiwick service install`".to_owned(),
        ));
    }
    let exit = if output.ok { 0 } else { ErrorCode::ProviderUnavailable.facts().exit_code };
    Ok(Report { exit, ..Report::of(labelled(&lines), &output) })
}

/// Starts the service.
///
/// # Errors
/// As [`service::start`].
pub fn start(home: &Home, manager: &dyn Manager) -> Result<Report, Failure> {
    service::start(home, manager)?;
    Ok(Report::of("Started.\n", &DoneOutput { ok: true }))
}

/// Ends the service.
///
/// # Errors
/// As [`service::stop`].
pub fn stop(manager: &dyn Manager) -> Result<Report, Failure> {
    service::stop(manager)?;
    let text = "Stopped. It starts again when you log in; `bailiwick service remove` ends that.\n";
    Ok(Report::of(text, &DoneOutput { ok: true }))
}

/// Removes the service, if Bailiwick has installed it.
///
/// # Errors
/// As [`remove`].
pub fn remove_installed(home: &Home) -> Result<Option<Report>, Failure> {
    if installed_file(home).is_none() {
        return Ok(None);
    }
    remove(home, &*manager(home)?).map(Some)
}

/// Removes the service.
///
/// # Errors
/// As [`service::remove`].
pub fn remove(home: &Home, manager: &dyn Manager) -> Result<Report, Failure> {
    let output = service::remove(home, manager)?;
    let shown = output.unit.display();
    if !output.removed {
        return Ok(Report::of(format!("Would end the service and remove {shown}.\n"), &output));
    }
    let report = Report::of(format!("Removed {shown}.\n"), &output);
    let report = match &output.unreachable {
        None => report,
        Some(why) => {
            report.note(format!("{} could not be asked to end the service ({why}).", manager.name()))
        }
    };
    Ok(report.note("Processes that clients started keep running: `bailiwick ps`."))
}
