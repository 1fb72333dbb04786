//! `service remove`: ends the service and takes its file away.

use std::path::PathBuf;

use bailiwick_contract::{ErrorCode, Failure};

use super::super::home::Home;
use super::super::printer::Report;
use super::file;
use super::manager::{Manager, manager};
use super::output::RemoveOutput;
use super::status::installed;

/// Returns the file of the service of this computer, if there is one that Bailiwick wrote.
pub fn installed_file(home: &Home) -> Option<PathBuf> {
    let manager = manager(home).ok()?;
    let path = manager.file();
    file::read(path).as_deref().is_some_and(file::is_ours).then(|| path.to_owned())
}

/// Removes the service, if Bailiwick has installed it.
///
/// # Errors
/// As [`run`].
pub fn remove_installed(home: &Home) -> Result<Option<Report>, Failure> {
    if installed_file(home).is_none() {
        return Ok(None);
    }
    run(home, &*manager(home)?).map(Some)
}

/// Removes the service. What clients started keeps running.
///
/// # Errors
/// `not_found` if it is not installed; `conflict` for a file that is not ours.
pub fn run(home: &Home, manager: &dyn Manager) -> Result<Report, Failure> {
    let path = installed(manager)?;
    let shown = path.display();
    if !file::read(path).as_deref().is_some_and(file::is_ours) {
        return Err(Failure::new(ErrorCode::Conflict, format!("{shown} was not written by Bailiwick"))
            .hint("Remove it yourself, if it is yours to remove."));
    }
    let output = RemoveOutput {
        ok: true,
        manager: manager.kind(),
        unit: path.to_owned(),
        removed: false,
        unreachable: None,
    };
    if home.is_dry_run {
        return Ok(Report::of(format!("Would end the service and remove {shown}.\n"), &output));
    }
    let why = manager.unreachable()?;
    if why.is_none() {
        manager.forget()?;
    }
    file::remove(path)?;
    let report = Report::of(
        format!("Removed {shown}.\n"),
        &RemoveOutput { removed: true, unreachable: why.clone(), ..output },
    );
    let report = match why {
        None => report,
        Some(why) => {
            report.note(format!("{} could not be asked to end the service ({why}).", manager.name()))
        }
    };
    Ok(report.note("Processes that clients started keep running: `bailiwick ps`."))
}
