//! `processes`: what was started and continues, in all scopes, for the user at this computer.
//!
//! Reads the folders of the processes directly and needs no running service; what is ended is ended by the service
//! where it may, so that the history knows. Clients have `process.*`, scope by scope.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use bailiwick_config::ProcessLifetime;
use bailiwick_contract::time::{now_ms, rfc3339};
use bailiwick_contract::{Envelope, ErrorCode, Failure, Transport, signal};
use bailiwick_platform::launch::Launcher;
use bailiwick_platform::launch::kept::{State, Status, Stream};
use bailiwick_providers::process::text::{Piece, TextPage, TextRange, take};
use bailiwick_providers::process::{Cursor, Process, Processes, last_lines};

use super::args::{ProcessReadArgs, ProcessStopArgs, ProcessesArgs, ProcessesCommand};
use super::call::backend;
use super::home::Home;
use super::local_time::day_and_time;
use super::printer::{Fit, Printer, Report, Table, one_line, printable, with_nearest};
use super::runtime;

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

/// Runs a command on processes.
///
/// # Errors
/// `process_not_found` for an id that no process has.
pub fn run(home: &Home, printer: Printer, args: ProcessesArgs) -> Result<Option<Report>, Failure> {
    let processes = Arc::new(Processes::new(&home.dirs, Arc::new(Launcher::new())));
    match args.command.unwrap_or(ProcessesCommand::List) {
        ProcessesCommand::List => Ok(Some(list(&processes))),
        ProcessesCommand::Logs(args) => read(&processes, printer, &args),
        ProcessesCommand::Stop(args) => stop(home, &processes, &args).map(Some),
    }
}

/// Stops all processes of every scope.
///
/// # Errors
/// When the system gives no thread for it.
pub fn stop_all(home: &Home) -> Result<Report, Failure> {
    let processes = Arc::new(Processes::new(&home.dirs, Arc::new(Launcher::new())));
    stop(home, &processes, &ProcessStopArgs { id: None, all: true, grace: 5 })
}

/// Returns the processes of every scope for a program.
pub fn listed(home: &Home) -> Value {
    list(&Processes::new(&home.dirs, Arc::new(Launcher::new()))).json
}

fn list(processes: &Processes) -> Report {
    let mut all: Vec<(bool, Arc<Process>, Result<Status, Failure>)> = processes
        .all()
        .into_iter()
        .map(|process| {
            let status = process.status();
            (status.as_ref().is_ok_and(|status| !status.state.is_final()), process, status)
        })
        .collect();
    all.sort_by_key(|(is_live, _, _)| !is_live);
    let mut table = Table::new(&[
        ("ID", Fit::Whole),
        ("SCOPE", Fit::Cut),
        ("STATUS", Fit::Whole),
        ("STARTED", Fit::WholeOrGone),
        ("CALLER", Fit::Spare),
        ("COMMAND", Fit::Cut),
    ]);
    let mut objects = Vec::new();
    for (_, process, status) in &all {
        let facts = &process.facts;
        table.row([
            facts.id.clone(),
            one_line(&facts.scope),
            state_of(status),
            day_and_time(facts.started_at_ms, false),
            one_line(&facts.caller),
            one_line(facts.label.as_deref().unwrap_or(&facts.preview)),
        ]);
        objects.push(object(process, status));
    }
    for (id, why) in processes.damaged() {
        let none = String::new;
        table.row([id.clone(), "?".into(), "damaged".into(), none(), none(), one_line(&why)]);
        objects.push(damaged(&id, &why));
    }
    let text = if table.is_empty() { "No process was started yet.\n".to_owned() } else { table.text() };
    Report::of(text, &ProcessListOutput { ok: true, processes: objects })
}

fn object(process: &Process, status: &Result<Status, Failure>) -> ProcessOutput {
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
        status: known.map_or("damaged", |status| name_of(status.state)),
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

const fn name_of(state: State) -> &'static str {
    match state {
        State::Starting => "starting",
        State::Running => "running",
        State::Ended => "ended",
        State::Failed => "failed",
        State::Lost => "lost",
    }
}

fn state_of(status: &Result<Status, Failure>) -> String {
    match status {
        Err(_) => "damaged".to_owned(),
        Ok(status) => match (status.signal, status.exit_code) {
            (Some(number), _) => signal::name(number),
            (None, Some(code)) => format!("exit {code}"),
            (None, None) => name_of(status.state).to_owned(),
        },
    }
}

fn find(processes: &Processes, id: &str) -> Result<Arc<Process>, Failure> {
    let all = processes.all();
    all.iter().find(|process| process.facts.id == id).cloned().ok_or_else(|| {
        let failure =
            Failure::new(ErrorCode::ProcessNotFound, format!("there is no process `{}`", one_line(id)));
        let ids = all.iter().map(|process| process.facts.id.as_str());
        with_nearest(failure, id, ids, "`bailiwick ps` lists them.")
    })
}

