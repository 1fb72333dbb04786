//! `display.get`: one private display.

use crate::registry::prelude::*;

use super::status::{DisplayStatus, MANAGING, owner};

/// The operation.
pub struct Op;

impl Operation for Op {
    const SPEC: OperationSpec = OperationSpec {
        name: "display.get",
        summary: "Show one of your private displays",
        details: "Its size, when it ends, what it lacks, and what was started there.",
        example: r#"{"op":"display.get","target":":107"}"#,
        ..MANAGING
    };
    type Input = NoFields;
    type Options = NoFields;
    type Output = DisplayStatus;
    const JUDGED: JudgedFields<NoFields> = JudgedFields::NONE;
}

impl RunBlocking for Op {
    fn run(cx: &Context, permit: &Permit, _: &NoFields, _: &NoFields) -> Result<DisplayStatus, Failure> {
        let found = cx.service.private_displays.get(&owner(cx, permit)?, permit.id())?;
        Ok(DisplayStatus::of(&found))
    }
}
