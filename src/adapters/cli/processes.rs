//! `processes`: what was started and continues, in all scopes, for the user at this computer.
//!
//! Reads the folders of the processes directly and needs no running service; what is ended is ended by the service
//! where it may, so that the history knows. Clients have `process.*`, scope by scope.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use bailiwick_contract::time::{parse_rfc3339, rfc3339};
use bailiwick_contract::{ErrorCode, Failure};
use bailiwick_platform::launch::kept::Stream;
use bailiwick_providers::process::Processes;
use bailiwick_providers::process::text::Piece;

use super::args::{ProcessReadArgs, ProcessStopArgs, ProcessesArgs, ProcessesCommand};
use super::printer::{Fit, Printer, Report, Table, one_line, printable};
use crate::adapters::own_backend::end_process;
use crate::installation::home::Home;
use crate::installation::local_time::day_and_time;
use crate::installation::processes::{
    PieceOutput, ProcessOutput, chosen, end, find, listed, next, processes_of, stopped, whole,
};
use crate::installation::runtime;

/// Runs a command on processes.
///
/// # Errors
/// `process_not_found` for an id that no process has.
pub fn run(home: &Home, printer: Printer, args: ProcessesArgs) -> Result<Option<Report>, Failure> {
    let processes = processes_of(home);
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
    let processes = processes_of(home);
    stop(home, &processes, &ProcessStopArgs { id: None, all: true, grace: 5 })
}

fn list(processes: &Processes) -> Report {
    let output = listed(processes);
    let mut table = Table::new(&[
        ("ID", Fit::Whole),
        ("SCOPE", Fit::Cut),
        ("STATUS", Fit::Whole),
        ("STARTED", Fit::WholeOrGone),
        ("CALLER", Fit::Spare),
        ("COMMAND", Fit::Cut),
    ]);
    for it in &output.processes {
        let started = it.started_at.as_deref().and_then(parse_rfc3339);
        let named = [&it.label, &it.command_preview, &it.problem].into_iter().find_map(Option::as_deref);
        table.row([
            it.process_id.clone(),
            one_line(it.scope.as_deref().unwrap_or("?")),
            state_of(it),
            started.map(|at| day_and_time(at, false)).unwrap_or_default(),
            one_line(it.caller.as_deref().unwrap_or_default()),
            one_line(named.unwrap_or_default()),
        ]);
    }
    let text = if table.is_empty() { "No process was started yet.\n".to_owned() } else { table.text() };
    Report::of(text, &output)
}

fn state_of(it: &ProcessOutput) -> String {
    match (&it.signal, it.exit_code) {
        (Some(signal), _) => signal.clone(),
        (None, Some(code)) => format!("exit {code}"),
        (None, None) => it.status.to_owned(),
    }
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
    let list = chosen(processes, args.id.as_deref(), args.all)?;
    let grace = Duration::from_secs(args.grace);
    let runtime = runtime::small()?;
    let ended: Vec<_> = runtime.block_on(async {
        let all = list.into_iter().map(|process| {
            let home = home.clone();
            tokio::spawn(async move {
                let by_service = end_process(&home, &process, grace).await;
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
    let output = stopped(&ended);
    for it in &output.stopped {
        table.row([it.process_id.clone(), one_line(it.scope.as_deref().unwrap_or_default()), state_of(it)]);
    }
    let exit = if output.ok { 0 } else { ErrorCode::ExecutionFailed.facts().exit_code };
    let text = if table.is_empty() { "Nothing runs.\n".to_owned() } else { table.text() };
    Ok(Report { exit, ..Report::of(text, &output) })
}
