//! `history.connections`: who uses a scope, with which client, over which transport.

use super::query::{self, LimitOptions, QueryInput};
use super::sessions::{SessionSummary, count};
use crate::registry::prelude::*;
use bailiwick_history::GroupBy;

/// The operation.
pub struct Op;

/// The connections.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// The callers, each with client and transport, the latest first.
    pub connections: Vec<SessionSummary>,
    /// Whether there are more, or older operations that were not counted.
    pub truncated: bool,
    /// Give this as `options.cursor` to count the operations before those counted here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

impl Operation for Op {
    const SPEC: OperationSpec = OperationSpec {
        name: "history.connections",
        summary: "Count the operations of the scope by caller, client and transport",
        details: "Looks at the newest 20,000 operations; `options.cursor` continues before them.",
        capabilities: &[&[Capability::HistoryRead]],
        effect: Effect::ReadOnly,
        target: TargetRule::None,
        scope: ScopeNeed::In(&[ScopeType::Folder, ScopeType::Computer]),
        options: &[CommonOption::Cursor],
        audited_fields: &["query", "limit"],
        example: r#"{"op":"history.connections"}"#,
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
        let (connections, truncated, next_cursor) = count(cx, permit, GroupBy::Connection, input, options)?;
        cx.summarize(query::counted(connections.len(), "connection"));
        Ok(Output { connections, truncated, next_cursor })
    }
}
