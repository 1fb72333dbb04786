//! The clients at `setup` and `here`: found before anything is written, asked about once, connected at the end.

use bailiwick_config::Config;
use bailiwick_contract::Failure;

use super::super::args::ConfirmArgs;
use super::super::ask;
use super::super::printer::{Printer, Report, one_line};
use super::args::ClientsAtSetup;
use super::install::{OnFailure, install};
use crate::client_settings::choice::{EntryOptions, SettingsChoice};
use crate::client_settings::connection::Connection;
use crate::client_settings::kind::ClientKind;
use crate::client_settings::look::look;
use crate::client_settings::output::{ConnectionState, ListedClient};
use crate::client_settings::plan;
use crate::client_settings::record::Records;
use crate::client_settings::rights::reach;
use crate::installation::home::Home;

/// What can be connected.
pub struct Offer {
    /// Those that were named and are not connected yet.
    named: Vec<ClientKind>,
    /// Those that are on this computer and not connected, where none was named.
    found: Vec<ListedClient>,
}

impl Offer {
    /// Looks for the clients, as they will be with a config.
    ///
    /// # Errors
    /// When a client that was named cannot be connected.
    pub fn look(home: &Home, clients: &ClientsAtSetup, config: &Config) -> Result<Self, Failure> {
        let mut offer = Self { named: Vec::new(), found: Vec::new() };
        if clients.client.is_empty() {
            // Setting up does not depend on it: without a home folder, say, there is nothing to offer.
            if let Some(listed) = look(home, None).ok().filter(|_| !clients.no_clients) {
                offer.found = listed.clients;
                offer.found.retain(|it| it.found.is_some() && it.state == ConnectionState::NotConnected);
            }
            return Ok(offer);
        }
        let (connection, records) = (Connection::new(home, config), Records::load(home)?);
        for kind in &clients.client {
            let planned = plan::install(*kind, &connection, &records, &reach(&usual(), None), &usual())?;
            if !planned.is_nothing() && !offer.named.contains(kind) {
                offer.named.push(*kind);
            }
        }
        Ok(offer)
    }

    /// Returns whether nothing is to be connected that was named.
    pub fn is_nothing(&self) -> bool {
        self.named.is_empty()
    }

    /// Returns those that were named.
    pub fn named(&self) -> Vec<ClientKind> {
        self.named.clone()
    }

    /// Asks which of those that were found are to be connected. Nothing is asked where some were named.
    ///
    /// # Errors
    /// `cancelled` without an answer.
    pub fn ask(&self, printer: Printer) -> Result<Vec<ClientKind>, Failure> {
        if self.found.is_empty() {
            return Ok(self.named());
        }
        printer.talk("\nClients on this computer, and their settings, to put Bailiwick into:");
        for (place, it) in self.found.iter().enumerate() {
            let settings = one_line(&it.settings.display().to_string());
            printer.talk(&format!("  {}  {:<14}  {settings}", place + 1, it.title));
        }
        printer.talk("Each file as it was is kept: `bailiwick client undo` puts it back.");
        loop {
            let answer = ask::line(printer, "Connect which? Numbers, `all` or `none` [all] ")?;
            match self.chosen(&answer) {
                Some(chosen) => return Ok(chosen),
                None => printer.talk(&format!(
                    "Answer with numbers from 1 to {}, such as `1 2`, or all, or none; Ctrl-C ends.",
                    self.found.len()
                )),
            }
        }
    }

    fn chosen(&self, answer: &str) -> Option<Vec<ClientKind>> {
        match answer.to_lowercase().as_str() {
            "" | "all" | "a" | "y" | "yes" => return Some(self.found.iter().map(|it| it.client).collect()),
            "none" | "n" | "no" => return Some(Vec::new()),
            _ => {}
        }
        let words = answer.split([' ', ',']).filter(|word| !word.is_empty());
        let mut chosen: Vec<ClientKind> = Vec::new();
        for word in words {
            let place = word.parse::<usize>().ok()?.checked_sub(1)?;
            let client = self.found.get(place)?.client;
            if !chosen.contains(&client) {
                chosen.push(client);
            }
        }
        Some(chosen)
    }

    /// Connects those that were chosen, and adds to the report of `setup` what became of them.
    ///
    /// # Errors
    /// When a client that was named cannot be connected. The folder is open then all the same.
    pub fn connect(
        &self,
        home: &Home,
        printer: Printer,
        chosen: &[ClientKind],
        report: Report,
    ) -> Result<Report, Failure> {
        if chosen.is_empty() {
            return Ok(self.told(report));
        }
        let confirm = ConfirmArgs { dry_run: false, yes: true };
        let on_failure = if self.named.is_empty() { OnFailure::GoOn } else { OnFailure::Stop };
        let connected = install(home, printer, confirm, chosen, &usual(), on_failure)?;
        Ok(joined(report, connected))
    }

    /// Adds to a report which clients could be connected.
    pub fn told(&self, report: Report) -> Report {
        if self.found.is_empty() {
            return report;
        }
        let names: Vec<&str> = self.found.iter().map(|it| it.client.facts().id).collect();
        report.note(format!(
            "\nClients on this computer: to connect them, run `bailiwick client add {}`.",
            names.join(" ")
        ))
    }
}

fn usual() -> EntryOptions {
    EntryOptions {
        place: SettingsChoice { name: "bailiwick".to_owned(), ..SettingsChoice::default() },
        ..EntryOptions::default()
    }
}

fn joined(mut report: Report, connected: Report) -> Report {
    report.text.push('\n');
    report.text.push_str(&connected.text);
    report.notes.extend(connected.notes);
    if connected.exit != 0 {
        report.json["ok"] = false.into();
    }
    report.json["clients"] = connected.json;
    report.exit = report.exit.max(connected.exit);
    report
}
