//! The lines of the local socket's protocol, both ways.
//!
//! Strict: an unknown field or kind of line is an error. Both sides are the same version of the same
//! program as a rule; [`PROTOCOL`] says so when they are not.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use bailiwick_contract::{ErrorCode, Failure, Image, Reply, Transport, id, time};

use crate::scope_setup::offer::Offer;

/// The version of the protocol that this build speaks.
pub(super) const PROTOCOL: u32 = 3;

/// The first line of a connection: who is there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hello {
    /// The version of the protocol.
    pub protocol: u32,
    /// Which adapter sends: `stdio`, `cli` or `socket`.
    pub transport: Transport,
    /// The name of the token whose grants the connection is restricted to; none for the local user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub caller: Option<String>,
}

impl Hello {
    /// Creates the first line for an adapter, restricted to a named profile if one is given.
    pub fn new(transport: Transport, caller: Option<String>) -> Self {
        Self { protocol: PROTOCOL, transport, caller }
    }
}

/// A line to the service.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) enum SocketLine {
    /// The first line.
    Hello(Hello),
    /// A request.
    Request(Request),
    /// What is open to the caller?
    Offer { id: u64 },
    /// Stop a request.
    Cancel { id: u64 },
}

/// One request.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Request {
    /// Chosen by the client, unique among its requests in flight.
    pub id: u64,
    /// The envelope.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub envelope: Option<Value>,
    /// Why the adapter could not make an envelope; recorded and answered all the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<WireFailure>,
    /// What the client calls itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
    /// Groups the requests of one client.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Whether the client wants to be told how far the operation is.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub progress: bool,
}

/// A line from the service.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Answer {
    /// The caller is allowed in.
    Welcome { protocol: u32, version: String },
    /// The caller is not; the connection closes.
    Refused(WireFailure),
    /// The result of a request.
    Outcome { id: u64, ok: bool, outcome: Box<RawValue>, images: Vec<Image> },
    /// What is open to the caller.
    Offer { id: u64, offer: Offer },
    /// How far a request is that is in the works.
    Progress { id: u64, said: String },
    /// A line could not be read; what it asked is not done.
    Problem { message: String },
}

impl Answer {
    /// Creates the line for the result of a request.
    pub fn outcome(id: u64, reply: Reply) -> Self {
        let Reply { ok, text, images } = reply;
        let outcome = RawValue::from_string(text).expect("a reply is JSON text");
        Self::Outcome { id, ok, outcome, images }
    }
}

/// A failure on the wire.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WireFailure {
    code: ErrorCode,
    message: String,
    #[serde(default)]
    hints: Vec<String>,
    #[serde(default)]
    details: Map<String, Value>,
}

impl From<Failure> for WireFailure {
    fn from(failure: Failure) -> Self {
        let Failure { code, message, hints, details } = failure;
        Self { code, message, hints, details }
    }
}

impl From<WireFailure> for Failure {
    fn from(wire: WireFailure) -> Self {
        let WireFailure { code, message, hints, details } = wire;
        Self { code, message, hints, details }
    }
}

/// Returns the bytes of a line.
pub(super) fn line<T: Serialize>(message: &T) -> Vec<u8> {
    let mut bytes = serde_json::to_vec(message).expect("the lines of the protocol have a JSON form");
    bytes.push(b'\n');
    bytes
}

/// Creates the reply to a request that reached no service; no history knows its id.
pub(in super::super) fn unanswered(scope: Option<&str>, op: &str, failure: &Failure) -> Reply {
    let object = json!({
        "ok": false,
        "operationId": id::new_id(),
        "scope": scope,
        "op": op,
        "startedAt": time::rfc3339(time::now_ms()),
        "durationMs": 0.0,
        "error": failure.to_json(),
    });
    Reply { ok: false, text: object.to_string(), images: Vec::new() }
}
