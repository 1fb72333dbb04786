//! `dialog.input`: set a field of a dialog.

use bailiwick_providers::elements::text_fields;

use super::super::ui::{ActionOutput, Setting, none_named, set_one, several_named};
use super::answering::{ANSWER, Dialog};
use crate::registry::prelude::*;

/// The operation.
pub struct Op;

/// What to set.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Input {
    /// The whole new text.
    pub text: String,
    /// The id of the field in the snapshot, such as `T1`; default the only text field.
    pub field: Option<String>,
}

impl Operation for Op {
    const SPEC: OperationSpec = OperationSpec {
        name: "dialog.input",
        summary: "Set a field of a dialog",
        details: "Does what ui.set_value does with a field of the dialog. The target is a snapshot from dialog.list. Dialogs that \
                  ask for a secret are the user's to answer.",
        example: r#"{"op":"dialog.input","target":"s_0a1b2c3d4e","input":{"text":"Report"}}"#,
        ..ANSWER
    };
    type Input = Input;
    type Options = NoFields;
    type Output = ActionOutput;
    const JUDGED: JudgedFields<Input> = JudgedFields::NONE;
}

impl RunBlocking for Op {
    fn run(cx: &Context, permit: &Permit, input: &Input, _: &NoFields) -> Result<ActionOutput, Failure> {
        let dialog = Dialog::of_target(cx, permit)?;
        let element = match (&input.field, &text_fields(&dialog.snapshot)[..]) {
            (Some(field), _) => field.clone(),
            (None, [one]) => one.clone(),
            (None, []) => {
                let why = "the dialog has no text field".to_owned();
                return Err(
                    none_named("input.field", why, []).hint("ui.see lists the elements of the dialog.")
                );
            }
            (None, fields) => {
                let why = "the dialog has several text fields".to_owned();
                return Err(several_named("input.field", why, dialog.candidates(fields))
                    .hint("Name the field by its id, which is first in its line of `candidates`."));
            }
        };
        let found = dialog.element(&element)?;
        let setting = Setting::of(&found.element, ("input.text", &input.text))?;
        set_one(cx, permit, &found, &setting)
    }
}
