//! Asking, showing, writing, and telling what was done.

use std::path::Path;

use bailiwick_contract::{ErrorCode, Failure};

use super::super::args::HereArgs;
use super::super::ask;
use super::super::client::{ClientsAtSetup, Offer};
use super::super::printer::{Printer, Report, one_line};
use super::{plan_text, questions};
use crate::client_settings::connection::Connection;
use crate::installation::home::Home;
use crate::scope_setup::difference::Difference;
use crate::scope_setup::open_folder::{Change, find_folder};
use crate::scope_setup::plan::{Plan, SetupFolder};
use crate::scope_setup::setup_output::{ChangeWord, ScopeOutput, SetupOutput};

/// How often a plan is made again because another command was faster.
const MAX_TURNS: usize = 100;

/// Sets up the computer, and opens a folder if one is named.
///
/// # Errors
/// When the folder cannot or must not be opened, or the user does not say yes; nothing is written then.
pub fn run(
    home: &Home,
    printer: Printer,
    folder: Option<&Path>,
    how: &HereArgs,
    clients: &ClientsAtSetup,
) -> Result<Report, Failure> {
    let can_ask = !how.yes && ask::is_possible(printer);
    let mut how = how.clone();
    let folder = match folder {
        Some(folder) => Some(find_folder(home, folder, how.whole_home.into())?),
        None if can_ask => questions::folder(home, printer, &how).map_err(cancelled)?,
        None => None,
    };
    if let Some(folder) = folder.as_deref().filter(|_| can_ask) {
        questions::preset(home, printer, folder, &mut how).map_err(cancelled)?;
    }
    let plan = Plan::make(home, folder.as_deref(), &how.choice())?;
    let offer = Offer::look(home, clients, &plan.config)?;
    if plan.is_nothing() && offer.is_nothing() {
        return Ok(offer.told(report(home, &plan)));
    }
    if home.is_dry_run {
        let mut report = report(home, &plan);
        report.text = format!("{}\nNothing was written.\n", plan_text::opening(&plan)?.trim_end());
        return Ok(report);
    }
    if !how.yes && !can_ask {
        return Err(questions::cannot_ask(folder.is_some()));
    }
    let opening = plan_text::opening(&plan)?;
    let chosen = if can_ask {
        // Both questions come before the first byte is written.
        if !opening.is_empty() {
            printer.talk(&format!("\n{}", opening.trim_end()));
            let question = if plan.scope_before().is_some() { "Change it?" } else { "Open it?" };
            if !ask::yes(printer, question).map_err(cancelled)? {
                return Err(questions::nothing_written());
            }
        }
        offer.ask(printer).map_err(cancelled)?
    } else {
        if !printer.json && !opening.is_empty() {
            printer.text(&format!("{opening}\n"));
        }
        offer.named()
    };
    let plan = write_in_turn(home, folder.as_deref(), &how, plan)?;
    offer.connect(home, printer, &chosen, report(home, &plan))
}

/// Writes a plan. Where nobody was asked, it is made again if another command was faster.
fn write_in_turn(
    home: &Home,
    folder: Option<&Path>,
    how: &HereArgs,
    mut plan: Plan,
) -> Result<Plan, Failure> {
    for _ in 0..MAX_TURNS {
        match plan.write(home) {
            Err(failure) if how.yes && failure.code == ErrorCode::Conflict => {
                plan = Plan::make(home, folder, &how.choice())?;
            }
            written => return written.map(|()| plan),
        }
    }
    plan.write(home).map(|()| plan)
}

/// Says of a question that was not answered what that means here.
fn cancelled(failure: Failure) -> Failure {
    if failure.code == ErrorCode::Cancelled { questions::nothing_written() } else { failure }
}

/// Returns what was done, or that nothing had to be.
fn report(home: &Home, plan: &Plan) -> Report {
    let connection = Connection::new(home, &plan.config);
    let is_nothing = plan.is_nothing();
    let mut text = match &plan.opened {
        Some(opened) => said(opened),
        None if is_nothing => "Bailiwick is set up, and no folder was named: nothing to change.\n".to_owned(),
        None => {
            "Bailiwick is set up. No folder was opened: name one, or run `bailiwick setup .`.\n".to_owned()
        }
    };
    if plan.is_first() {
        text.push_str(&format!("Config: {}\n", one_line(&home.config_path.display().to_string())));
    }
    let is_new = plan.opened.as_ref().is_some_and(|opened| opened.change == Change::Added);
    if is_new || plan.is_first() {
        text.push_str(&format!("\n{}", connection.short()));
    }
    let both = plan.scope_before().zip(plan.scope());
    let output = SetupOutput {
        ok: true,
        nothing_to_change: is_nothing,
        config: home.config_path.clone(),
        machine_id: plan.config.machine_id.clone(),
        machine_name: plan.config.machine_name.clone(),
        scope: plan.scope().map(|scope| ScopeOutput {
            id: scope.id.clone(),
            roots: scope.roots.clone(),
            capabilities: scope.capabilities.clone(),
            ask: scope.ask.clone(),
            deny: scope.deny.clone(),
        }),
        change: plan.opened.as_ref().map(|opened| match opened.change {
            Change::Added => ChangeWord::Added,
            Change::Changed => ChangeWord::Changed,
            Change::Nothing => ChangeWord::Nothing,
        }),
        difference: both
            .map(|(before, after)| Difference::new(Some(before), Some(after)).lines())
            .unwrap_or_default(),
        connect: connection.to_json(),
        clients: None,
    };
    Report::new(text, serde_json::to_value(&output).expect("an output has a JSON form"))
}

fn said(opened: &SetupFolder) -> String {
    let (folder, id) = (one_line(&opened.folder.display().to_string()), &opened.id);
    match opened.change {
        Change::Added => format!("Opened {folder} as scope `{id}`.\n"),
        Change::Changed => format!("{folder} is scope `{id}`; its grants were changed.\n"),
        Change::Nothing => format!("{folder} is open already, as scope `{id}`: nothing to change.\n"),
    }
}
