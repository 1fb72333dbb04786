//! `dialog.dismiss`: close a dialog without doing what it offers.

use bailiwick_contract::ErrorCode;
use bailiwick_providers::elements::dismissing_button;

use super::super::ui::{ActionOutput, press};
use super::answering::{ANSWER, Dialog};
use crate::registry::prelude::*;

/// The operation.
pub struct Op;

impl Operation for Op {
    const SPEC: OperationSpec = OperationSpec {
        name: "dialog.dismiss",
        summary: "Close a dialog without doing what it offers",
        details: "Presses the only button that is called Cancel, in any of some 20 languages, or OK or Close where the dialog has \
                  no other. Where no button plainly leaves everything as it is, none is pressed. The target is a snapshot from \
                  dialog.list.",
        example: r#"{"op":"dialog.dismiss","target":"s_0a1b2c3d4e"}"#,
        ..ANSWER
    };
    type Input = NoFields;
    type Options = NoFields;
    type Output = ActionOutput;
    const JUDGED: JudgedFields<NoFields> = JudgedFields::NONE;
}

impl RunBlocking for Op {
    fn run(cx: &Context, permit: &Permit, _: &NoFields, _: &NoFields) -> Result<ActionOutput, Failure> {
        let dialog = Dialog::of_target(cx, permit)?;
        let element = dismissing_button(&dialog.snapshot).ok_or_else(|| {
            Failure::new(
                ErrorCode::AmbiguousTarget,
                "no button of the dialog plainly leaves everything as it is",
            )
            .hint("Choose one of its buttons: dialog.press.")
        })?;
        press(cx, permit, &dialog.element(&element)?)
    }
}
