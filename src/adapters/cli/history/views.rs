//! The views of the history.

use bailiwick_config::Config;
use bailiwick_contract::time::{now_ms, rfc3339};
use bailiwick_contract::{ErrorCode, Failure};
use bailiwick_history::{Entry, Filter, State};
use bailiwick_platform::quoting::quote;

use super::super::args::{HistoryArgs, HistoryView, RowFilter};
use super::super::printer::{
    Fit, Paint, Printer, Report, Table, one_line, paint, printable, table, with_nearest,
};
use super::follow::follow;
use crate::installation::home::Home;
use crate::installation::local_time::{day_and_time, since};
use crate::past_requests::find::{began_ms, find_entry, read, short_id, template, undo_of};
use crate::past_requests::output::{
    ConnectionsOutput, EntryOutput, FailedOutput, FailedReplayOutput, GetOutput, LastOutput, SessionsOutput,
    TimelineOutput,
};
use crate::past_requests::routes::{self, CountedRoutes};
use crate::past_requests::undo_state::{KeptChanges, UndoState};
use crate::text_layout::columns::cut;

/// Shows a view.
///
/// # Errors
/// `not_found` for an id that the history does not know; `provider_unavailable` when it cannot be read.
pub fn run(home: &Home, printer: Printer, args: &HistoryArgs) -> Result<Option<Report>, Failure> {
    if args.view != HistoryView::Get && args.id.is_some() {
        return Err(Failure::invalid("id", "only `log show` takes an id"));
    }
    if args.follow {
        if args.view != HistoryView::Timeline || args.cursor.is_some() {
            return Err(Failure::invalid(
                "--follow",
                "only the timeline, from its newest row on, is followed",
            )
            .hint("Run `bailiwick log --follow`."));
        }
        return follow(home, printer, &args.only, args.limit).map(|()| None);
    }
    let report = match args.view {
        HistoryView::Timeline => timeline(home, args),
        HistoryView::Last => last(home, args),
        HistoryView::Sessions => counted(home, args, true),
        HistoryView::Connections => counted(home, args, false),
        HistoryView::Get => get(home, args),
        HistoryView::FailedReplay => failed_replay(home, args),
        HistoryView::Verify => verify(home),
    }?;
    Ok(Some(match unknown_scope(home, args.only.scope.as_deref()) {
        Some(note) => report.note(note),
        None => report,
    }))
}

/// What to say of a scope that there is not: the history may know it all the same, from an earlier time.
pub fn unknown_scope(home: &Home, id: Option<&str>) -> Option<String> {
    let id = id?;
    let config = home.config_if_there().ok().flatten()?;
    let known = |config: &Config| config.scopes.iter().any(|scope| scope.id == id);
    if known(&config) {
        return None;
    }
    let failure = Failure::new(ErrorCode::UnknownScope, format!("there is no scope `{}` now", one_line(id)));
    let ids = config.scopes.iter().map(|scope| scope.id.as_str());
    let failure = with_nearest(failure, id, ids, "`bailiwick scope list` shows them.");
    Some(format!("\nnote: {}. {}", failure.message, failure.hints.join(" ")))
}

/// Returns the filter that the flags stand for.
///
/// # Errors
/// `invalid_request` for a time that cannot be read.
pub fn filter(only: &RowFilter, limit: u32) -> Result<Filter, Failure> {
    // The name of a family is one without a verb.
    let op = only.op.as_ref().map(|op| if op.contains('.') { op.clone() } else { format!("{op}.") });
    Ok(Filter {
        scope: only.scope.clone(),
        text: only.query.clone(),
        op,
        client: only.client.clone(),
        ok: only.failed.then_some(false),
        since_ms: only.since.as_deref().map(|when| since(when, now_ms())).transpose()?,
        limit: usize::try_from(limit.clamp(1, 1_000)).unwrap_or(1_000),
        ..Filter::default()
    })
}

/// Returns the filter of a page.
fn page_filter(args: &HistoryArgs) -> Result<Filter, Failure> {
    Ok(Filter { cursor: args.cursor.clone(), ..filter(&args.only, args.limit)? })
}

