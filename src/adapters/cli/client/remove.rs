//! `client remove`.

use std::path::PathBuf;

use bailiwick_config::Config;
use bailiwick_contract::{ErrorCode, Failure};

use super::super::args::ConfirmArgs;
use super::super::connect::Connection;
use super::super::home::Home;
use super::super::printer::{Printer, Report};
use super::args::RemoveArgs;
use super::edit::Session;
use super::kind::ClientKind;
use super::places::SettingsPlace;
use super::plan;
use super::record::{Action, Records};
use super::{list, output};

/// Takes Bailiwick out of the settings of clients.
///
/// # Errors
/// When a client that was named cannot be edited; nothing is written then.
pub fn run(home: &Home, printer: Printer, args: &RemoveArgs) -> Result<Report, Failure> {
    let config = home.config_if_there()?.unwrap_or_else(|| Config::new(String::new(), String::new()));
    let connection = Connection::new(home, &config);
    let records = Records::load(home)?;
    let mut session = Session::new(home, printer, args.confirm);
    let mut all = Vec::new();
    if args.all {
        for (kind, place, name) in everywhere(home, &records, args)? {
            match plan::remove(kind, &connection, &records, place, &name) {
                Ok(planned) => all.push(planned),
                Err(failure) => session.failed(kind, &name, Action::Remove, &failure),
            }
        }
        if all.is_empty() {
            return if session.is_empty() {
                Err(Failure::new(ErrorCode::NotFound, "Bailiwick is in the settings of no client")
                    .hint("`bailiwick client list` shows where it was looked for."))
            } else {
                Ok(session.report())
            };
        }
    } else {
        for kind in &args.clients {
            let place = SettingsPlace::find(*kind, &args.place.choice())?;
            all.push(plan::remove(*kind, &connection, &records, place, &args.place.name)?);
        }
    }
    session.check_that_one_can_ask(&all)?;
    for planned in all {
        session.go(planned, || Ok(None))?;
    }
    Ok(session.report())
}

/// Returns the settings files that have an entry which `client add` wrote.
///
/// # Errors
/// `provider_unavailable` if the list of changes is there and cannot be read.
pub fn added_settings(home: &Home) -> Result<Vec<PathBuf>, Failure> {
    let records = Records::load(home)?;
    Ok(records.installed().iter().map(|it| it.file.clone()).filter(|file| file.exists()).collect())
}

/// Takes out of settings what `client add` wrote, and nothing that came there otherwise.
///
/// # Errors
/// When a settings file cannot be written; one that cannot be read is reported and left.
pub fn remove_added(home: &Home, printer: Printer, confirm: ConfirmArgs) -> Result<Report, Failure> {
    let config = home.config_if_there()?.unwrap_or_else(|| Config::new(String::new(), String::new()));
    let connection = Connection::new(home, &config);
    let records = Records::load(home)?;
    let mut session = Session::new(home, printer, confirm);
    for change in records.installed() {
        let place = SettingsPlace { file: change.file.clone(), is_projects: false };
        match plan::remove(change.client, &connection, &records, place, &change.name) {
            Ok(planned) => session.go(planned, || Ok(None))?,
            Err(failure) => session.failed(change.client, &change.name, Action::Remove, &failure),
        }
    }
    Ok(session.report())
}

/// Finds every entry that is Bailiwick's: by what was written down, and by looking.
fn everywhere(
    home: &Home,
    records: &Records,
    args: &RemoveArgs,
) -> Result<Vec<(ClientKind, SettingsPlace, String)>, Failure> {
    let mut found: Vec<(ClientKind, SettingsPlace, String)> = Vec::new();
    let project = args.place.project.as_deref();
    for listed in list::look(home, project)?.clients {
        use output::ConnectionState::{Broken, Connected, Stale};
        if matches!(listed.state, Connected | Stale | Broken) && (project.is_none() || listed.of_project) {
            let place = SettingsPlace { file: listed.settings, is_projects: listed.of_project };
            found.push((listed.client, place, listed.name));
        }
    }
    if project.is_none() {
        for change in records.installed() {
            let is_known =
                found.iter().any(|(_, place, name)| place.file == change.file && *name == change.name);
            if !is_known && change.file.exists() {
                let place = SettingsPlace { file: change.file.clone(), is_projects: false };
                found.push((change.client, place, change.name.clone()));
            }
        }
    }
    Ok(found)
}
