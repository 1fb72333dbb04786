//! `workspace.list`: the workspaces of a display.

use super::super::screen::shown_title;
use super::super::window::refused;
use crate::registry::prelude::*;

/// The operation.
pub struct Op;

/// The workspaces.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// The display.
    pub display: String,
    /// Its workspaces, by number.
    pub workspaces: Vec<WorkspaceEntry>,
}

/// A workspace.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorkspaceEntry {
    /// Its number.
    pub workspace: usize,
    /// Its name, as the window manager says.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// Whether it is the one that shows.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub current: bool,
}

impl Operation for Op {
    const SPEC: OperationSpec = OperationSpec {
        name: "workspace.list",
        summary: "List workspaces",
        details: "Of a display of X11 with a window manager. window.list says which windows are on each.",
        capabilities: &[&[Capability::WindowRead]],
        effect: Effect::ReadOnly,
        target: TargetRule::OptionalId("the id of a display; default the primary one"),
        scope: ScopeNeed::DESKTOP,
        platforms: &["linux"],
        example: r#"{"op":"workspace.list"}"#,
        ..OperationSpec::USUAL
    };
    type Input = NoFields;
    type Options = NoFields;
    type Output = Output;
    const JUDGED: JudgedFields<NoFields> = JudgedFields::NONE;
}

impl RunBlocking for Op {
    fn run(cx: &Context, permit: &Permit, _: &NoFields, _: &NoFields) -> Result<Output, Failure> {
        let all = cx.service.displays.workspaces(permit.id()).map_err(refused)?;
        let is_current = |number: usize| u32::try_from(number) == Ok(all.current);
        let workspaces = all.names.iter().enumerate().map(|(workspace, name)| WorkspaceEntry {
            workspace,
            name: shown_title(name),
            current: is_current(workspace),
        });
        let output = Output { workspaces: workspaces.collect(), display: all.display.clone() };
        cx.summarize(format!("{} workspaces", output.workspaces.len()));
        Ok(output)
    }
}
