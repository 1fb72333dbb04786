//! What the view shows, and its form for programs.

use schemars::JsonSchema;
use serde::Serialize;

use bailiwick_contract::time::rfc3339;
use bailiwick_history::{Entry, State};

/// How a request stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RequestState {
    /// It has gone on for a while and has not ended; it is told of again when it has.
    Running,
    /// It succeeded.
    Ok,
    /// The policy refused it.
    Refused,
    /// It needs approval.
    Asks,
    /// It failed, or was ended.
    Failed,
}

/// Something that happened, as `serve --log --json` prints it after its first line.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(tag = "event", rename_all = "kebab-case", rename_all_fields = "camelCase")]
pub enum Event {
    /// A request.
    Request {
        /// Its id in the history.
        operation_id: String,
        /// When it came, in RFC 3339.
        at: String,
        /// Its state.
        standing: RequestState,
        /// How long it took, in milliseconds; null while it runs.
        duration_ms: Option<f64>,
        /// Who asked, as the history names them.
        caller: String,
        /// What the client calls itself.
        client: Option<String>,
        /// How it arrived.
        transport: String,
        /// The scope; null where there was none.
        scope: Option<String>,
        /// The operation.
        op: String,
        /// The target, redacted.
        target: Option<String>,
        /// The error's code; null if it succeeded or runs.
        code: Option<String>,
        /// The result in a few words, or the error's message, redacted.
        says: Option<String>,
    },
    /// Requests that are not told of one by one, since too many came at once. Only where people read.
    Many {
        /// How many.
        count: usize,
        /// How many of them did not succeed.
        not_ok: usize,
    },
    /// A secret that a client asks the user for.
    Waiting {
        /// By which `approve` knows it.
        id: String,
        /// Who asks.
        caller: String,
        /// The scope of the process that is to get it.
        scope: String,
        /// The process.
        process_id: String,
        /// The client's words.
        text: String,
        /// The command that answers it.
        answer: String,
    },
    /// A request that needs the user's approval.
    Approval {
        /// By which `approve` knows it.
        id: String,
        /// Who asks.
        caller: String,
        /// The scope.
        scope: String,
        /// The operation.
        op: String,
        /// The command or the target, redacted.
        what: String,
        /// The command that answers it.
        answer: String,
    },
    /// The history tells of itself, or cannot be read.
    Notice {
        /// What it says.
        text: String,
    },
    /// The service has ended.
    Stopped {
        /// How many requests it saw.
        requests: u64,
        /// How many processes that clients started keep running.
        processes: usize,
    },
}

impl Event {
    /// Creates the event of a row of the history.
    pub fn of(entry: &Entry) -> Self {
        let standing = match (entry.state, entry.code.as_deref(), &entry.stage) {
            (State::Notice, _, _) => {
                let text = entry.summary.clone().filter(|text| !text.is_empty());
                return Self::Notice { text: text.unwrap_or_else(|| "the history was tidied up".to_owned()) };
            }
            (State::Unfinished, _, _) => RequestState::Running,
            (State::Finished, None, _) => RequestState::Ok,
            (State::Finished, Some("approval_required"), _) => RequestState::Asks,
            (State::Finished, Some(_), Some(_)) => RequestState::Refused,
            (State::Finished, Some(_), None) => RequestState::Failed,
        };
        #[expect(clippy::cast_precision_loss, reason = "no request takes as long as 2^53 microseconds")]
        let took = entry.duration_us as f64 / 1_000.0;
        Self::Request {
            operation_id: entry.operation_id.clone(),
            at: rfc3339(entry.at_ms),
            standing,
            duration_ms: (standing != RequestState::Running).then_some(took),
            caller: entry.caller.clone(),
            client: entry.client.clone(),
            transport: entry.transport.clone(),
            scope: (!entry.scope.is_empty()).then(|| entry.scope.clone()),
            op: entry.op.clone(),
            target: entry.target.clone(),
            code: entry.code.clone(),
            says: entry.error.clone().or_else(|| entry.summary.clone()).filter(|text| !text.is_empty()),
        }
    }
}
