//! `processes`: what was started and goes on, in all scopes, for the person at this computer.
//!
//! Reads the folders of the processes directly and needs no running service; what is ended is ended by the service
//! where it may, so that the history knows. Clients have `process.*`, scope by scope.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::contract::time::{now_ms, rfc3339};
use crate::contract::{Envelope, ErrorCode, Failure, Transport, signal};
use crate::platform::launch::Launcher;
use crate::platform::launch::kept::{State, Status, Stream};
use crate::providers::process::text::{Piece, Taken, Wanted, take};
use crate::providers::process::{Cursor, Process, Processes, last_lines};

use super::args::{ProcessReadArgs, ProcessStopArgs, ProcessesArgs, ProcessesCommand};
use super::call::backend;
use super::home::Home;
use super::printer::{Printer, Report, one_line, printable, table};
use super::runtime;

/// By which a process is asked to end: SIGTERM.
const TERMINATE: i32 = 15;
/// How much text is read at a time.
const ROOM: usize = 1 << 20;

/// Runs a command on processes.
///
/// # Errors
/// `process_not_found` for an id that no process has.
pub fn run(home: &Home, printer: Printer, args: ProcessesArgs) -> Result<Option<Report>, Failure> {
    let processes = Arc::new(Processes::new(&home.dirs, Arc::new(Launcher::new())));
    match args.command.unwrap_or(ProcessesCommand::List) {
        ProcessesCommand::List => Ok(Some(list(&processes))),
        ProcessesCommand::Read(args) => read(&processes, printer, &args),
        ProcessesCommand::Stop(args) => stop(home, &processes, &args).map(Some),
    }
}

/// Gives the processes of every scope for a program.
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
    let damaged = processes.damaged();
    let mut rows =
        vec![["ID", "SCOPE", "STATUS", "STARTED (UTC)", "CALLER", "COMMAND"].map(str::to_owned).to_vec()];
    let mut objects = Vec::new();
    for (_, process, status) in &all {
        let facts = &process.facts;
        rows.push(vec![
            facts.id.clone(),
            one_line(&facts.scope),
            state_of(status),
            rfc3339(facts.started_at_ms).get(..19).unwrap_or_default().replace('T', " "),
            one_line(&facts.caller),
            one_line(facts.label.as_deref().unwrap_or(&facts.preview)),
        ]);
        objects.push(object(process, status));
    }
    for (id, why) in &damaged {
        rows.push(vec![
            id.clone(),
            "?".into(),
            "damaged".into(),
            String::new(),
            String::new(),
            one_line(why),
        ]);
        objects.push(json!({"processId": id, "status": "damaged", "problem": why}));
    }
    let text = if objects.is_empty() { "No process was started yet.\n".to_owned() } else { table(&rows) };
    Report::new(text, json!({"ok": true, "processes": objects}))
}

fn object(process: &Process, status: &Result<Status, Failure>) -> Value {
    let facts = &process.facts;
    let mut object = json!({
        "processId": facts.id,
        "scope": facts.scope,
        "caller": facts.caller,
        "commandPreview": facts.preview,
        "label": facts.label,
        "folder": facts.folder,
        "startedAt": rfc3339(facts.started_at_ms),
        "lifetime": facts.lifetime.as_str(),
        "run": facts.is_run,
        "status": "damaged",
    });
    match status {
        Ok(status) => {
            object["status"] = json!(name_of(status.state));
            object["exitCode"] = json!(status.exit_code);
            object["signal"] = json!(status.signal.map(signal::name));
            object["endedAt"] = json!(status.ended_at_ms.map(rfc3339));
            object["keeperProcessId"] = json!(status.process_id);
            object["outputBytes"] = json!(status.end);
        }
        Err(failure) => object["problem"] = json!(failure.message),
    }
    object
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
    let found = processes.all().into_iter().find(|process| process.facts.id == id);
    found.ok_or_else(|| {
        Failure::new(ErrorCode::ProcessNotFound, format!("there is no process `{}`", one_line(id)))
            .hint("`bailiwick processes` lists them.")
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
            let (taken, status) = next(&process, cursor, args.tail)?;
            if taken.skipped_bytes > 0 && !printer.json {
                printer.talk(&format!("[{} bytes before are not kept any more]", taken.skipped_bytes));
            }
            let is_all = !taken.is_cut;
            cursor = Some(taken.cursor);
            if printer.json && !args.follow {
                return Ok(Some(Report::new("", whole(&process, &status, taken))));
            }
            taken.pieces.iter().for_each(|piece| print(printer, piece));
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

fn next(process: &Process, cursor: Option<Cursor>, tail: Option<usize>) -> Result<(Taken, Status), Failure> {
    let status = process.status()?;
    let wanted = Wanted {
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

fn whole(process: &Process, status: &Status, taken: Taken) -> Value {
    let text = |stream: Stream| -> String {
        taken.pieces.iter().filter(|piece| piece.stream == stream).map(|piece| piece.text.as_str()).collect()
    };
    let mut object = object(process, &Ok(status.clone()));
    object["ok"] = json!(true);
    object["stdout"] = json!(text(Stream::Stdout));
    object["stderr"] = json!(text(Stream::Stderr));
    object["skippedBytes"] = json!(taken.skipped_bytes);
    object["truncated"] = json!(taken.is_cut);
    object
}

fn print(printer: Printer, piece: &Piece) {
    let stream = match piece.stream {
        Stream::Stdout => "stdout",
        Stream::Stderr => "stderr",
    };
    if printer.json {
        printer.data(&format!(
            "{}\n",
            json!({"stream": stream, "at": rfc3339(piece.at_ms), "text": piece.text})
        ));
    } else {
        printer.data(&printable(&piece.text));
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
                .hint("`bailiwick processes` lists them."));
        }
    };
    let grace = Duration::from_secs(args.grace);
    let runtime = runtime::small()?;
    let ended: Vec<_> = runtime.block_on(async {
        let all = list.into_iter().map(|process| {
            let home = home.clone();
            tokio::spawn(async move {
                let by_service = by_service(&home, &process, grace).await;
                // A scope that is gone, or that does not let anyone, must not keep the person from it.
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
    let mut rows = Vec::new();
    let mut objects = Vec::new();
    let mut exit = 0;
    for (process, result) in &ended {
        if !result.as_ref().is_ok_and(|status| status.state.is_final()) {
            exit = ErrorCode::ExecutionFailed.facts().exit_code;
        }
        rows.push(vec![process.facts.id.clone(), one_line(&process.facts.scope), state_of(result)]);
        objects.push(object(process, result));
    }
    let text = if rows.is_empty() { "Nothing runs.\n".to_owned() } else { table(&rows) };
    let json = json!({"ok": exit == 0, "stopped": objects, "at": rfc3339(now_ms())});
    Ok(Report { exit, ..Report::new(text, json) })
}

async fn end(process: &Arc<Process>, grace: Duration) -> Result<Status, Failure> {
    process.stop(TERMINATE, grace).await.map(|(status, _)| status)
}

/// Has the service end it. Tells whether it did.
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
