//! Running one call: words to envelope, envelope to the service, outcome to text and exit code.

use std::ffi::OsString;

use serde_json::{Value, json};

use crate::adapters::own_backend::{failure_of, submit};
use bailiwick_contract::{Failure, signal};

use super::super::args::Shared;
use super::super::printer::{Printer, Report, failure_text, one_line, to_user};
use super::fields::{self, Words};
use super::{help, render};
use crate::installation::home::Home;

/// Runs one operation.
///
/// # Errors
/// When the words make no envelope, Bailiwick is not set up, or the caller is refused.
pub fn run(shared: &Shared, rest: Vec<OsString>) -> Result<(Printer, Report), (Printer, Failure)> {
    let printer = Printer { json: shared.json || wants_json(&rest) };
    let words = Words::sort(rest).map_err(|failure| (printer, failure))?;
    let is_command = words.first.as_deref().is_some_and(|op| RUNS_A_COMMAND.contains(&op));
    match call(shared, printer, words) {
        Ok(report) => Ok((printer, report)),
        Err(failure) if is_command && !printer.json => {
            let report = Report::new("", Value::Null).note(failure_text(&failure));
            Ok((printer, Report { exit: NOT_RUN, ..report }))
        }
        Err(failure) => Err((printer, failure)),
    }
}

/// Returns whether `--json` is among words that may be wrong otherwise.
pub fn wants_json(rest: &[OsString]) -> bool {
    rest.iter().take_while(|word| *word != "--").any(|word| word == "--json")
}

fn call(shared: &Shared, printer: Printer, words: Words) -> Result<Report, Failure> {
    if words.help {
        return match words.first.as_deref().filter(|first| !first.starts_with('{')) {
            None => Ok(Report::new(help::overview(), json!({"ok": true, "help": help::overview()}))),
            Some(op) => {
                let entry = fields::entry(op)?;
                let mut json = json!({"ok": true});
                json["operation"] = help::operation_json(entry);
                Ok(Report::new(help::operation(entry), json))
            }
        };
    }
    let home = Home::find(words.config.as_deref().or(shared.config.as_deref()))?;
    let caller = words.caller.clone();
    // A whole envelope is judged as it is by the service, and recorded even when it is malformed.
    let is_whole = words.first.as_deref().is_some_and(|first| first.trim_start().starts_with('{'));
    let requests = match words.requests() {
        Err(failure) if !is_whole => return Err(failure),
        other => other,
    };
    let outcome = submit(&home, caller, requests)?;
    Ok(match outcome["answers"].is_array() {
        true => several(printer, outcome),
        false => report(printer, outcome),
    })
}

/// Reports the outcomes of several requests one after another; the call exits as the last of them.
fn several(printer: Printer, outcome: Value) -> Report {
    let mut reports = Vec::new();
    for answer in outcome["answers"].as_array().into_iter().flatten() {
        reports.push(report(printer, answer.clone()));
    }
    let exit = reports.last().map_or(0, |last| last.exit);
    if printer.json {
        return Report { exit, ..Report::new("", outcome) };
    }
    let mut joined = Report { exit, ..Report::new("", Value::Null).verbatim() };
    for one in reports {
        joined.text.push_str(&one.text);
        joined.notes.extend(one.notes);
    }
    let not_run = outcome["notRun"].as_array().into_iter().flatten().filter_map(Value::as_str);
    match not_run.collect::<Vec<_>>().join(", ") {
        none if none.is_empty() => joined,
        names => joined.note(format!("not run: {names}")),
    }
}

fn report(printer: Printer, mut outcome: Value) -> Report {
    if outcome["ok"] == true {
        if printer.json {
            return Report::new("", outcome);
        }
        let op = outcome["op"].as_str().unwrap_or_default().to_owned();
        let data = outcome["data"].take();
        let rendered = render::render(&op, &data);
        let mut report = Report::new(rendered.text, Value::Null).verbatim();
        if RUNS_A_COMMAND.contains(&op.as_str()) {
            report.exit = exit_of(&data);
        }
        report.notes = rendered.notes;
        for warning in outcome["warnings"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            report = report.note(format!("warning: {}", one_line(&to_user(warning))));
        }
        if let Some(images) = outcome["images"].as_array().filter(|images| !images.is_empty()) {
            report = report.note(format!("{} images; --json has them", images.len()));
        }
        return report;
    }
    let failure = failure_of(&outcome["error"]);
    let warnings: Vec<String> = outcome["warnings"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .map(one_line)
        .map(|text| format!("warning: {text}"))
        .collect();
    let is_command = outcome["op"].as_str().is_some_and(|op| RUNS_A_COMMAND.contains(&op));
    let exit = if is_command && !printer.json { NOT_RUN } else { failure.code.facts().exit_code };
    let mut report = Report::new("", outcome);
    report.notes.push(failure_text(&failure));
    report.notes.extend(warnings);
    Report { exit, ..report }
}

/// The operations that end as the command does that they run.
pub const RUNS_A_COMMAND: &[&str] = &["command.run", "package.run"];
/// The exit code where the command was refused or did not start, as `docker run` has it: a program may use every lower one.
const NOT_RUN: u8 = 125;
/// The exit code where the command's time was over, as timeout(1) has it, or it keeps running.
const TIMED_OUT: u8 = 124;
/// What a shell adds to the number of the signal that ended a program.
const BY_SIGNAL: i32 = 128;

/// Returns the exit code for what a command has ended with.
fn exit_of(ended: &Value) -> u8 {
    let signal = ended["signal"].as_str();
    match ended["exitCode"].as_u64() {
        _ if ended["timedOut"] == true || ended["running"] == true => TIMED_OUT,
        _ if signal.is_some() => {
            let number = signal.and_then(signal::number).unwrap_or_default();
            u8::try_from(BY_SIGNAL + number).unwrap_or(u8::MAX)
        }
        Some(code) => u8::try_from(code).unwrap_or(u8::MAX),
        None => NOT_RUN,
    }
}
