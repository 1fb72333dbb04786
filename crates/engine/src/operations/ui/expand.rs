//! `ui.expand`: open or close what an element holds.

use bailiwick_platform::accessibility::{Ability, State};
use bailiwick_platform::program_error::ProgramError;
use bailiwick_providers::elements::WindowScene;

use super::acting::{ACTION, Action, ActionOutput, CurrentElement, ElementName, act, find};
use super::refusal::failed;
use crate::registry::prelude::*;

/// The operation.
pub struct Op;

/// What opening and closing is called.
const NAMES: &[&str] =
    &["expand or contract", "expand or collapse", "toggle expand", "activate", "click", "press", "toggle"];

/// Whether to open or close.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Input {
    /// Whether it is to be open; default true.
    pub open: Option<bool>,
}

impl Operation for Op {
    const SPEC: OperationSpec = OperationSpec {
        name: "ui.expand",
        summary: "Open or close what an element holds",
        details: "For rows of trees, and whatever else folds. Nothing is done where it is so already. The element is found again \
                  first, as for ui.press, and its state is read back.",
        audited_fields: &["open"],
        example: r#"{"op":"ui.expand","target":"W2@s_0a1b2c3d4e"}"#,
        ..ACTION
    };
    type Input = Input;
    type Options = NoFields;
    type Output = ActionOutput;
    const JUDGED: JudgedFields<Input> = JudgedFields::NONE;
}

impl RunBlocking for Op {
    fn run(cx: &Context, permit: &Permit, input: &Input, _: &NoFields) -> Result<ActionOutput, Failure> {
        let found = find(cx, permit, ElementName::of_target(permit)?)?;
        let CurrentElement { element, .. } = &found;
        if !element.states.has(State::Expandable) || !element.abilities.has(Ability::Act) {
            return Err(failed(ProgramError::Unable.into()));
        }
        let open = input.open.unwrap_or(true);
        let id = &element.id;
        let is_so = |scene: &WindowScene| {
            let now = scene.tree.elements.iter().find(|it| it.id == *id);
            now.is_some_and(|it| it.states.has(State::Expanded) == open)
        };
        let action = Action {
            verbs: if open { ("open", "opened") } else { ("close", "closed") },
            path: "action",
            act: &|source, display, id| source.act(display, id, NAMES),
            is_done: Some(&is_so),
            toggles: false,
        };
        act(cx, permit, &found, &action)
    }
}
