//! The end of `setup` and `here`: connecting the clients that are there, if the person wants it.

use crate::contract::Failure;

use super::super::args::HereArgs;
use super::super::ask;
use super::super::home::Home;
use super::super::printer::{Printer, Report};
use super::args::{Care, ClientsAtSetup, How, Place};
use super::install::{OnFailure, install};
use super::kind::ClientKind;
use super::list;
use super::output::ConnectionState;

/// Adds to the report of `setup` what became of the clients.
///
/// Clients that are named are connected; where there is a terminal, those found are offered; else they are told of.
///
/// # Errors
/// When a client that is named cannot be connected. The folder is open then all the same.
pub fn at_setup(
    home: &Home,
    printer: Printer,
    how: &HereArgs,
    clients: &ClientsAtSetup,
    report: Report,
) -> Result<Report, Failure> {
    if !clients.client.is_empty() {
        let care = Care { dry_run: false, yes: true };
        let connected = install(home, printer, care, &clients.client, &usual(), OnFailure::Stop)?;
        return Ok(joined(report, connected));
    }
    if clients.no_clients || printer.json {
        return Ok(report);
    }
    // Setting up does not depend on it: without a home folder, say, there is nothing to offer.
    let Ok(listed) = list::look(home, None) else { return Ok(report) };
    let found: Vec<ClientKind> = listed
        .clients
        .into_iter()
        .filter(|it| it.found.is_some() && it.state == ConnectionState::NotConnected)
        .map(|it| it.client)
        .collect();
    if found.is_empty() {
        return Ok(report);
    }
    if how.yes || !ask::is_possible(printer) {
        let names: Vec<&str> = found.iter().map(|kind| kind.facts().id).collect();
        return Ok(report.note(format!(
            "\nClients on this computer: to connect them, run `bailiwick client install {}`.",
            names.join(" ")
        )));
    }
    let care = Care::default();
    let connected = install(home, printer, care, &found, &usual(), OnFailure::GoOn)?;
    Ok(joined(report, connected))
}

fn usual() -> How {
    How { place: Place { name: "bailiwick".to_owned(), ..Place::default() }, ..How::default() }
}

fn joined(mut report: Report, connected: Report) -> Report {
    report.text.push('\n');
    report.text.push_str(&connected.text);
    report.notes.extend(connected.notes);
    report.json["clients"] = connected.json;
    report.exit = report.exit.max(connected.exit);
    report
}
