//! `doctor --prove`: its bound of time, and its end by the user.

use std::thread;
use std::time::Duration;

use bailiwick_contract::{ErrorCode, Failure};

use super::super::printer::{Printer, Report};
use super::super::step_lines::step_printer;
use crate::diagnosis::prove::{ProveOutput, prove};
use crate::installation::home::Home;
use crate::installation::limit::Limit;
use crate::installation::runtime;
use crate::installation::steps::wrong;

/// How long all of it may take; what it left is gone a moment later.
const TIME: Duration = Duration::from_secs(30);
/// How long what was begun may take to end once the user has ended it.
const END_TIME: Duration = Duration::from_secs(5);

/// Does everything. Exits 0 if nothing failed, 1 if something did.
///
/// # Errors
/// When the temporary folder cannot be used; `cancelled` when the user ends it.
pub fn run(home: &Home, printer: Printer) -> Result<Report, Failure> {
    let limit = Limit::within(TIME);
    let (says, hears) = tokio::sync::oneshot::channel();
    let worker = thread::Builder::new().name("prove".to_owned()).spawn({
        let (home, limit) = (home.clone(), limit.clone());
        move || {
            // Nobody hears it once the user has ended it.
            let _ = says.send(prove(&home, step_printer(printer), limit));
        }
    });
    let worker = worker.map_err(|error| {
        Failure::new(ErrorCode::ProviderUnavailable, format!("the system gives no thread: {error}"))
    })?;
    let runtime = runtime::small()?;
    let done = runtime.block_on(async {
        tokio::select! {
            done = hears => Some(done),
            () = runtime::asked_to_stop() => None,
        }
    });
    match done {
        Some(Ok(proved)) => proved.map(|output| report(&output)),
        // Its sender went with it.
        Some(Err(_)) => Err(wrong("doctor --prove broke off")),
        None => {
            limit.end();
            // What it made goes with it.
            Limit::default().wait_for(END_TIME, || worker.is_finished().then_some(()));
            Err(Failure::new(ErrorCode::Cancelled, "it was ended before it was done"))
        }
    }
}

fn report(output: &ProveOutput) -> Report {
    let counts = &output.counts;
    let text = format!("\n{} ok, {} skipped, {} failed\n", counts.ok, counts.skipped, counts.failed);
    let exit = if output.ok { 0 } else { ErrorCode::ExecutionFailed.facts().exit_code };
    Report { exit, ..Report::of(text, output) }
}
