//! `display.list`: the caller's private displays.

use crate::registry::prelude::*;

use super::status::{DisplayStatus, MANAGING, owner};

/// The operation.
pub struct Op;

/// The displays.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// Your private displays in this scope.
    pub displays: Vec<DisplayStatus>,
}

impl Operation for Op {
    const SPEC: OperationSpec = OperationSpec {
        name: "display.list",
        summary: "List your private displays",
        details: "Displays of other callers and of other scopes are not among them.",
        target: TargetRule::None,
        example: r#"{"op":"display.list"}"#,
        ..MANAGING
    };
    type Input = NoFields;
    type Options = NoFields;
    type Output = Output;
    const JUDGED: JudgedFields<NoFields> = JudgedFields::NONE;
}

impl RunBlocking for Op {
    fn run(cx: &Context, permit: &Permit, _: &NoFields, _: &NoFields) -> Result<Output, Failure> {
        let found = cx.service.private_displays.list(&owner(cx, permit)?);
        cx.summarize(format!("{} displays", found.len()));
        Ok(Output { displays: found.iter().map(DisplayStatus::of).collect() })
    }
}
