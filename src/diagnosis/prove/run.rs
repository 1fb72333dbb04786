//! The order of the proof.

use std::time::{Duration, Instant};

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;

use bailiwick_config::Reachability;
use bailiwick_contract::Failure;

use crate::diagnosis::trial::{leave, rows};
use crate::installation::child::{McpChild, USUAL};
use crate::installation::home::Home;
use crate::installation::limit::Limit;
use crate::installation::steps::{ShowStep, Step, StepCounts, Steps, wrong};
use crate::public_urls::exposures::tried;

use super::installation::{OUTSIDE, ProofInstallation, SECRET};
use super::{
    clients, code, commands, desktop, files, git, handshakes, over_http, processes, refusals, running,
    screens, undo,
};

/// How long a round trip through a public URL may take.
const TRIP_TIME: Duration = Duration::from_secs(5);
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

/// Does everything, and shows each step.
///
/// # Errors
/// When the temporary folder cannot be used.
pub fn prove(home: &Home, show: ShowStep, limit: Limit) -> Result<ProveOutput, Failure> {
    let began = Instant::now();
    let proof = ProofInstallation::new()?;
    let mut steps = Steps::new(show, limit);
    in_the_throw_away_installation(&mut steps, &proof, home);
    running::running(&mut steps, home);
    exposures(&mut steps, home);
    clients::clients(&mut steps, home);
    // Before the report: what is told is that all is over.
    drop(proof);
    let counts = steps.counts();
    Ok(ProveOutput {
        ok: counts.failed == 0,
        version: env!("CARGO_PKG_VERSION"),
        counts,
        duration_ms: began.elapsed().as_secs_f64() * 1_000.0,
        steps: steps.finish(),
    })
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

fn in_the_throw_away_installation(steps: &mut Steps, proof: &ProofInstallation, home: &Home) {
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
    commands::commands(steps, &mut child, proof);
    processes::processes(steps, &mut child, proof);
    screens::screens(steps, &mut child, &home.dirs);
    desktop::desktop(steps, &mut child, proof);
    over_http::over_http(steps, proof);
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
