//! Showing what is taken back, asking, and doing it.

use serde_json::{Map, Value};

use bailiwick_contract::time::parse_rfc3339;
use bailiwick_contract::{Envelope, ErrorCode, Failure};
use bailiwick_engine::programs::has_unfinished;

use super::super::ask;
use super::super::printer::{Printer, Report, one_line, printable, table, to_user};
use super::args::UndoArgs;
use crate::adapters::own_backend::{failure_of, submit};
use crate::installation::home::Home;
use crate::installation::local_time::day_and_time;
use crate::past_requests::find::{find_entry, short_id};
use crate::past_requests::undo::{UndoChoice, UndoRequest, find};
use crate::past_requests::undo_output::{UndoOutput, UndoneChangeOutput, UndoneFileOutput};

/// How many changes are listed; the others are counted.
const LISTED: usize = 20;

/// Takes changes back, after it has shown what that changes.
///
/// # Errors
/// `not_found` if nothing is kept; `conflict` if something was changed again since; those of the service.
pub fn run(home: &Home, printer: Printer, args: &UndoArgs) -> Result<Report, Failure> {
    if has_unfinished(&home.dirs.state) {
        // The first request of any kind deals with what a killed service has left.
        let first = Envelope { op: "computer.info".to_owned(), ..Envelope::default() };
        submit(home, None, Ok(vec![first]))?;
    }
    let wanted = find(
        home,
        &UndoChoice {
            operation: args.operation.clone(),
            since: args.since.clone(),
            scope: args.scope.clone(),
        },
    )?;
    let is_asked = !args.yes && !args.dry_run && ask::is_possible(printer);
    if args.dry_run || is_asked {
        let mut preview = ask_service(home, printer, &wanted, true)?;
        let text = described(home, &mut preview);
        if args.dry_run {
            return Ok(report(format!("Would take back:\n{text}"), &preview));
        }
        printer.talk(text.trim_end());
        if !ask::yes(printer, "Take this back?")? {
            return Ok(report("Left as it was.\n".to_owned(), &preview));
        }
    }
    let mut done = ask_service(home, printer, &wanted, false)?;
    let shown = described(home, &mut done);
    // What was shown with the question is not shown again.
    let shown = if is_asked { String::new() } else { shown };
    let count = |count: usize, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
    let changes = count(done.changes.len(), "change");
    let files = done.files.len() + usize::try_from(done.more_files).unwrap_or(usize::MAX / 2);
    let text = format!("{shown}Took back {changes}: {}.\n", count(files, "file"));
    let report = report(text, &done);
    Ok(match &done.operation_id {
        Some(id) => report.note(format!("hint: `bailiwick undo {}` reverts this undo.", short_id(id))),
        None => report,
    })
}

fn report(text: String, output: &UndoOutput) -> Report {
    let report = Report::of(text, output);
    output
        .warnings
        .iter()
        .fold(report, |report, warning| report.note(format!("warning: {}", one_line(&to_user(warning)))))
}

/// Has `history.undo` take the changes back, or show what that changes.
fn ask_service(
    home: &Home,
    printer: Printer,
    wanted: &UndoRequest,
    dry_run: bool,
) -> Result<UndoOutput, Failure> {
    let mut options = Map::new();
    if dry_run {
        options.insert("dryRun".to_owned(), Value::Bool(true));
    }
    let envelope = Envelope {
        scope: Some(wanted.scope.clone()),
        op: "history.undo".to_owned(),
        input: wanted.input.clone(),
        options,
        ..Envelope::default()
    };
    let mut outcome = submit(home, None, Ok(vec![envelope]))?;
    if outcome["ok"] != true {
        let failure = failure_of(&outcome["error"]);
        if failure.code == ErrorCode::Conflict && !printer.json {
            printer.talk(conflicts(&failure).trim_end());
        }
        return Err(failure);
    }
    let unreadable = |error: serde_json::Error| {
        Failure::new(ErrorCode::ExecutionFailed, format!("the answer cannot be read: {error}"))
    };
    let data = &mut outcome["data"];
    let changes: Vec<UndoneChangeOutput> =
        serde_json::from_value(data["changes"].take()).map_err(unreadable)?;
    let files: Vec<UndoneFileOutput> = serde_json::from_value(data["files"].take()).map_err(unreadable)?;
    let warnings = outcome["warnings"].as_array().into_iter().flatten();
    Ok(UndoOutput {
        ok: true,
        scope: wanted.scope.clone(),
        written: !dry_run,
        operation_id: outcome["operationId"].as_str().filter(|_| !dry_run).map(str::to_owned),
        changes,
        files,
        more_files: outcome["data"]["moreFiles"].as_u64().unwrap_or_default(),
        warnings: warnings.filter_map(Value::as_str).map(str::to_owned).collect(),
    })
}

/// Names what was changed again since, with the difference.
fn conflicts(failure: &Failure) -> String {
    let own = Value::Object(failure.details.clone());
    let all = failure.details.get("conflicts").and_then(Value::as_array);
    let mut text = String::from("Changed again since:\n");
    for conflict in all.map_or(std::slice::from_ref(&own), Vec::as_slice) {
        text.push_str(&format!("  {}\n", one_line(conflict["path"].as_str().unwrap_or_default())));
        text.push_str(&printable(conflict["diff"].as_str().unwrap_or_default()));
    }
    text
}

/// Describes the changes, with who made them, and what becomes of each file.
fn described(home: &Home, output: &mut UndoOutput) -> String {
    for change in &mut output.changes {
        if let Ok(entry) = find_entry(home, None, &change.operation_id) {
            (change.caller, change.client) = (Some(entry.caller), entry.client);
        }
    }
    let mut rows = Vec::new();
    for change in output.changes.iter().take(LISTED) {
        let by = match (&change.caller, &change.client) {
            (Some(caller), Some(client)) => format!("{caller} ({client})"),
            (Some(caller), None) => caller.clone(),
            (None, _) => String::new(),
        };
        rows.push(vec![
            parse_rfc3339(&change.at).map(|at| day_and_time(at, false)).unwrap_or_default(),
            short_id(&change.operation_id).to_owned(),
            one_line(&change.op),
            one_line(&by),
        ]);
    }
    let mut text = table(&rows);
    if let Some(more) = output.changes.len().checked_sub(LISTED).filter(|more| *more > 0) {
        text.push_str(&format!("and {more} earlier\n"));
    }
    let files: Vec<Vec<String>> = output.files.iter().map(file_row).collect();
    text.push_str(&format!("Files of scope `{}`:\n", one_line(&output.scope)));
    for line in table(&files).lines() {
        text.push_str(&format!("  {line}\n"));
    }
    if output.more_files > 0 {
        text.push_str(&format!("  and {} more\n", output.more_files));
    }
    for file in &output.files {
        text.push_str(&printable(file.diff.as_deref().unwrap_or_default()));
    }
    text
}

/// Returns what becomes of a file.
fn file_row(file: &UndoneFileOutput) -> Vec<String> {
    let what = match (&file.version_before, &file.version, &file.moved_from) {
        (None, None, _) => "unchanged",
        (Some(_), None, _) => "removed",
        (None, Some(_), _) => "restored",
        (_, _, Some(_)) => "moved back",
        (before, after, None) if before == after => "unchanged",
        (Some(_), Some(_), None) => "changed back",
    };
    let from = file.moved_from.as_deref().map(|from| format!(" (now {})", one_line(from)));
    vec![what.to_owned(), format!("{}{}", one_line(&file.path), from.unwrap_or_default())]
}
