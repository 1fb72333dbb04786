//! What `history …` prints with `--json`.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use bailiwick_contract::time::rfc3339;
use bailiwick_history::{Entry, State};

use super::undo_state::{UndoState, UndoStateOutput};

/// One operation, as the history keeps it. `log --follow` and `watch` prints one on each line.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EntryOutput {
    /// The operation's id.
    pub operation_id: String,
    /// How far it got.
    pub state: State,
    /// When it began (RFC 3339).
    pub at: String,
    /// How long it took, in milliseconds.
    pub duration_ms: f64,
    /// The size of the answer's data, in bytes.
    pub bytes: i64,
    /// The computer's id.
    pub machine_id: String,
    /// The caller's name.
    pub caller: String,
    /// What the client called itself.
    pub client: Option<String>,
    /// The connection that it came by.
    pub session: Option<String>,
    /// The transport.
    pub transport: String,
    /// The scope; null where none was named.
    pub scope: Option<String>,
    /// The operation.
    pub op: String,
    /// The target, redacted.
    pub target: Option<String>,
    /// The capability by which it was permitted.
    pub capability: Option<String>,
    /// The stage of the policy that refused it.
    pub stage: Option<String>,
    /// The rule that refused it.
    pub rule: Option<String>,
    /// The error code; null if it succeeded or its end is not recorded.
    pub code: Option<String>,
    /// The result in a few words.
    pub summary: Option<String>,
    /// The error's message, redacted.
    pub error: Option<String>,
    /// What was kept of `input` and `options`, and the names of what was left out.
    pub template: Option<Map<String, Value>>,
    /// The row's hash in the chain.
    pub hash: String,
    /// Whether it can be taken back; absent for what changes nothing, and in rows that are followed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undo: Option<UndoStateOutput>,
}

impl EntryOutput {
    /// Describes an entry.
    pub fn of(entry: &Entry) -> Self {
        Self {
            operation_id: entry.operation_id.clone(),
            state: entry.state,
            at: rfc3339(entry.at_ms),
            duration_ms: entry.duration_us as f64 / 1_000.0,
            bytes: entry.bytes,
            machine_id: entry.machine.clone(),
            caller: entry.caller.clone(),
            client: entry.client.clone(),
            session: entry.session.clone(),
            transport: entry.transport.clone(),
            scope: Some(entry.scope.clone()).filter(|scope| !scope.is_empty()),
            op: entry.op.clone(),
            target: entry.target.clone(),
            capability: entry.capability.clone(),
            stage: entry.stage.clone(),
            rule: entry.rule.clone(),
            code: entry.code.clone(),
            summary: entry.summary.clone(),
            error: entry.error.clone(),
            template: entry.template.as_deref().and_then(|text| serde_json::from_str(text).ok()),
            hash: entry.hash.clone(),
            undo: None,
        }
    }

    /// As [`EntryOutput::of`], with whether it can be taken back.
    pub fn with_undo(entry: &Entry, undo: Option<&UndoState>) -> Self {
        Self { undo: undo.map(UndoState::output), ..Self::of(entry) }
    }
}

/// `log`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TimelineOutput {
    /// Always true.
    pub ok: bool,
    /// The operations, newest first.
    pub operations: Vec<EntryOutput>,
    /// Where to continue with `--cursor`; null at the end.
    pub next_cursor: Option<String>,
}

/// `log last`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct LastOutput {
    /// Always true.
    pub ok: bool,
    /// The last operation; null if there was none.
    pub operation: Option<EntryOutput>,
    /// What to do next.
    pub next: Option<String>,
}

/// `log show`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct GetOutput {
    /// Always true.
    pub ok: bool,
    /// The operation.
    pub operation: EntryOutput,
}

/// A request that failed.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FailedOutput {
    /// The operation's id.
    pub operation_id: String,
    /// When it began (RFC 3339).
    pub at: String,
    /// The error code.
    pub code: Option<String>,
    /// The error's message, redacted.
    pub error: Option<String>,
    /// The request as an envelope to send again.
    pub envelope: Value,
    /// The fields that were not kept and have to be added again.
    pub left_out: Vec<String>,
}

/// `log replay`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FailedReplayOutput {
    /// Always true.
    pub ok: bool,
    /// The requests, newest first.
    pub failed: Vec<FailedOutput>,
    /// Where to continue with `--cursor`; null at the end.
    pub next_cursor: Option<String>,
}

/// Operations that came the same way.
#[derive(Debug, Serialize, JsonSchema)]
pub struct WayOutput {
    /// The connection; null where connections are not told apart.
    pub session: Option<String>,
    /// The caller's name.
    pub caller: String,
    /// What the client called itself.
    pub client: Option<String>,
    /// The transport.
    pub transport: String,
    /// When the first operation began (RFC 3339).
    pub first: String,
    /// When the last one began (RFC 3339).
    pub last: String,
    /// How many there were.
    pub operations: u64,
    /// How many of them failed.
    pub failed: u64,
}

/// `log sessions`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SessionsOutput {
    /// Always true.
    pub ok: bool,
    /// The connections, the latest first.
    pub sessions: Vec<WayOutput>,
    /// Where to continue with `--cursor`; null at the end.
    pub next_cursor: Option<String>,
}

/// `log clients`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ConnectionsOutput {
    /// Always true.
    pub ok: bool,
    /// Who connects in which way, the latest first.
    pub connections: Vec<WayOutput>,
    /// Where to continue with `--cursor`; null at the end.
    pub next_cursor: Option<String>,
}
