//! The processes that clients started to last, in all scopes: listed, read and ended without a running service.

use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;

use bailiwick_config::ProcessLifetime;
use bailiwick_contract::time::{now_ms, rfc3339};
use bailiwick_contract::{ErrorCode, Failure, signal};
use bailiwick_platform::launch::Launcher;
use bailiwick_platform::launch::kept::{Status, Stream};
use bailiwick_providers::process::text::{TextPage, TextRange, take};
use bailiwick_providers::process::{Cursor, Process, Processes, last_lines};

use super::home::Home;
use super::text::{one_line, with_nearest};

/// By which a process is asked to end: SIGTERM.
const TERMINATE: i32 = 15;
/// How much text is read at a time.
const ROOM: usize = 1 << 20;

/// A process.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProcessOutput {
    /// Its id.
    pub process_id: String,
    /// The scope that it belongs to; null where its files cannot be read, as all that follows.
    pub scope: Option<String>,
    /// The caller that started it.
    pub caller: Option<String>,
    /// The beginning of its command, with the secrets taken out.
    pub command_preview: Option<String>,
    /// What the caller calls it.
    pub label: Option<String>,
    /// Its working folder, as clients see it.
    pub folder: Option<String>,
    /// When it was started (RFC 3339).
    pub started_at: Option<String>,
    /// How long it lives.
    pub lifetime: Option<ProcessLifetime>,
    /// Whether it is what a finished `command.run` printed.
    pub run: bool,
    /// `starting`, `running`, `ended`, `failed`, `lost` or `damaged`.
    pub status: &'static str,
    /// Its exit code.
    pub exit_code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<String>,
    /// When it ended (RFC 3339).
    pub ended_at: Option<String>,
    /// The id that the system has for its keeper.
    pub keeper_process_id: Option<u32>,
    /// How much it has printed, in bytes.
    pub output_bytes: Option<u64>,
    /// Why it cannot be read.
    pub problem: Option<String>,
}

/// `ps`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ProcessListOutput {
    /// Always true.
    pub ok: bool,
    /// The processes; those that continue first.
    pub processes: Vec<ProcessOutput>,
}

/// `ps logs`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProcessReadOutput {
    /// Always true.
    pub ok: bool,
    /// The process.
    #[serde(flatten)]
    pub process: ProcessOutput,
    /// What it printed to standard output, without what steers terminals.
    pub stdout: String,
    /// What it printed to standard error.
    pub stderr: String,
    /// How many bytes before are not kept any more.
    pub skipped_bytes: u64,
    /// Whether there is more.
    pub truncated: bool,
}

/// A line of `ps logs --follow`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PieceOutput<'a> {
    /// `stdout` or `stderr`.
    pub stream: &'static str,
    /// When it was printed (RFC 3339).
    pub at: String,
    /// What was printed.
    pub text: &'a str,
}

/// `ps stop`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ProcessStopOutput {
    /// Whether all of them have ended.
    pub ok: bool,
    /// The processes as they are now.
    pub stopped: Vec<ProcessOutput>,
    /// When that was checked (RFC 3339).
    pub at: String,
}

/// Opens the folders of the processes.
pub fn processes_of(home: &Home) -> Arc<Processes> {
    // The launcher starts nothing until something is started by it, which nothing is.
    Arc::new(Processes::new(&home.dirs, Arc::new(Launcher::new())))
}

/// Lists the processes; those that continue first.
pub fn listed(processes: &Processes) -> ProcessListOutput {
    let mut all: Vec<(bool, ProcessOutput)> = processes
        .all()
        .into_iter()
        .map(|process| {
            let status = process.status();
            let is_live = status.as_ref().is_ok_and(|status| !status.state.is_final());
            (is_live, described(&process, &status))
        })
        .collect();
    all.sort_by_key(|(is_live, _)| !is_live);
    let damaged = processes.damaged().into_iter().map(|(id, why)| damaged(&id, &why));
    let processes = all.into_iter().map(|(_, process)| process).chain(damaged).collect();
    ProcessListOutput { ok: true, processes }
}

