//! `ui.press`: press an element.

use crate::registry::prelude::*;
use bailiwick_platform::accessibility::{Ability, Role};
use bailiwick_platform::program_error::ProgramError;

use super::acting::{ACTION, Action, ActionOutput, CurrentElement, ElementName, act, find};
use super::refusal::failed;

/// The operation.
pub struct Op;

impl Operation for Op {
    const SPEC: OperationSpec = OperationSpec {
        name: "ui.press",
        summary: "Press an element of a window",
        details: "Does what a click on the element does, without pointer and focus. The element is found again first, and \
                  nothing is done unless it is plainly the one that ui.see has shown. `effect` is read back: `confirmed` \
                  where the element, another of the window or the windows of the program changed, `suspected_noop` where a \
                  check box or toggle did not, else `unverifiable`. Nothing is pressed in terminals.",
        example: r#"{"op":"ui.press","target":"B3@s_0a1b2c3d4e"}"#,
        ..ACTION
    };
    type Input = NoFields;
    type Options = NoFields;
    type Output = ActionOutput;
    const JUDGED: JudgedFields<NoFields> = JudgedFields::NONE;
}

impl RunBlocking for Op {
    fn run(cx: &Context, permit: &Permit, _: &NoFields, _: &NoFields) -> Result<ActionOutput, Failure> {
        press(cx, permit, &find(cx, permit, ElementName::of_target(permit)?)?)
    }
}

/// Presses an element that was found again.
///
/// # Errors
/// A code for each reason. After `target_unresponsive` it may be done, or still be.
pub(in crate::operations) fn press(
    cx: &Context,
    permit: &Permit,
    found: &CurrentElement,
) -> Result<ActionOutput, Failure> {
    let element = &found.element;
    // Activating a field sends the form that it is in.
    if !element.abilities.has(Ability::Act) || element.role == Role::TextField {
        return Err(failed(ProgramError::Unable.into()));
    }
    let action = Action {
        verbs: ("press", "pressed"),
        path: "action",
        act: &|source, display, id| source.press(display, id),
        is_done: None,
        toggles: matches!(element.role, Role::CheckBox | Role::Switch | Role::ToggleButton),
    };
    act(cx, permit, found, &action)
}
