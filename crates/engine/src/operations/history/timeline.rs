//! `history.timeline`: the operations of a scope, newest first.

use super::query::{self, OperationRecord, QueryInput};
use crate::registry::prelude::*;
use bailiwick_contract::{Detail, ErrorCode};
use bailiwick_history::Filter;

/// The operation.
pub struct Op;

/// Which operations to show.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct Options {
    /// How many to show; default 50, at most 500.
    pub limit: Option<usize>,
    /// Only this operation, such as `file.read`, or a family, such as `file.`.
    pub op: Option<String>,
    /// Only those that succeeded (true), or only those that failed (false).
    pub ok: Option<bool>,
    /// Only those that failed with this code.
    pub code: Option<ErrorCode>,
    /// Only those that began at this time or later: RFC 3339 in UTC, or a date.
    pub since: Option<String>,
    /// Only those that began at this time or earlier.
    pub until: Option<String>,
    /// Only those of this caller.
    pub caller: Option<String>,
    /// Only those of this session.
    pub session: Option<String>,
}

/// The operations.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// The operations, newest first.
    pub operations: Vec<OperationRecord>,
    /// Whether there may be more. A rare filter looks at a bounded number of rows for each answer, so
    /// that an answer can hold few operations, or none, and still say where to continue.
    pub truncated: bool,
    /// Give this as `options.cursor` to continue.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

impl Operation for Op {
    const SPEC: OperationSpec = OperationSpec {
        name: "history.timeline",
        summary: "Show the operations of the scope, newest first",
        details: "One entry for each operation. `unfinished` ones were about to have an effect when they were \
                  recorded, and their end was not: they run still, or were cut off.",
        capabilities: &[&[Capability::HistoryRead]],
        effect: Effect::ReadOnly,
        target: TargetRule::None,
        scope: ScopeNeed::In(&[ScopeType::Folder, ScopeType::Computer]),
        options: &[CommonOption::Cursor, CommonOption::Detail],
        audited_fields: &["query", "limit", "op", "ok", "code", "since", "until", "caller", "session"],
        example: r#"{"op":"history.timeline","options":{"limit":20,"ok":false}}"#,
        ..OperationSpec::USUAL
    };
    type Input = QueryInput;
    type Options = Options;
    type Output = Output;
    const JUDGED: JudgedFields<QueryInput> = JudgedFields::NONE;
}

impl RunBlocking for Op {
    fn run(cx: &Context, permit: &Permit, input: &QueryInput, options: &Options) -> Result<Output, Failure> {
        if options.ok == Some(true) && options.code.is_some() {
            return Err(Failure::invalid("options.code", "what succeeded has no error code")
                .hint("Leave out `options.ok` or `options.code`."));
        }
        let filter = Filter {
            scope: Some(query::scope_id(permit)?),
            op: options.op.clone(),
            text: input.query.clone(),
            ok: options.ok,
            code: options.code.map(|code| code.as_str().to_owned()),
            caller: options.caller.clone(),
            client: None,
            session: options.session.clone(),
            since_ms: query::moment("options.since", options.since.as_deref())?,
            until_ms: query::moment("options.until", options.until.as_deref())?,
            cursor: query::cursor(permit)?,
            limit: query::limit(options.limit, 50)?,
        };
        let page = cx.history.query(&filter, &cx.cancel).map_err(|error| query::unreadable(cx, &error))?;
        let full = permit.common().detail == Detail::Full;
        let shown = page.entries.into_iter().map(|entry| OperationRecord::of(entry, full)).collect();
        let (operations, cut) = query::fit(shown, permit.limits().max_output_bytes);
        let next_cursor = match operations.last() {
            Some(last) if cut => Some(last.operation_id.clone()),
            _ => page.next,
        };
        cx.summarize(query::counted(operations.len(), "operation"));
        Ok(Output { operations, truncated: next_cursor.is_some(), next_cursor })
    }
}