/// Describes a process.
pub fn described(process: &Process, status: &Result<Status, Failure>) -> ProcessOutput {
    let facts = &process.facts;
    let known = status.as_ref().ok();
    ProcessOutput {
        process_id: facts.id.clone(),
        scope: Some(facts.scope.clone()),
        caller: Some(facts.caller.clone()),
        command_preview: Some(facts.preview.clone()),
        label: facts.label.clone(),
        folder: Some(facts.folder.clone()),
        started_at: Some(rfc3339(facts.started_at_ms)),
        lifetime: Some(facts.lifetime),
        run: facts.is_run,
        status: known.map_or("damaged", |status| status.state.name()),
        exit_code: known.and_then(|status| status.exit_code),
        signal: known.and_then(|status| status.signal).map(signal::name),
        ended_at: known.and_then(|status| status.ended_at_ms).map(rfc3339),
        keeper_process_id: known.map(|status| status.process_id),
        output_bytes: known.map(|status| status.end),
        problem: status.as_ref().err().map(|failure| failure.message.clone()),
    }
}

/// A process whose own files cannot be read.
fn damaged(id: &str, why: &str) -> ProcessOutput {
    ProcessOutput {
        process_id: id.to_owned(),
        scope: None,
        caller: None,
        command_preview: None,
        label: None,
        folder: None,
        started_at: None,
        lifetime: None,
        run: false,
        status: "damaged",
        exit_code: None,
        signal: None,
        ended_at: None,
        keeper_process_id: None,
        output_bytes: None,
        problem: Some(why.to_owned()),
    }
}

/// Finds a process.
///
/// # Errors
/// `process_not_found`, with the nearest id.
pub fn find(processes: &Processes, id: &str) -> Result<Arc<Process>, Failure> {
    let all = processes.all();
    all.iter().find(|process| process.facts.id == id).cloned().ok_or_else(|| {
        let failure =
            Failure::new(ErrorCode::ProcessNotFound, format!("there is no process `{}`", one_line(id)));
        let ids = all.iter().map(|process| process.facts.id.as_str());
        with_nearest(failure, id, ids, "`bailiwick ps` lists them.")
    })
}

/// Reads what a process printed: from a place on, or its last lines.
///
/// # Errors
/// When its files cannot be read.
pub fn next(
    process: &Process,
    cursor: Option<Cursor>,
    tail: Option<usize>,
) -> Result<(TextPage, Status), Failure> {
    let status = process.status()?;
    let wanted = TextRange {
        stream: None,
        strip_ansi: true,
        room: ROOM,
        line_bytes: 0,
        is_over: status.state.is_final(),
    };
    let read = |from, max_bytes| process.read(from, max_bytes);
    let taken = match (cursor, tail) {
        (None, Some(lines)) => last_lines(lines, false, status.end, wanted, read)?,
        (cursor, _) => take(cursor.unwrap_or_default(), wanted, read)?,
    };
    Ok((taken, status))
}

/// Describes a process with what it printed.
pub fn whole(process: &Process, status: &Status, taken: &TextPage) -> ProcessReadOutput {
    let text = |stream: Stream| -> String {
        taken.pieces.iter().filter(|piece| piece.stream == stream).map(|piece| piece.text.as_str()).collect()
    };
    ProcessReadOutput {
        ok: true,
        process: described(process, &Ok(status.clone())),
        stdout: text(Stream::Stdout),
        stderr: text(Stream::Stderr),
        skipped_bytes: taken.skipped_bytes,
        truncated: taken.is_cut,
    }
}

/// Chooses the process of an id, or all that run.
///
/// # Errors
/// `process_not_found`; `invalid_request` unless one or all are named.
pub fn chosen(processes: &Processes, id: Option<&str>, all: bool) -> Result<Vec<Arc<Process>>, Failure> {
    match (id, all) {
        (Some(id), false) => Ok(vec![find(processes, id)?]),
        (None, true) => {
            let mut all = processes.all();
            all.retain(|process| process.status().is_ok_and(|status| !status.state.is_final()));
            Ok(all)
        }
        _ => {
            Err(Failure::invalid("id", "name one process, or all with --all")
                .hint("`bailiwick ps` lists them."))
        }
    }
}

/// Ends a process, by its keeper.
///
/// # Errors
/// When the keeper does not answer.
pub async fn end(process: &Arc<Process>, grace: Duration) -> Result<Status, Failure> {
    process.stop(TERMINATE, grace).await.map(|(status, _)| status)
}

/// Describes processes that were to end.
pub fn stopped(ended: &[(Arc<Process>, Result<Status, Failure>)]) -> ProcessStopOutput {
    ProcessStopOutput {
        ok: ended.iter().all(|(_, result)| result.as_ref().is_ok_and(|status| status.state.is_final())),
        stopped: ended.iter().map(|(process, result)| described(process, result)).collect(),
        at: rfc3339(now_ms()),
    }
}
