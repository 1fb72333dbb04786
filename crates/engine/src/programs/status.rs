//! How a process stands, as every operation of the family shows it.

use schemars::JsonSchema;
use serde::Serialize;

use crate::registry::Context;
use bailiwick_contract::{ErrorCode, Failure, signal, time};
use bailiwick_platform::launch::kept::Status;
use bailiwick_policy::Permit;
use bailiwick_providers::command::describe_memory_excess;
use bailiwick_providers::process::Process;

/// How a process stands.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProcessStatus {
    /// The process.
    pub process_id: String,
    /// `starting`, `running`, `ended`, `failed` (a later command of it could not be started), or `lost` (what kept
    /// it was killed, so that its end is not known).
    pub status: String,
    /// The exit code of its last command; `null` while it runs, or if a signal ended it.
    pub exit_code: Option<i32>,
    /// The signal that ended it, such as `SIGTERM`; `null` if none did.
    pub signal: Option<String>,
    /// `true` if it was ended because its time was over.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub timed_out: bool,
    /// When it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<String>,
    /// Why it failed, or was ended for taking too much memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// Returns how a process stood when its status was read.
pub fn of_status(process: &Process, status: Status) -> ProcessStatus {
    let excess = status.memory_excess.map(|excess| describe_memory_excess(excess, &process.facts.scope));
    ProcessStatus {
        process_id: process.facts.id.clone(),
        status: status.state.name().to_owned(),
        exit_code: status.exit_code,
        signal: status.signal.map(signal::name),
        timed_out: status.timed_out,
        ended_at: status.ended_at_ms.map(time::rfc3339),
        problem: status.failure.or(excess),
    }
}

/// Warns of what a process has left for Git to run later, if it is over.
pub fn warn_of_what_is_left(cx: &Context, process: &Process) {
    process.warnings().into_iter().for_each(|warning| cx.warn(warning));
}

/// Finds the process that is the permit's target, in the permit's scope and nowhere else.
///
/// # Errors
/// `process_not_found`.
pub fn target(cx: &Context, permit: &Permit) -> Result<std::sync::Arc<Process>, Failure> {
    let scope = permit.needed_scope()?;
    let Some(id) = permit.id() else {
        return Err(Failure::new(ErrorCode::InvalidRequest, "no process is named"));
    };
    cx.service.processes.find(scope.id(), id)
}
