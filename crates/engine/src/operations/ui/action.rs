//! `ui.action`: do a named action of an element.

use bailiwick_contract::ErrorCode;

use super::acting::{ACTION, Action, ActionOutput, ElementName, act, find};
use super::refusal::failed;
use crate::registry::prelude::*;

/// The operation.
pub struct Op;

/// What to do.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Input {
    /// The name of the action, from ui.inspect.
    pub name: String,
}

impl Operation for Op {
    const SPEC: OperationSpec = OperationSpec {
        name: "ui.action",
        summary: "Do a named action of an element",
        details: "For actions other than that of ui.press: ui.inspect lists what the element has. `activate` of a field sends the \
                  form that it is in. The element is found again first and the effect read back, as for ui.press; what the \
                  element cannot do fails with `available`.",
        audited_fields: &["name"],
        example: r#"{"op":"ui.action","target":"B3@s_0a1b2c3d4e","input":{"name":"show menu"}}"#,
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
        let name = input.name.trim().to_lowercase();
        let (display, id) = (&found.scene.window.display, &found.element.id);
        let available = cx.service.elements.source.actions(display, id).map_err(failed)?;
        if name.is_empty() || !available.contains(&name) {
            return Err(Failure::new(ErrorCode::UnsupportedAction, "the element has no action of this name")
                .detail("field", "input.name")
                .detail("available", available)
                .hint("Use one of the actions in `available`."));
        }
        let action = Action {
            verbs: ("do an action of", "did an action of"),
            path: "action",
            act: &|source, display, id| source.act(display, id, &[&name]),
            is_done: None,
            toggles: false,
        };
        act(cx, permit, &found, &action)
    }
}
