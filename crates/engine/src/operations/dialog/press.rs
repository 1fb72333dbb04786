//! `dialog.press`: press a button of a dialog.

use bailiwick_providers::elements::{buttons, buttons_titled, quoted};

use super::super::ui::{ActionOutput, none_named, press, several_named};
use super::answering::{ANSWER, Dialog};
use crate::registry::prelude::*;

/// The operation.
pub struct Op;

/// Which button.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Input {
    /// The whole title of the button, such as `Save`. Dots at its end do not count.
    pub button: String,
}

impl Operation for Op {
    const SPEC: OperationSpec = OperationSpec {
        name: "dialog.press",
        summary: "Press a button of a dialog",
        details: "Does what ui.press does with the only button of the dialog that has the title. The target is a snapshot from \
                  dialog.list. Dialogs that ask for a secret are the user's to answer.",
        example: r#"{"op":"dialog.press","target":"s_0a1b2c3d4e","input":{"button":"Save"}}"#,
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
        let titled = buttons_titled(&dialog.snapshot, &input.button);
        let title = quoted(&input.button);
        let element = match &titled[..] {
            [one] => one,
            [] => {
                let why = format!("the dialog has no button {title}");
                return Err(none_named("input.button", why, dialog.candidates(&buttons(&dialog.snapshot)))
                    .hint("Use the whole title of a button in `candidates`."));
            }
            _ => {
                let why = format!("the dialog has several buttons {title}");
                return Err(several_named("input.button", why, dialog.candidates(&titled)).hint(
                    "Use ui.press with the element's id, which is first in its line of `candidates`.",
                ));
            }
        };
        press(cx, permit, &dialog.element(element)?)
    }
}
