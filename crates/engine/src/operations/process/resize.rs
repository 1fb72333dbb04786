//! `process.resize`: change the size of a process's terminal.

use std::sync::Arc;

use crate::registry::prelude::*;
use bailiwick_contract::ErrorCode;
use bailiwick_platform::launch::kept::ControlError;
use bailiwick_providers::terminal::{SizeChange, add_size_change, no_terminal};

use super::write::refused;
use crate::programs::TerminalSize;
use crate::programs::target;

/// The operation.
pub struct Op;

/// The new size.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Input {
    /// How many rows: 1 to 500.
    pub rows: u16,
    /// How many columns: 1 to 1000.
    pub columns: u16,
}

/// The size that holds now.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// The process.
    pub process_id: String,
    /// How many rows its terminal has.
    pub rows: u16,
    /// How many columns.
    pub columns: u16,
}

impl Operation for Op {
    const SPEC: OperationSpec = OperationSpec {
        name: "process.resize",
        summary: "Change the size of a process's terminal",
        details: "Its programs are told (by SIGWINCH, or by their console), and most redraw.",
        capabilities: &[&[Capability::ProcessManage]],
        effect: Effect::RunsCode,
        target: TargetRule::Id("the processId"),
        scope: ScopeNeed::FOLDER,
        threads: Threads::Async,
        audited_fields: &["rows", "columns"],
        example: r#"{"op":"process.resize","target":"01JD0000000000000000000000","input":{"rows":40,"columns":120}}"#,
        ..OperationSpec::USUAL
    };
    type Input = Input;
    type Options = NoFields;
    type Output = Output;
    const JUDGED: JudgedFields<Input> = JudgedFields::NONE;
}

impl RunAsync for Op {
    async fn run(cx: &Context, permit: &Permit, input: &Input, _: &NoFields) -> Result<Output, Failure> {
        let Input { rows, columns } = *input;
        let new = TerminalSize { rows, columns }.check("input")?;
        let process = target(cx, permit)?;
        let status = process.status()?;
        let old = status.terminal.ok_or_else(|| no_terminal(&process.facts.id))?;
        let mut control = process.control().await?;
        control.resize(new).await.map_err(|error| match error {
            ControlError::NoTerminal => no_terminal(&process.facts.id),
            ControlError::System(why) => not_resized(&process.facts.id, &why),
            other => refused(&process, &other),
        })?;
        if old != new {
            let change = SizeChange { position: status.end, old, new };
            let noted = Arc::clone(&process);
            let noted = tokio::task::spawn_blocking(move || add_size_change(noted.folder(), change)).await;
            if !matches!(noted, Ok(Ok(()))) {
                cx.warn("when the size changed could not be noted: a screen that is redrawn may differ");
            }
        }
        cx.summarize(format!("{columns} columns, {rows} rows"));
        Ok(Output { process_id: process.facts.id.clone(), rows, columns })
    }
}

fn not_resized(process_id: &str, why: &str) -> Failure {
    Failure::new(
        ErrorCode::ExecutionFailed,
        format!("the terminal of process {process_id} keeps its size, as the system says: {why}"),
    )
}