fn timeline(home: &Home, args: &HistoryArgs) -> Result<Report, Failure> {
    let page = read(home, &page_filter(args)?)?;
    let oldest_ms = page.entries.iter().map(began_ms).min();
    // Where it cannot be read, the rows say nothing about it.
    let kept = oldest_ms.and_then(|began_ms| KeptChanges::since(home, began_ms).ok());
    let undo: Vec<Option<UndoState>> =
        page.entries.iter().map(|entry| kept.as_ref().and_then(|kept| kept.state(entry))).collect();
    let text = if page.entries.is_empty() {
        "No matching history.\n".to_owned()
    } else {
        let time = (if args.utc { "TIME (UTC)" } else { "TIME" }, Fit::Whole);
        let rest = [
            ("OUTCOME", Fit::Cut),
            ("OPERATION", Fit::Cut),
            ("TARGET", Fit::Cut),
            ("SCOPE", Fit::WholeOrGone),
            ("CLIENT", Fit::WholeOrGone),
        ];
        // Where nothing was changed there is nothing to undo.
        let mut columns = vec![time, ("ID", Fit::Whole)];
        let has_changes = undo.iter().any(Option::is_some);
        columns.extend(has_changes.then_some(("UNDO", Fit::Whole)));
        columns.extend(rest);
        let mut table = Table::new(&columns);
        for (entry, undo) in page.entries.iter().zip(&undo) {
            let undo = has_changes.then(|| undo.as_ref().map(UndoState::short).unwrap_or_default());
            table.cells(row(entry, undo, args.utc));
        }
        table.text()
    };
    let rows = page.entries.iter().zip(&undo);
    let operations = rows.map(|(entry, undo)| EntryOutput::with_undo(entry, undo.as_ref())).collect();
    let report = Report::of(text, &TimelineOutput { ok: true, operations, next_cursor: page.next.clone() });
    Ok(match &page.next {
        Some(next) => report.note(format!("\nThere is more: add --cursor {next}")),
        None => report,
    })
}

/// Returns the cells of an entry: time, id, undo where the table has it, outcome, operation, target, scope, client.
fn row(entry: &Entry, undo: Option<String>, utc: bool) -> Vec<String> {
    let client = match &entry.client {
        Some(client) => format!("{} ({client})", entry.caller),
        None => format!("{} ({})", entry.caller, entry.transport),
    };
    let mut cells = vec![day_and_time(entry.at_ms, utc), short_id(&entry.operation_id).to_owned()];
    cells.extend(undo);
    cells.extend([
        verdict(entry),
        short(&entry.op, 24),
        short(entry.target.as_deref().unwrap_or_default(), 40),
        short(&entry.scope, 20),
        short(&client, 32),
    ]);
    cells
}

/// Returns how an operation ended, the verdict first: one word, and why or with what.
fn verdict(entry: &Entry) -> String {
    let why =
        || entry.error.as_deref().or(entry.code.as_deref()).map(|text| short(text, 60)).unwrap_or_default();
    match (entry.state, &entry.code, &entry.stage) {
        (State::Finished, Some(code), Some(_)) if code == "approval_required" => {
            format!("asks    {}", why())
        }
        (State::Finished, Some(_), Some(_)) => format!("denied  {}", why()),
        (State::Finished, Some(_), None) => format!("failed  {}", why()),
        (State::Finished, None, _) => {
            let summary = entry.summary.as_deref().map(|text| short(text, 60)).unwrap_or_default();
            format!("ok      {summary}").trim_end().to_owned()
        }
        (State::Notice | State::Unfinished, _, _) => outcome(entry),
    }
}

fn outcome(entry: &Entry) -> String {
    match (entry.state, &entry.code) {
        (State::Notice, _) => short(entry.summary.as_deref().unwrap_or("note"), 60),
        (State::Unfinished, _) => "no end recorded".to_owned(),
        (State::Finished, None) => match entry.summary.as_deref().filter(|text| !text.is_empty()) {
            Some(summary) => format!("ok: {}", short(summary, 60)),
            None => "ok".to_owned(),
        },
        (State::Finished, Some(code)) => {
            let at = entry.stage.as_ref().map(|stage| format!(" at stage {stage}")).unwrap_or_default();
            let why = entry.error.as_deref().map(|text| format!(": {}", short(text, 60))).unwrap_or_default();
            format!("{code}{at}{why}")
        }
    }
}

