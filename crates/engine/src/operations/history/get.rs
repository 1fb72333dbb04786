//! `history.get`: all that is known about one operation.

use super::query::{self, OperationRecord};
use crate::registry::prelude::*;
use bailiwick_contract::ErrorCode;
use bailiwick_history::State;

/// The operation.
pub struct Op;

/// The operation and its rows.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// The operation as it ended; as it began where its end is not recorded.
    pub operation: OperationRecord,
    /// Its rows in the history, oldest first.
    pub rows: Vec<RecordedRow>,
}

/// One row of the history.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RecordedRow {
    /// The number of the row in the chain.
    pub seq: i64,
    /// `received` before an effect, `finished` at the end.
    pub phase: &'static str,
}

impl Operation for Op {
    const SPEC: OperationSpec = OperationSpec {
        name: "history.get",
        summary: "Show all that is known about one operation",
        details: "The target is the operation's id, as in `operationId` of every result.",
        capabilities: &[&[Capability::HistoryRead]],
        effect: Effect::ReadOnly,
        target: TargetRule::Id("an operation's id"),
        scope: ScopeNeed::In(&[ScopeType::Folder, ScopeType::Computer]),
        example: r#"{"op":"history.get","target":"01JD0000000000000000000000"}"#,
        ..OperationSpec::USUAL
    };
    type Input = NoFields;
    type Options = NoFields;
    type Output = Output;
    const JUDGED: JudgedFields<NoFields> = JudgedFields::NONE;
}

impl RunBlocking for Op {
    fn run(cx: &Context, permit: &Permit, _: &NoFields, _: &NoFields) -> Result<Output, Failure> {
        let id = permit.id().unwrap_or_default();
        if !bailiwick_contract::id::is_id(id) {
            return Err(Failure::invalid("target", "`target` is not an operation's id")
                .hint("Use the `operationId` of a result; history.timeline lists them."));
        }
        let rows = cx
            .history
            .rows_of(&query::scope_id(permit)?, id, &cx.cancel)
            .map_err(|error| query::unreadable(cx, &error))?;
        let recorded = rows.iter().map(|row| RecordedRow {
            seq: row.seq,
            phase: if row.state == State::Unfinished { "received" } else { "finished" },
        });
        let recorded = recorded.collect();
        let Some(last) = rows.into_iter().next_back() else {
            return Err(Failure::new(
                ErrorCode::NotFound,
                format!("the history of this scope contains no operation {id}"),
            )
            .hint("List the operations with history.timeline; old ones are removed after a time."));
        };
        Ok(Output { operation: OperationRecord::of(last, true), rows: recorded })
    }
}
