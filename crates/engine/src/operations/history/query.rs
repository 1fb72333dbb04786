//! How the history's operations are shown, and what the views share in reading their fields.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::registry::Context;
use bailiwick_contract::limits::within;
use bailiwick_contract::time::{parse_rfc3339, rfc3339};
use bailiwick_contract::{ErrorCode, Failure, id};
use bailiwick_history::{Entry, HistoryReadError, State};
use bailiwick_policy::Permit;

/// What is looked for.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct QueryInput {
    /// Only what has this text in its operation, target, summary, error, caller or client, whatever the
    /// case of letters.
    pub query: Option<String>,
}

/// How many are shown.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct LimitOptions {
    /// How many to show at most, 1 to 500.
    pub limit: Option<usize>,
}

/// One operation of the history.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OperationRecord {
    /// The operation's id; history.get shows all that is known about it.
    pub operation_id: String,
    /// When it began, RFC 3339 in UTC.
    pub at: String,
    /// The operation's name.
    pub op: String,
    /// The target as asked, redacted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// `finished`, or `unfinished` where its end is not recorded: it runs still, or was cut off.
    pub state: State,
    /// Whether it succeeded; absent while it is unfinished.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ok: Option<bool>,
    /// The error code, if it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// The error's message, redacted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The result in a few words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// How long it took, in milliseconds; absent while it is unfinished.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<f64>,
    /// The caller's name.
    pub caller: String,
    /// What the client called itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
    /// The rest, with `detail` `full`.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub rest: Option<RecordDetail>,
}

/// What `detail` `full` adds.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RecordDetail {
    /// The connection that it came by.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// How it arrived: `stdio`, `http`, `json_api`, `socket` or `cli`.
    pub transport: String,
    /// The capability by which it was permitted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capability: Option<String>,
    /// The policy stage that refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stage: Option<String>,
    /// The rule that refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// The size of the answer's data, in bytes.
    pub bytes: i64,
    /// Whether the operation can have an effect.
    pub has_effect: bool,
    /// What was kept of the envelope's `input` and `options`, and in `leftOut` what was not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kept: Option<Value>,
}

impl OperationRecord {
    /// Shows an entry, `full` with everything that is known.
    pub fn of(entry: Entry, full: bool) -> Self {
        let ended = entry.state != State::Unfinished;
        let kept = if full { kept(&entry) } else { None };
        let rest = if full {
            Some(RecordDetail {
                session: entry.session,
                transport: entry.transport,
                capability: entry.capability,
                stage: entry.stage,
                rule: entry.rule,
                bytes: entry.bytes,
                has_effect: entry.has_effect,
                kept,
            })
        } else {
            None
        };
        Self {
            operation_id: entry.operation_id,
            at: rfc3339(entry.at_ms),
            op: entry.op,
            target: entry.target,
            state: entry.state,
            ok: ended.then_some(entry.code.is_none()),
            code: entry.code,
            error: entry.error,
            summary: entry.summary,
            duration_ms: ended.then_some(entry.duration_us as f64 / 1_000.0),
            caller: entry.caller,
            client: entry.client,
            rest,
        }
    }
}

/// Returns what the history kept of the envelope's fields.
pub fn kept(entry: &Entry) -> Option<Value> {
    serde_json::from_str(entry.template.as_deref()?).ok()
}

/// Finds an error code by its name.
pub fn code_named(name: &str) -> Option<ErrorCode> {
    ErrorCode::ALL.iter().copied().find(|code| code.as_str() == name)
}

/// Returns the id of the permitted scope: the only one whose rows may be shown.
pub fn scope_id(permit: &Permit) -> Result<String, Failure> {
    let scope = permit.needed_scope()?;
    Ok(scope.id().to_owned())
}

/// Reads `options.limit`.
pub fn limit(asked: Option<usize>, default: usize) -> Result<usize, Failure> {
    within("limit", asked, default, 1..=500)
}

/// Reads `options.cursor`.
pub fn cursor(permit: &Permit) -> Result<Option<String>, Failure> {
    let cursor = permit.common().cursor.clone();
    if cursor.as_deref().is_some_and(|cursor| !id::is_id(cursor)) {
        return Err(Failure::invalid("options.cursor", "`options.cursor` is not a cursor of the history")
            .hint("Use the `nextCursor` of an earlier result, or leave the cursor out."));
    }
    Ok(cursor)
}

/// Reads a point in time.
pub fn moment(field: &str, text: Option<&str>) -> Result<Option<i64>, Failure> {
    let Some(text) = text else { return Ok(None) };
    parse_rfc3339(text).map(Some).ok_or_else(|| {
        Failure::invalid(field, format!("`{field}` must be a time such as 2026-11-21T10:26:56Z, or a date"))
    })
}

/// Returns why the history cannot be read; a raised flag comes first.
pub fn unreadable(cx: &Context, error: &HistoryReadError) -> Failure {
    if let Err(stopped) = cx.cancel.check() {
        return stopped;
    }
    Failure::new(ErrorCode::ProviderUnavailable, error.to_string())
        .hint("Try again; a damaged history is set aside and a new one begun.")
        .hint("For the user: `bailiwick status` says what is wrong with the history.")
}

/// Returns how many there are of something.
pub fn counted(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

/// Keeps the items that fit into a result, and shows whether any was left out.
pub fn fit<T: Serialize>(items: Vec<T>, max_output_bytes: usize) -> (Vec<T>, bool) {
    // Room for the names of the fields around the list.
    let mut room = max_output_bytes.saturating_sub(512);
    let all = items.len();
    let mut kept = Vec::with_capacity(all);
    for item in items {
        let bytes = serde_json::to_string(&item).map_or(usize::MAX, |text| text.len() + 1);
        // One item is always shown, or a client could not get past it.
        if bytes > room && !kept.is_empty() {
            break;
        }
        room = room.saturating_sub(bytes);
        kept.push(item);
    }
    let cut = kept.len() < all;
    (kept, cut)
}
