//! `workspace.move_window`: move a window to another workspace.

use bailiwick_platform::screen::WindowChange;

use super::super::window::{CHANGE, changed};
use super::number::WorkspaceInput;
use crate::registry::prelude::*;

/// The operation.
pub struct Op;

/// What came of it.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// As in window.focus.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effect: Option<&'static str>,
    /// The number of the workspace that the window is on now, if it is on one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workspace: Option<u32>,
    /// `true` if nothing was done, since `options.dryRun` was set.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub dry_run: bool,
}

impl Operation for Op {
    const SPEC: OperationSpec = OperationSpec {
        name: "workspace.move_window",
        summary: "Move a window to another workspace",
        details: "It is out of sight there until that workspace shows.",
        platforms: &["linux"],
        audited_fields: &["workspace"],
        example: r#"{"op":"workspace.move_window","target":":0/0x1a00003","input":{"workspace":1}}"#,
        ..CHANGE
    };
    type Input = WorkspaceInput;
    type Options = NoFields;
    type Output = Output;
    const JUDGED: JudgedFields<WorkspaceInput> = JudgedFields::NONE;
}

impl RunBlocking for Op {
    fn run(cx: &Context, permit: &Permit, input: &WorkspaceInput, _: &NoFields) -> Result<Output, Failure> {
        input.check(cx, permit.id())?;
        let moved = changed(cx, permit, WindowChange::Workspace(input.workspace))?;
        Ok(Output {
            effect: moved.effect.map(|effect| effect.as_str()),
            workspace: moved.after.and_then(|window| window.workspace),
            dry_run: permit.common().dry_run,
        })
    }
}
