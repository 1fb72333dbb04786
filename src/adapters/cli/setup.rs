//! `setup` and `here`: the config, the owner's token, and one open folder.

use std::path::Path;

use serde_json::{Value, json};

use crate::config::NewToken;
use crate::contract::{ErrorCode, Failure, time};

use super::args::HereArgs;
use super::ask;
use super::client::{self, ClientsAtSetup};
use super::commands_setup;
use super::connect::Connection;
use super::home::{Home, IfMissing};
use super::open_folder::{Change, describe_grants, find_folder, open_folder, wants_commands};
use super::printer::{Printer, Report, labelled};

/// Sets up the computer, and opens a folder if one is named.
///
/// # Errors
/// When the folder cannot or must not be opened, or the person says no; nothing is changed then.
pub fn run(
    home: &Home,
    printer: Printer,
    folder: Option<&Path>,
    how: &HereArgs,
    clients: &ClientsAtSetup,
) -> Result<Report, Failure> {
    let folder = folder.map(|folder| find_folder(home, folder, how.whole_home.into())).transpose()?;
    if let Some(folder) = &folder
        && !how.yes
        && ask::is_possible(printer)
    {
        confirm(home, printer, folder, how)?;
    }
    let (config, opened) = home.edit(IfMissing::Make, |config| {
        let opened = folder.as_deref().map(|folder| open_folder(config, folder, how)).transpose()?;
        Ok((config.clone(), opened))
    })?;
    let secret = home.edit_tokens(|tokens| {
        if tokens.records().iter().any(|record| record.owner) {
            return Ok(None);
        }
        let new = NewToken {
            name: "owner".to_owned(),
            scopes: vec!["*".to_owned()],
            capabilities: vec!["*".to_owned()],
            expires_at_ms: None,
            owner: true,
        };
        let (_, secret) = tokens.create(new, time::now_ms()).map_err(|error| error.for_person())?;
        Ok(Some(secret))
    })?;

    let connection = Connection::new(home, &config);
    let mut text = String::new();
    let mut scope_json = Value::Null;
    let mut change_json = Value::Null;
    if let Some((id, change)) = &opened {
        let scope = config.scopes.iter().find(|scope| scope.id == *id).expect("it was just opened");
        let root = scope.roots.first().map(|root| root.display().to_string()).unwrap_or_default();
        text.push_str(&match change {
            Change::Added => format!("Opened {root} as scope `{id}`.\n"),
            Change::Changed => format!("{root} is scope `{id}`; its grants were changed.\n"),
            Change::Nothing => format!("{root} is open already, as scope `{id}`. Nothing changed.\n"),
        });
        text.push_str(&labelled(&describe_grants(scope)));
        if wants_commands(how) {
            let commands = labelled(&commands_setup::describe(&scope.policy)?);
            text.push_str(&format!("\nCommands:\n{commands}\n"));
        }
        text.push_str("  closed        .env files, keys and other credentials, until you open them\n");
        change_json = match change {
            Change::Added => json!("added"),
            Change::Changed => json!("changed"),
            Change::Nothing => json!("nothing"),
        };
        scope_json = json!({
            "id": id, "roots": scope.roots, "capabilities": scope.capabilities,
            "ask": scope.ask, "deny": scope.deny,
        });
    } else {
        text.push_str("Bailiwick is set up. No folder was opened: name one, or run `bailiwick here`.\n");
    }
    text.push_str(&format!("Config: {}\n\n", home.config_path.display()));
    match &secret {
        Some(secret) => text.push_str(&format!(
            "The owner's token, for HTTP clients. It is shown this once and kept only as a hash:\n  {secret}\n\n"
        )),
        None => text.push_str("The owner's token was made before; `bailiwick token rotate owner` makes another.\n\n"),
    }
    text.push_str(&connection.short());
    let json = json!({
        "ok": true,
        "config": home.config_path,
        "machineId": config.machine_id,
        "machineName": config.machine_name,
        "scope": scope_json,
        "change": change_json,
        "ownerToken": secret,
        "connect": connection.to_json(),
    });
    let mut report = Report::new(text, json);
    if opened.is_some() && how.preset.is_none() && matches!(opened, Some((_, Change::Added))) {
        report = report.note("\nTo let clients change files too: run it again with --preset coding.");
    }
    client::at_setup(home, printer, how, clients, report)
}

/// Shows what would be granted and asks for a yes.
fn confirm(home: &Home, printer: Printer, folder: &Path, how: &HereArgs) -> Result<(), Failure> {
    let mut draft = home
        .config_if_there()?
        .unwrap_or_else(|| crate::config::Config::new("draft".to_owned(), "draft".to_owned()));
    let (id, change) = open_folder(&mut draft, folder, how)?;
    if change == Change::Nothing {
        return Ok(());
    }
    let scope = draft.scopes.iter().find(|scope| scope.id == id).expect("it was just opened");
    printer.talk(&format!("This opens {} to AI clients as scope `{id}`:", folder.display()));
    printer.talk(labelled(&describe_grants(scope)).trim_end());
    if wants_commands(how) {
        printer.talk("Commands:");
        printer.talk(labelled(&commands_setup::describe(&scope.policy)?).trim_end());
    }
    if ask::yes(printer, "Open it?") {
        Ok(())
    } else {
        Err(Failure::new(ErrorCode::Cancelled, "nothing was opened"))
    }
}
