//! The order of the proof, its bound of time, and its end by the user.

use std::thread;
use std::time::{Duration, Instant};

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;

use crate::adapters::cli::child::{McpChild, USUAL};
use crate::adapters::cli::exposures::tried;
use crate::adapters::cli::home::Home;
use crate::adapters::cli::limit::Limit;
use crate::adapters::cli::printer::{Printer, Report};
use crate::adapters::cli::runtime;
use crate::adapters::cli::steps::{Step, StepCounts, Steps, wrong};
use crate::adapters::cli::try_folder::{leave, rows};
use bailiwick_config::Reachability;
use bailiwick_contract::{ErrorCode, Failure};

use super::installation::{OUTSIDE, ProofInstallation, SECRET};
use super::{clients, code, files, git, handshakes, held, http, processes, refusals, running, screens, undo};

/// How long all of it may take; what it left is gone a moment later.
const TIME: Duration = Duration::from_secs(18);
/// How long a round trip through a public URL may take.
const TRIP_TIME: Duration = Duration::from_secs(5);
/// How long what was begun may take to end once the user has ended it.
const END_TIME: Duration = Duration::from_secs(5);

/// `doctor --prove`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProveOutput {
    /// Whether nothing failed.
    pub ok: bool,
    /// The version of this program.
    pub version: &'static str,
    /// How many steps went how.
    pub counts: StepCounts,
    /// How long all took, in milliseconds.
    pub duration_ms: f64,
    /// Every step, in order.
    pub steps: Vec<Step>,
}

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
            let _ = says.send(prove(&home, printer, limit));
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
        Some(Ok(report)) => report,
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

fn prove(home: &Home, printer: Printer, limit: Limit) -> Result<Report, Failure> {
    let began = Instant::now();
    let proof = ProofInstallation::new()?;
    let mut steps = Steps::new(printer, limit);
    in_the_throw_away_installation(&mut steps, &proof);
    running::running(&mut steps, home);
    exposures(&mut steps, home);
    clients::clients(&mut steps, home);
    // Before the report: what is told is that all is over.
    drop(proof);
    let counts = steps.counts();
    let text = format!("\n{} ok, {} skipped, {} failed\n", counts.ok, counts.skipped, counts.failed);
    let (exit, told) = steps.finish();
    let output = ProveOutput {
        ok: counts.failed == 0,
        version: env!("CARGO_PKG_VERSION"),
        counts,
        duration_ms: began.elapsed().as_secs_f64() * 1_000.0,
        steps: told,
    };
    let json = serde_json::to_value(&output).expect("an output has a JSON form");
    Ok(Report { exit, ..Report::new(text, json) })
}

/// The URLs by which clients elsewhere reach this computer: each has to lead here.
fn exposures(steps: &mut Steps, home: &Home) {
    steps.group("Public URL");
    let all = home.config().map(|config| tried(home, &config, steps.limit().left(TRIP_TIME)));
    for tried in all.unwrap_or_default() {
        steps.step("a round trip", || match tried.exposure.reachability {
            Reachability::Reachable => Ok(((), tried.says())),
            Reachability::Unreachable | Reachability::Unchecked => Err(wrong(tried.says())),
        });
    }
}

fn in_the_throw_away_installation(steps: &mut Steps, proof: &ProofInstallation) {
    handshakes::handshakes(steps, proof);
    let limit = steps.limit().clone();
    let started = steps.step("the client for what follows", || {
        let mut child = McpChild::start(&proof.place.folder(), &limit)?;
        child.initialize("bailiwick-prove", USUAL)?;
        Ok((child, "connected".to_owned()))
    });
    let Some(mut child) = started else { return };
    files::reads(steps, &mut child);
    files::writes(steps, &mut child, proof);
    undo::undo(steps, &mut child, proof);
    code::code(steps, &mut child);
    git::git(steps, &mut child, proof);
    refusals::refusals(steps, &mut child, proof);
    held::held(steps, &mut child, proof);
    processes::processes(steps, &mut child, proof);
    screens::screens(steps, &mut child);
    http::http(steps, proof);
    steps.group("History");
    steps.step("what was written down", || written(&mut child));
    leave(steps, child, &proof.place);
}

/// Holds the history to what was done: every call, the refused ones too, and nothing of what is closed.
fn written(child: &mut McpChild) -> Result<((), String), Failure> {
    let history = child.call("get_operation_history", json!({"scope": "test", "limit": 200}))?;
    let rows = rows(&history["data"]).ok_or_else(|| wrong("no rows"))?;
    let refused = rows.iter().filter(|row| row["code"].is_string()).count();
    let text = history.to_string();
    if text.contains(SECRET) || text.contains(OUTSIDE) {
        return Err(wrong("a secret is in it"));
    }
    if rows.len() < 15 || refused < 6 {
        return Err(wrong(format!("{} rows, {refused} of them refused", rows.len())));
    }
    Ok(((), format!("{} operations, {refused} of them refused, and no secret", rows.len())))
}