fn short(text: &str, limit: usize) -> String {
    cut(&one_line(text), limit)
}

fn last(home: &Home, args: &HistoryArgs) -> Result<Report, Failure> {
    let page = read(home, &Filter { limit: 1, ..page_filter(args)? })?;
    let Some(entry) = page.entries.first() else {
        let output = LastOutput { ok: true, operation: None, next: None };
        return Ok(Report::of("No matching history.\n", &output));
    };
    let next = match (&entry.code, entry.state) {
        (None, State::Unfinished) => {
            "It was about to have an effect, and its end is not recorded: look at its target.".to_owned()
        }
        (None, _) => "Nothing needs to be done.".to_owned(),
        (Some(_), _) if entry.stage.is_some() => {
            format!(
                "The policy refused it. `bailiwick scope list` shows what is granted in `{}`.",
                entry.scope
            )
        }
        (Some(_), _) => "`bailiwick log replay` shows the request as a template to try again.".to_owned(),
    };
    let undo = undo_of(home, entry);
    let text = format!("{}\n{next}\n", full(entry, undo.as_ref(), args.utc));
    let operation = Some(EntryOutput::with_undo(entry, undo.as_ref()));
    Ok(Report::of(text, &LastOutput { ok: true, operation, next: Some(next) }))
}

fn get(home: &Home, args: &HistoryArgs) -> Result<Report, Failure> {
    let wanted = args.id.as_deref().ok_or_else(|| {
        Failure::invalid("id", "`log show` needs the id of an operation")
            .hint("`bailiwick log` shows the ids.")
    })?;
    let entry = find_entry(home, args.only.scope.as_deref(), wanted)?;
    let undo = undo_of(home, &entry);
    let text = full(&entry, undo.as_ref(), args.utc);
    Ok(Report::of(text, &GetOutput { ok: true, operation: EntryOutput::with_undo(&entry, undo.as_ref()) }))
}

/// Everything about one operation.
fn full(entry: &Entry, undo: Option<&UndoState>, utc: bool) -> String {
    let mut rows = Vec::new();
    let mut add = |name: &str, value: String| {
        if !value.is_empty() {
            rows.push(vec![name.to_owned(), one_line(&value)]);
        }
    };
    let or_empty = |text: &Option<String>| text.clone().unwrap_or_default();
    add("outcome", outcome(entry));
    add("operation", entry.op.clone());
    add("target", or_empty(&entry.target));
    add("scope", entry.scope.clone());
    add("error", or_empty(&entry.error));
    add("rule", or_empty(&entry.rule));
    add("permitted by", or_empty(&entry.capability));
    add("caller", format!("{} over {}", entry.caller, entry.transport));
    add("client", or_empty(&entry.client));
    add("session", or_empty(&entry.session));
    add("at", if utc { rfc3339(entry.at_ms) } else { day_and_time(entry.at_ms, false) });
    add("took", format!("{:.1} ms", entry.duration_us as f64 / 1_000.0));
    let id = short_id(&entry.operation_id);
    add("undo", undo.map(|undo| undo.sentence(id, utc)).unwrap_or_default());
    add("request", or_empty(&entry.template));
    add("id", entry.operation_id.clone());
    add("row", format!("{} {}", entry.seq, entry.hash));
    table(&rows)
}

