//! `client list`.

use bailiwick_contract::Failure;

use super::super::printer::{Fit, Report, Table, one_line};
use super::args::ListArgs;
use crate::client_settings::look::{USUAL_NAME, look};
use crate::client_settings::output::{ChangesOutput, ConnectionState, ListedChange};
use crate::client_settings::record::Records;
use crate::installation::home::Home;

/// Lists the clients, or the changes.
///
/// # Errors
/// When Bailiwick's own files cannot be read.
pub fn run(home: &Home, args: &ListArgs) -> Result<Report, Failure> {
    if args.changes {
        return changes(home);
    }
    let output = look(home, args.project.as_deref())?;
    let mut table = Table::new(&[
        ("CLIENT", Fit::Whole),
        ("FOUND", Fit::Whole),
        ("BAILIWICK", Fit::Whole),
        ("SETTINGS", Fit::Cut),
    ]);
    for it in &output.clients {
        let title = if it.of_project { format!("{} (project)", it.title) } else { it.title.to_owned() };
        let name = if it.name == USUAL_NAME { String::new() } else { format!(" as {}", it.name) };
        table.row([
            title,
            if it.found.is_some() { "yes" } else { "no" }.to_owned(),
            format!("{}{name}", words(it.state)),
            one_line(&it.settings.display().to_string()),
        ]);
    }
    let mut report = Report::of(table.text(), &output);
    for it in &output.clients {
        if let Some(problem) = &it.problem {
            report = report.note(format!("\n{}: {}", it.title, one_line(problem)));
            if let Some(fix) = &it.fix {
                report = report.note(format!("hint: {}", one_line(fix)));
            }
        }
    }
    let waiting: Vec<&str> = output
        .clients
        .iter()
        .filter(|it| it.found.is_some() && it.state == ConnectionState::NotConnected && !it.of_project)
        .map(|it| it.client.facts().id)
        .collect();
    if !waiting.is_empty() {
        report = report.note(format!("\nTo connect them: bailiwick client add {}", waiting.join(" ")));
    }
    Ok(report)
}

fn words(state: ConnectionState) -> &'static str {
    match state {
        ConnectionState::Connected => "connected",
        ConnectionState::Stale => "out of date",
        ConnectionState::Broken => "broken",
        ConnectionState::NotConnected => "not connected",
        ConnectionState::Foreign => "name taken",
        ConnectionState::Unreadable => "unreadable",
    }
}

fn changes(home: &Home) -> Result<Report, Failure> {
    let records = Records::load(home)?;
    let mut table = Table::new(&[
        ("CHANGE", Fit::Whole),
        ("WHEN", Fit::WholeOrGone),
        ("WHAT", Fit::Whole),
        ("CLIENT", Fit::Cut),
        ("FILE", Fit::Cut),
    ]);
    let mut listed = Vec::new();
    for change in records.changes().iter().rev() {
        let what = if change.undone {
            format!("{} (undone)", change.action.as_str())
        } else {
            change.action.as_str().to_owned()
        };
        table.row([
            change.id.clone(),
            change.at.get(..19).unwrap_or(&change.at).replace('T', " "),
            what,
            change.client.facts().title.to_owned(),
            one_line(&change.file.display().to_string()),
        ]);
        let backup = change.before.as_ref().map(|_| records.backup_path(&change.id));
        listed.push(ListedChange { change: change.clone(), backup });
    }
    let text = if table.is_empty() { "No settings were changed.\n".to_owned() } else { table.text() };
    Ok(Report::of(text, &ChangesOutput { ok: true, changes: listed }))
}
