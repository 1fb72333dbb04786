//! `ui.scroll_to`: bring an element into view.

use bailiwick_platform::accessibility::State;
use bailiwick_providers::elements::WindowScene;

use super::acting::{ACTION, Action, ActionOutput, ElementName, act, find_out_of_view};
use super::scrolling::scroll_to;
use crate::registry::prelude::*;

/// The operation.
pub struct Op;

impl Operation for Op {
    const SPEC: OperationSpec = OperationSpec {
        name: "ui.scroll_to",
        summary: "Bring an element into view",
        details: "Has the program scroll until the element shows, without the pointer; where it cannot, the scroll bar beside the \
                  element is set. Nothing is done where it shows already. ui.find lists elements that are `out-of-view`.",
        example: r#"{"op":"ui.scroll_to","target":"B3@s_0a1b2c3d4e"}"#,
        ..ACTION
    };
    type Input = NoFields;
    type Options = NoFields;
    type Output = ActionOutput;
    const JUDGED: JudgedFields<NoFields> = JudgedFields::NONE;
}

impl RunBlocking for Op {
    fn run(cx: &Context, permit: &Permit, _: &NoFields, _: &NoFields) -> Result<ActionOutput, Failure> {
        let found = find_out_of_view(cx, permit, ElementName::of_target(permit)?)?;
        let id = &found.element.id;
        let shows = |scene: &WindowScene| {
            scene.tree.elements.iter().any(|it| it.id == *id && it.states.has(State::Showing))
        };
        let action = Action {
            verbs: ("scroll to", "scrolled to"),
            path: "scrolling",
            act: &|source, _, _| scroll_to(source, &found),
            is_done: Some(&shows),
            toggles: false,
        };
        act(cx, permit, &found, &action)
    }
}
