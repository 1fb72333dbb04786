//! `client remove`.

use bailiwick_config::Config;
use bailiwick_contract::{ErrorCode, Failure};

use super::super::args::ConfirmArgs;
use super::super::printer::{Printer, Report};
use super::args::RemoveArgs;
use super::edit::Session;
use crate::client_settings::connection::Connection;
use crate::client_settings::look::everywhere;
use crate::client_settings::places::SettingsPlace;
use crate::client_settings::plan;
use crate::client_settings::record::{Action, Records};
use crate::installation::home::Home;

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
        for (kind, place, name) in everywhere(home, &records, args.place.project.as_deref())? {
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
