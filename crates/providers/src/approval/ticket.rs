//! A ticket: what needs approval, and what was decided.

use serde::{Deserialize, Serialize};

use bailiwick_contract::{Capability, id};

/// One request that needs approval. It holds no secret: its texts were redacted before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Ticket {
    /// The form of this file.
    pub version: u32,
    /// Names the ticket.
    pub id: String,
    /// What an answer is bound to: caller, scope, operation, target, every field, the commands and their containment.
    pub key: String,
    /// The scope.
    pub scope: String,
    /// The operation.
    pub op: String,
    /// What kind of effect it has, such as `runsCode`.
    pub effect: String,
    /// The target, resolved.
    pub target: Option<String>,
    /// The commands that would start, one a line.
    pub commands: Vec<String>,
    /// What would contain them.
    pub containment: Option<String>,
    /// The other fields of the request, in short.
    pub fields: Vec<String>,
    /// The capabilities that need approval.
    pub capabilities: Vec<Capability>,
    /// Why it is asked.
    pub why: Vec<String>,
    /// The rules of the scope to remove so that it is not asked again.
    pub rules_to_remove: Vec<String>,
    /// The rules to add so that it is not asked again.
    pub rules_to_add: Vec<String>,
    /// Whether some change of the rules keeps it from being asked again.
    pub has_rule: bool,
    /// The caller, by the name that the user gave it.
    pub caller: String,
    /// Whose it is: the id of the token, or `local`.
    pub caller_id: String,
    /// What the client calls itself; proof of nothing.
    pub client: Option<String>,
    /// How the request arrived.
    pub transport: String,
    /// The session of the client, where it has one.
    pub session: Option<String>,
    /// The operation's id in the history.
    pub operation_id: String,
    /// Whether an answer that is given in the client counts.
    pub client_may_answer: bool,
    /// When it was opened, in milliseconds since the epoch.
    pub opened_at_ms: i64,
    /// When it expires.
    pub expires_at_ms: i64,
}

impl Ticket {
    /// The form that this version writes.
    pub const VERSION: u32 = 1;
    /// How long a ticket waits for an answer: a day.
    pub const LIFE_MS: i64 = 24 * 60 * 60 * 1_000;

    /// Returns whether it is a ticket that this version can read.
    pub(super) fn is_sound(&self) -> bool {
        self.version == Self::VERSION && id::is_id(&self.id) && is_key(&self.key)
    }

    /// Returns whether its time is over.
    pub fn is_expired(&self, now_ms: i64) -> bool {
        is_over(self.opened_at_ms, self.expires_at_ms, Self::LIFE_MS, now_ms)
    }
}

/// For how long an approval counts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "for")]
pub enum ApprovalTerm {
    /// For one request.
    Once,
    /// For this session of the client.
    Session {
        /// The session.
        session: String,
    },
    /// For every such request until the approval expires.
    Time,
}

/// What was decided about a ticket.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Decision {
    /// The ticket.
    pub ticket: Ticket,
    /// For how long it is approved; `None` where it is refused.
    pub approved: Option<ApprovalTerm>,
    /// Whether it was answered in the client, and not by the user with `bailiwick approve`.
    pub is_of_client: bool,
    /// When, in milliseconds since the epoch.
    pub at_ms: i64,
    /// Until when it counts.
    pub expires_at_ms: i64,
}

impl Decision {
    /// How long an approval for one request waits for that request: an hour.
    pub const ONCE_MS: i64 = 60 * 60 * 1_000;
    /// The longest time for which something is approved: a day.
    pub const MAX_MS: i64 = 24 * 60 * 60 * 1_000;
    /// How long a refusal answers further requests of the same kind: ten minutes.
    pub const REFUSAL_MS: i64 = 10 * 60 * 1_000;

    /// Returns whether its time is over.
    pub fn is_expired(&self, now_ms: i64) -> bool {
        is_over(self.at_ms, self.expires_at_ms, Self::MAX_MS, now_ms)
    }
}

/// A clock that was set back makes nothing last longer.
fn is_over(began_ms: i64, expires_ms: i64, longest_ms: i64, now_ms: i64) -> bool {
    now_ms >= expires_ms || now_ms < began_ms || expires_ms - began_ms > longest_ms
}

/// Returns whether a text is a key: 64 hexadecimal digits.
pub(super) fn is_key(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}
