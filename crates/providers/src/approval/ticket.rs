//! A ticket: what needs approval, and what was decided.

use serde::{Deserialize, Serialize};

use bailiwick_contract::{Caller, Capability, id, time};
use bailiwick_platform::machine::BootMoment;

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
    /// The files to open so that it is not asked again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files_to_open: Vec<String>,
    /// The hosts to allow so that it is not asked again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts_to_add: Vec<String>,
    /// Whether an approval is for every such use in the client's session, and not for one request.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_first_use: bool,
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
    /// Whether an approval of the one request waits for its preview, whose changes it takes over.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub awaits_preview: bool,
    /// When it was opened, in milliseconds since the epoch.
    pub opened_at_ms: i64,
    /// When it expires.
    pub expires_at_ms: i64,
    /// When it was opened, by a clock that nobody sets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opened: Option<BootMoment>,
}

/// The present moment, by the computer's clock and by one that nobody sets.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Moment {
    /// In milliseconds since the epoch.
    pub wall_ms: i64,
    /// Where the system has it.
    pub boot: Option<BootMoment>,
}

impl Moment {
    /// Returns the present one.
    pub fn now() -> Self {
        Self { wall_ms: time::now_ms(), boot: BootMoment::now() }
    }
}

impl Ticket {
    /// The form that this version writes.
    pub const VERSION: u32 = 1;
    /// How long a ticket waits for an answer: a day.
    pub const LIFE_MS: i64 = 24 * 60 * 60 * 1_000;

    /// Creates the ticket of a request that names nothing yet: what needs approval, and why, comes from elsewhere.
    pub fn new(caller: &Caller, operation_id: String, key: String) -> Self {
        let opened_at_ms = time::now_ms();
        Self {
            version: Self::VERSION,
            id: id::new_id(),
            key,
            scope: String::new(),
            op: String::new(),
            effect: String::new(),
            target: None,
            commands: Vec::new(),
            containment: None,
            fields: Vec::new(),
            capabilities: Vec::new(),
            why: Vec::new(),
            rules_to_remove: Vec::new(),
            rules_to_add: Vec::new(),
            files_to_open: Vec::new(),
            hosts_to_add: Vec::new(),
            is_first_use: false,
            has_rule: false,
            caller: caller.name.clone(),
            caller_id: caller.identity().to_owned(),
            client: caller.client.clone(),
            transport: caller.transport.as_str().to_owned(),
            session: caller.client_session().map(str::to_owned),
            operation_id,
            client_may_answer: false,
            awaits_preview: false,
            opened_at_ms,
            expires_at_ms: opened_at_ms + Self::LIFE_MS,
            opened: BootMoment::now(),
        }
    }

    /// Returns whether it is a ticket that this version can read.
    pub(super) fn is_sound(&self) -> bool {
        self.version == Self::VERSION && id::is_id(&self.id) && is_key(&self.key)
    }

    /// Returns whether its time is over.
    pub fn is_expired(&self, now: &Moment) -> bool {
        is_over(self.opened_at_ms, self.expires_at_ms, Self::LIFE_MS, self.opened.as_ref(), now)
    }

    /// Returns for what a plain approval of it counts, and for how long: the one request, or the session that uses something
    /// the first time.
    pub fn plain_approval(&self) -> (ApprovalTerm, i64) {
        match (self.is_first_use, &self.session) {
            (false, _) => (ApprovalTerm::Once, Decision::ONCE_MS),
            (true, Some(session)) => (ApprovalTerm::Session { session: session.clone() }, Decision::MAX_MS),
            (true, None) => (ApprovalTerm::Time, Decision::MAX_MS),
        }
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
    /// The SHA-256 of the changes of its preview, where exactly these are taken over and the command does not run again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changes_sha256: Option<String>,
    /// When, in milliseconds since the epoch.
    pub at_ms: i64,
    /// Until when it counts.
    pub expires_at_ms: i64,
    /// When it was decided, by a clock that nobody sets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decided: Option<BootMoment>,
}

impl Decision {
    /// How long an approval for one request waits for that request: an hour.
    pub const ONCE_MS: i64 = 60 * 60 * 1_000;
    /// The longest time for which something is approved: a day.
    pub const MAX_MS: i64 = 24 * 60 * 60 * 1_000;
    /// How long a refusal answers further requests of the same kind: ten minutes.
    pub const REFUSAL_MS: i64 = 10 * 60 * 1_000;

    /// Returns whether its time is over.
    pub fn is_expired(&self, now: &Moment) -> bool {
        is_over(self.at_ms, self.expires_at_ms, Self::MAX_MS, self.decided.as_ref(), now)
    }
}

/// Counts the time that has really passed, so that no change of the computer's clock makes anything last longer or shorter. The
/// computer's clock counts alone after the computer was started again, and where the system has no other; there a clock that
/// was set back makes nothing last longer.
fn is_over(
    began_ms: i64,
    expires_ms: i64,
    longest_ms: i64,
    began: Option<&BootMoment>,
    now: &Moment,
) -> bool {
    let Some(life_ms) = expires_ms.checked_sub(began_ms).filter(|it| (0..=longest_ms).contains(it)) else {
        return true;
    };
    match began.and_then(|began| began.elapsed_ms(now.boot.as_ref())) {
        Some(elapsed_ms) => !(0..life_ms).contains(&elapsed_ms),
        None => now.wall_ms >= expires_ms || now.wall_ms < began_ms,
    }
}

/// Returns whether a text is a key: 64 hexadecimal digits.
pub(super) fn is_key(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: i64 = 60 * 60 * 1_000;
    const NOON: i64 = 20_000 * 24 * HOUR;

    fn over(began: Option<&BootMoment>, wall_ms: i64, boot: Option<(&str, i64)>) -> bool {
        let boot = boot.map(|(boot, uptime_ms)| BootMoment { boot: boot.to_owned(), uptime_ms });
        is_over(NOON, NOON + HOUR, 24 * HOUR, began, &Moment { wall_ms, boot })
    }

    #[test]
    fn a_clock_that_jumps_makes_no_approval_last_longer_or_shorter() {
        let began = BootMoment { boot: "one".to_owned(), uptime_ms: 5 * HOUR };
        for wall_ms in [NOON - 400 * HOUR, NOON, NOON + 400 * HOUR] {
            assert!(!over(Some(&began), wall_ms, Some(("one", 6 * HOUR - 1))), "{wall_ms}");
            assert!(over(Some(&began), wall_ms, Some(("one", 6 * HOUR))), "{wall_ms}");
            assert!(over(Some(&began), wall_ms, Some(("one", 4 * HOUR))), "{wall_ms}");
        }
    }

    #[test]
    fn after_a_start_of_the_computer_its_clock_counts_and_one_set_back_ends_it() {
        let began = BootMoment { boot: "one".to_owned(), uptime_ms: 5 * HOUR };
        for began in [Some(&began), None] {
            for boot in [Some(("two", 5 * HOUR + 1)), None] {
                assert!(!over(began, NOON + HOUR - 1, boot));
                assert!(over(began, NOON + HOUR, boot));
                assert!(over(began, NOON - 1, boot));
            }
        }
        let now = Moment { wall_ms: NOON, boot: None };
        assert!(is_over(NOON, NOON + 25 * HOUR, 24 * HOUR, None, &now), "longer than anything may last");
        assert!(is_over(NOON, i64::MAX, 24 * HOUR, None, &now));
        assert!(is_over(i64::MIN, i64::MAX, 24 * HOUR, None, &now));
    }
}
