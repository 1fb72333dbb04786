//! `service remove`: ends the service and takes its unit away.

use std::fs;

use crate::contract::{ErrorCode, Failure};

use super::super::args::ServiceRemoveArgs;
use super::super::home::Home;
use super::super::printer::Report;
use super::install::is_ours;
use super::manager::{systemctl, unreachable};
use super::output::RemoveOutput;
use super::unit::{UNIT, path};

/// Removes the service. What clients started goes on.
///
/// # Errors
/// `not_found` if it is not installed; `conflict` for a unit that is not ours.
pub fn run(_: &Home, args: &ServiceRemoveArgs) -> Result<Report, Failure> {
    let unit = path()?;
    let shown = unit.display();
    let text = fs::read_to_string(&unit).map_err(|_| {
        Failure::new(ErrorCode::NotFound, format!("the service is not installed: there is no {shown}"))
    })?;
    if !is_ours(&text) {
        return Err(Failure::new(ErrorCode::Conflict, format!("{shown} was not written by Bailiwick"))
            .hint("Remove it yourself, if it is yours to remove."));
    }
    if args.dry_run {
        return Ok(Report::of(
            format!("Would end the service and remove {shown}.\n"),
            &RemoveOutput { ok: true, unit: unit.clone(), removed: false, unreachable: None },
        ));
    }
    let why = unreachable()?;
    if why.is_none() {
        let said = systemctl(&["disable", "--now", UNIT])?;
        if !said.ok {
            return Err(Failure::new(ErrorCode::ExecutionFailed, format!("systemd: {}", said.text)));
        }
    }
    fs::remove_file(&unit)
        .map_err(|error| Failure::new(ErrorCode::ProviderUnavailable, format!("{shown}: {error}")))?;
    if why.is_none() {
        // The next reading of the units would notice as well.
        let _ = systemctl(&["daemon-reload"]);
    }
    let output = RemoveOutput { ok: true, unit: unit.clone(), removed: true, unreachable: why };
    Ok(Report::of(format!("Removed {shown}.\n"), &output)
        .note("Processes that clients started go on: `bailiwick processes`."))
}
