//! `ui.focus`: give an element the keyboard of its window.

use bailiwick_contract::ErrorCode;
use bailiwick_platform::accessibility::State;
use bailiwick_platform::program_error::ProgramError;
use bailiwick_providers::elements::WindowScene;

use super::acting::{ACTION, Action, ActionOutput, CurrentElement, ElementName, act, find};
use super::refusal::failed;
use crate::registry::prelude::*;

/// The operation.
pub struct Op;

impl Operation for Op {
    const SPEC: OperationSpec = OperationSpec {
        name: "ui.focus",
        summary: "Give an element the keyboard",
        details: "Moves the keyboard within the window that the user works in; no other window is raised for it. The element is \
                  found again first, as for ui.press, and `confirmed` says that it has the keyboard.",
        example: r#"{"op":"ui.focus","target":"T1@s_0a1b2c3d4e"}"#,
        ..ACTION
    };
    type Input = NoFields;
    type Options = NoFields;
    type Output = ActionOutput;
    const JUDGED: JudgedFields<NoFields> = JudgedFields::NONE;
}

impl RunBlocking for Op {
    fn run(cx: &Context, permit: &Permit, _: &NoFields, _: &NoFields) -> Result<ActionOutput, Failure> {
        let found = find(cx, permit, ElementName::of_target(permit)?)?;
        let CurrentElement { scene, element } = &found;
        if !element.states.has(State::Focusable) {
            return Err(failed(ProgramError::Unable.into()));
        }
        // Programs raise the window of what gets the keyboard.
        if !scene.window.active {
            return Err(Failure::new(ErrorCode::UnsupportedAction, "the user works in another window")
                .hint("window.focus raises a window, where a scope allows it; ui.press and ui.set_value need no keyboard."));
        }
        let id = &element.id;
        let is_focused = |scene: &WindowScene| {
            scene.tree.elements.iter().any(|it| it.id == *id && it.states.has(State::Focused))
        };
        let action = Action {
            verbs: ("focus", "focused"),
            path: "focus",
            act: &|source, display, id| source.focus(display, id),
            is_done: Some(&is_focused),
            toggles: false,
        };
        act(cx, permit, &found, &action)
    }
}
