//! `workspace.switch`: show another workspace.

use bailiwick_providers::screen::switch_workspace;

use super::super::window::{CHANGE, refused};
use super::number::WorkspaceInput;
use crate::registry::prelude::*;

/// The operation.
pub struct Op;

/// What came of it.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// `confirmed`: read back as requested. `partial`: another one shows. `suspected_noop`: the same one shows as before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effect: Option<&'static str>,
    /// The number of the workspace that shows now.
    pub workspace: u32,
    /// `true` if nothing was done, since `options.dryRun` was set.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub dry_run: bool,
}

impl Operation for Op {
    const SPEC: OperationSpec = OperationSpec {
        name: "workspace.switch",
        summary: "Show another workspace",
        details: "Anyone who looks at the display sees it switch. Windows stay on their workspaces.",
        target: TargetRule::OptionalId("the id of a display; default the primary one"),
        platforms: &["linux"],
        audited_fields: &["workspace"],
        example: r#"{"op":"workspace.switch","input":{"workspace":1}}"#,
        ..CHANGE
    };
    type Input = WorkspaceInput;
    type Options = NoFields;
    type Output = Output;
    const JUDGED: JudgedFields<WorkspaceInput> = JudgedFields::NONE;
}

impl RunBlocking for Op {
    fn run(cx: &Context, permit: &Permit, input: &WorkspaceInput, _: &NoFields) -> Result<Output, Failure> {
        let before = input.check(cx, permit.id())?;
        if permit.common().dry_run {
            cx.summarize("judged only");
            return Ok(Output { effect: None, workspace: before.current, dry_run: true });
        }
        let displays = &cx.service.displays;
        let (after, effect) =
            switch_workspace(displays, &before, input.workspace, &cx.cancel).map_err(refused)?;
        cx.summarize(effect.as_str());
        Ok(Output { effect: Some(effect.as_str()), workspace: after.current, dry_run: false })
    }
}