fn read(processes: &Processes, printer: Printer, args: &ProcessReadArgs) -> Result<Option<Report>, Failure> {
    let process = find(processes, &args.id)?;
    let runtime = runtime::small()?;
    runtime.block_on(async {
        let mut changes = args.follow.then(|| process.changes());
        let mut cursor = None;
        loop {
            let is_over = match &mut changes {
                Some(changes) => changes.borrow_and_update().ended,
                None => true,
            };
            let (taken, status) = next(&process, cursor, args.lines)?;
            if taken.skipped_bytes > 0 && !printer.json {
                printer.talk(&format!("[{} bytes before are not kept any more]", taken.skipped_bytes));
            }
            let is_all = !taken.is_cut;
            cursor = Some(taken.cursor);
            if printer.json && !args.follow {
                return Ok(Some(Report::of("", &whole(&process, &status, &taken))));
            }
            // Nobody reads any more.
            if taken.pieces.iter().try_for_each(|piece| print(printer, piece)).is_err() {
                return Ok(None);
            }
            if is_all && is_over {
                return Ok(None);
            }
            if is_all && let Some(changes) = &mut changes {
                // Where nothing tells any more it is over, and the next turn is the last.
                let _ = changes.changed().await;
            }
        }
    })
}

fn next(
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

fn whole(process: &Process, status: &Status, taken: &TextPage) -> ProcessReadOutput {
    let text = |stream: Stream| -> String {
        taken.pieces.iter().filter(|piece| piece.stream == stream).map(|piece| piece.text.as_str()).collect()
    };
    ProcessReadOutput {
        ok: true,
        process: object(process, &Ok(status.clone())),
        stdout: text(Stream::Stdout),
        stderr: text(Stream::Stderr),
        skipped_bytes: taken.skipped_bytes,
        truncated: taken.is_cut,
    }
}

fn print(printer: Printer, piece: &Piece) -> io::Result<()> {
    if printer.json {
        let stream = match piece.stream {
            Stream::Stdout => "stdout",
            Stream::Stderr => "stderr",
        };
        let line = PieceOutput { stream, at: rfc3339(piece.at_ms), text: &piece.text };
        printer.try_data(&format!("{}\n", serde_json::to_string(&line).expect("it has a JSON form")))
    } else {
        printer.try_data(&printable(&piece.text))
    }
}

fn stop(home: &Home, processes: &Arc<Processes>, args: &ProcessStopArgs) -> Result<Report, Failure> {
    let list = match (&args.id, args.all) {
        (Some(id), false) => vec![find(processes, id)?],
        (None, true) => {
            let mut all = processes.all();
            all.retain(|process| process.status().is_ok_and(|status| !status.state.is_final()));
            all
        }
        _ => {
            return Err(Failure::invalid("id", "name one process, or all with --all")
                .hint("`bailiwick ps` lists them."));
        }
    };
    let grace = Duration::from_secs(args.grace);
    let runtime = runtime::small()?;
    let ended: Vec<_> = runtime.block_on(async {
        let all = list.into_iter().map(|process| {
            let home = home.clone();
            tokio::spawn(async move {
                let by_service = by_service(&home, &process, grace).await;
                // A scope that is gone, or that does not let anyone, must not keep the user from it.
                let result = if by_service { process.status() } else { end(&process, grace).await };
                (process, result)
            })
        });
        let all: Vec<_> = all.collect();
        let mut ended = Vec::new();
        for task in all {
            ended.extend(task.await);
        }
        ended
    });
    runtime.shutdown_background();
    let mut table = Table::new(&[("ID", Fit::Whole), ("SCOPE", Fit::Cut), ("STATUS", Fit::Whole)]);
    let mut objects = Vec::new();
    let mut exit = 0;
    for (process, result) in &ended {
        if !result.as_ref().is_ok_and(|status| status.state.is_final()) {
            exit = ErrorCode::ExecutionFailed.facts().exit_code;
        }
        table.row([process.facts.id.clone(), one_line(&process.facts.scope), state_of(result)]);
        objects.push(object(process, result));
    }
    let text = if table.is_empty() { "Nothing runs.\n".to_owned() } else { table.text() };
    let output = ProcessStopOutput { ok: exit == 0, stopped: objects, at: rfc3339(now_ms()) };
    Ok(Report { exit, ..Report::of(text, &output) })
}

async fn end(process: &Arc<Process>, grace: Duration) -> Result<Status, Failure> {
    process.stop(TERMINATE, grace).await.map(|(status, _)| status)
}

/// Has the service end it. Returns whether it did.
async fn by_service(home: &Home, process: &Process, grace: Duration) -> bool {
    let Ok(backend) = backend(home, Transport::Cli, None).await else { return false };
    let mut envelope = Envelope {
        scope: Some(process.facts.scope.clone()),
        op: "process.stop".to_owned(),
        target: Some(process.facts.id.clone()),
        ..Envelope::default()
    };
    envelope.options.insert("graceSeconds".to_owned(), json!(grace.as_secs()));
    envelope
        .options
        .insert("timeoutSeconds".to_owned(), json!(grace.as_secs().saturating_add(10).min(3_600)));
    backend.submit(Ok(envelope), &CancellationToken::new()).await.ok
}
