//! `history.sessions`: the operations of a scope, counted by the connection that they came by.

use super::query::{self, LimitOptions, QueryInput};
use crate::registry::prelude::*;
use bailiwick_contract::time::rfc3339;
use bailiwick_history::{Group, GroupBy};

/// The operation.
pub struct Op;

/// The sessions.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// The sessions, the latest first.
    pub sessions: Vec<SessionSummary>,
    /// Whether there are more, or older operations that were not counted.
    pub truncated: bool,
    /// Give this as `options.cursor` to count the operations before those counted here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// Operations that came the same way.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SessionSummary {
    /// The session's id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The caller's name.
    pub caller: String,
    /// What the client called itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
    /// How it came: `stdio`, `http`, `json_api`, `socket` or `cli`.
    pub transport: String,
    /// When the first operation began, RFC 3339 in UTC.
    pub first_at: String,
    /// When the last one began.
    pub last_at: String,
    /// How many operations there were.
    pub operations: u64,
    /// How many of them failed.
    pub failed: u64,
    /// How many of them have no recorded end.
    pub unfinished: u64,
}

impl SessionSummary {
    fn of(group: Group) -> Self {
        Self {
            session: group.session,
            caller: group.caller,
            client: group.client,
            transport: group.transport,
            first_at: rfc3339(group.first_ms),
            last_at: rfc3339(group.last_ms),
            operations: group.operations,
            failed: group.failed,
            unfinished: group.unfinished,
        }
    }
}

/// What was counted, whether something was left out, and where to continue.
pub(super) type Tally = (Vec<SessionSummary>, bool, Option<String>);

/// Counts the operations of the permitted scope.
pub(super) fn count(
    cx: &Context,
    permit: &Permit,
    by: GroupBy,
    input: &QueryInput,
    options: &LimitOptions,
) -> Result<Tally, Failure> {
    let (scope, cursor) = (query::scope_id(permit)?, query::cursor(permit)?);
    let limit = query::limit(options.limit, 50)?;
    let groups = cx
        .history
        .groups(&scope, by, cursor.as_deref(), &cx.cancel)
        .map_err(|error| query::unreadable(cx, &error))?;
    let needle = input.query.as_deref().unwrap_or_default().to_lowercase();
    let is_asked = |group: &Group| {
        [group.session.as_deref(), Some(&group.caller), group.client.as_deref(), Some(&group.transport)]
            .iter()
            .flatten()
            .any(|text| text.to_lowercase().contains(&needle))
    };
    let mut counted: Vec<SessionSummary> =
        groups.groups.into_iter().filter(is_asked).map(SessionSummary::of).collect();
    let cut = counted.len() > limit;
    counted.truncate(limit);
    let (counted, cut_again) = query::fit(counted, permit.limits().max_output_bytes);
    Ok((counted, cut || cut_again || groups.next.is_some(), groups.next))
}

impl Operation for Op {
    const SPEC: OperationSpec = OperationSpec {
        name: "history.sessions",
        summary: "Count the operations of the scope by session",
        details: "Looks at the newest 20,000 operations; `options.cursor` continues before them.",
        capabilities: &[&[Capability::HistoryRead]],
        effect: Effect::ReadOnly,
        target: TargetRule::None,
        scope: ScopeNeed::In(&[ScopeType::Folder, ScopeType::Computer]),
        options: &[CommonOption::Cursor],
        audited_fields: &["query", "limit"],
        example: r#"{"op":"history.sessions"}"#,
        ..OperationSpec::USUAL
    };
    type Input = QueryInput;
    type Options = LimitOptions;
    type Output = Output;
    const JUDGED: JudgedFields<QueryInput> = JudgedFields::NONE;
}

impl RunBlocking for Op {
    fn run(
        cx: &Context,
        permit: &Permit,
        input: &QueryInput,
        options: &LimitOptions,
    ) -> Result<Output, Failure> {
        let (sessions, truncated, next_cursor) = count(cx, permit, GroupBy::Session, input, options)?;
        cx.summarize(query::counted(sessions.len(), "session"));
        Ok(Output { sessions, truncated, next_cursor })
    }
}
