//! What the history records about a request.

use serde_json::Value;

use bailiwick_contract::{Caller, Capability, ErrorCode, Transport, id, time};

/// Which moment of a request a row tells of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Phase {
    /// It was permitted and is about to have an effect.
    Received,
    /// It ended: answered, refused or failed.
    Finished,
}

/// One row before redaction.
#[derive(Debug, Clone)]
pub struct EventDraft {
    /// The request's id; both phases carry the same.
    pub operation_id: String,
    /// Which moment it tells of.
    pub phase: Phase,
    /// When, in milliseconds since the epoch.
    pub at_ms: i64,
    /// The caller's name.
    pub caller: String,
    /// What the client calls itself.
    pub client: Option<String>,
    /// Groups the requests of one connection.
    pub session: Option<String>,
    /// How it arrived.
    pub transport: Transport,
    /// The scope, once resolved; else as named.
    pub scope: Option<String>,
    /// The operation's name as asked.
    pub op: String,
    /// The target as asked.
    pub target: Option<String>,
    /// The capability by which it was permitted.
    pub capability: Option<Capability>,
    /// The policy stage that refused.
    pub stage: Option<String>,
    /// The rule that refused.
    pub rule: Option<String>,
    /// Why there is no result; `None` if it succeeded (or has not ended).
    pub code: Option<ErrorCode>,
    /// How long it took, in microseconds.
    pub duration_us: u64,
    /// The size of the answer's data, in bytes.
    pub bytes: u64,
    /// The result in a few words.
    pub summary: String,
    /// The error's message.
    pub error: Option<String>,
    /// The envelope without payloads: what a replay starts from.
    pub template: Value,
    /// Whether the operation has an effect: the row that it begins with must survive power loss.
    pub has_effect: bool,
}

impl EventDraft {
    /// Creates the row with which a request of a caller begins now, with an id of its own and no further facts.
    pub fn new(caller: &Caller, op: &str) -> Self {
        Self {
            operation_id: id::new_id(),
            phase: Phase::Received,
            at_ms: time::now_ms(),
            caller: caller.name.clone(),
            client: caller.client.clone(),
            session: caller.session.clone(),
            transport: caller.transport,
            scope: None,
            op: op.to_owned(),
            target: None,
            capability: None,
            stage: None,
            rule: None,
            code: None,
            duration_us: 0,
            bytes: 0,
            summary: String::new(),
            error: None,
            template: Value::Null,
            has_effect: false,
        }
    }
}