fn failed_replay(home: &Home, args: &HistoryArgs) -> Result<Report, Failure> {
    let page = read(home, &Filter { ok: Some(false), ..page_filter(args)? })?;
    let mut text = String::new();
    let mut list = Vec::new();
    for entry in &page.entries {
        let envelope = template(entry);
        let left_out = envelope.1;
        text.push_str(&format!("{}  {}\n", day_and_time(entry.at_ms, args.utc), outcome(entry)));
        if let Some(error) = &entry.error {
            text.push_str(&format!("  {}\n", one_line(error)));
        }
        text.push_str(&format!("  bailiwick call {}\n", printable(&quote(&envelope.0.to_string()))));
        if !left_out.is_empty() {
            text.push_str(&format!("  not kept, add it again: {}\n", left_out.join(", ")));
        }
        list.push(FailedOutput {
            operation_id: entry.operation_id.clone(),
            at: rfc3339(entry.at_ms),
            code: entry.code.clone(),
            error: entry.error.clone(),
            envelope: envelope.0,
            left_out,
        });
    }
    if text.is_empty() {
        text.push_str("No matching failure.\n");
    }
    Ok(Report::of(text, &FailedReplayOutput { ok: true, failed: list, next_cursor: page.next }))
}

/// Counts operations by session, or by who connects in which way.
fn counted(home: &Home, args: &HistoryArgs, by_session: bool) -> Result<Report, Failure> {
    let limit = usize::try_from(args.limit).unwrap_or(usize::MAX);
    let CountedRoutes { routes, seen, next: more } =
        routes::counted(home, page_filter(args)?, by_session, limit)?;
    let time = |ms: i64| day_and_time(ms, args.utc);
    let mut table = Table::new(&[
        (if args.utc { "LAST (UTC)" } else { "LAST" }, Fit::Whole),
        ("FIRST", Fit::WholeOrGone),
        ("CALLER", Fit::Cut),
        ("CLIENT", Fit::Cut),
        ("OVER", Fit::Whole),
        ("OPERATIONS", Fit::Whole),
        ("FAILED", Fit::Whole),
    ]);
    for (it, first_ms, last_ms) in &routes {
        table.row([
            time(*last_ms),
            time(*first_ms),
            short(&it.caller, 32),
            short(it.client.as_deref().unwrap_or_default(), 40),
            it.transport.clone(),
            it.operations.to_string(),
            it.failed.to_string(),
        ]);
    }
    let list = routes.into_iter().map(|(it, ..)| it).collect();
    let text = if table.is_empty() { "No matching history.\n".to_owned() } else { table.text() };
    let next_cursor = more.clone();
    let report = if by_session {
        Report::of(text, &SessionsOutput { ok: true, sessions: list, next_cursor })
    } else {
        Report::of(text, &ConnectionsOutput { ok: true, connections: list, next_cursor })
    };
    Ok(match more {
        Some(next) => {
            report.note(format!("\nCounted the newest {seen} operations; continue with --cursor {next}"))
        }
        None => report,
    })
}

/// Checks the chain. Exits 16 (`conflict`) when a row is not as it was written.
fn verify(home: &Home) -> Result<Report, Failure> {
    let found = bailiwick_history::verify(&home.dirs.state).map_err(|error| {
        Failure::new(ErrorCode::ProviderUnavailable, error.to_string())
            .hint("`bailiwick status` says how the history is.")
    })?;
    let mut text = match &found.problem {
        None if found.rows == 0 => "The history has no rows yet.\n".to_owned(),
        None => {
            let rows = if found.rows == 1 { "row" } else { "rows" };
            format!(
                "{} {} {rows}, {} to {}: none was changed, removed or reordered.\n",
                paint(Paint::Good, "verified:"),
                found.rows,
                found.first_seq,
                found.last_seq
            )
        }
        Some(problem) => {
            format!("{} row {}: {}\n", paint(Paint::Bad, "tampered:"), problem.seq, one_line(&problem.what))
        }
    };
    if found.removed_through > 0 {
        text.push_str(&format!(
            "Rows up to {} were removed by age or size, as configured.\n",
            found.removed_through
        ));
    }
    for notice in &found.notices {
        text.push_str(&format!("note: {}\n", one_line(notice)));
    }
    if !found.head_hash.is_empty() {
        text.push_str(&format!("head {} {}\n", found.last_seq, found.head_hash));
    }
    let exit = if found.ok { 0 } else { ErrorCode::Conflict.facts().exit_code };
    let report = Report { exit, ..Report::of(text, &found) };
    Ok(if found.ok && found.rows > 0 {
        report.note("\nKeep the head elsewhere: a later check can then find a cut tail, too.")
    } else {
        report
    })
}
