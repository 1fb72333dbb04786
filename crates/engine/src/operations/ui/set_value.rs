//! `ui.set_value`: set the value of an element.

use super::acting::{ACTION, ActionOutput, ElementName};
use super::content::{Setting, set_one};
use crate::registry::prelude::*;

/// The operation.
pub struct Op;

/// What to set.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Input {
    /// The whole new text of a field, or the number of a slider or spin button.
    pub value: String,
}

impl Operation for Op {
    const SPEC: OperationSpec = OperationSpec {
        name: "ui.set_value",
        summary: "Set the value of an element",
        details: "Replaces the whole text of a field, or sets the number of a slider or spin button, without pointer and focus. \
                  The element is found again first, as for ui.press. The value is read back: `confirmed` where it is what was \
                  set, `partial` where the program made something else of it, `suspected_noop` where it stayed as it was. \
                  Secure fields are neither read nor set.",
        example: r#"{"op":"ui.set_value","target":"T1@s_0a1b2c3d4e","input":{"value":"Ada"}}"#,
        ..ACTION
    };
    type Input = Input;
    type Options = NoFields;
    type Output = ActionOutput;
    const JUDGED: JudgedFields<Input> = JudgedFields::NONE;
}

impl RunBlocking for Op {
    fn run(cx: &Context, permit: &Permit, input: &Input, _: &NoFields) -> Result<ActionOutput, Failure> {
        let name = ElementName::of_target(permit)?;
        let (found, setting) = Setting::find(cx, permit, name, ("input.value", &input.value))?;
        set_one(cx, permit, &found, &setting)
    }
}
