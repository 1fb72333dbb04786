//! `menu.select`: choose an entry of a menu.

use bailiwick_platform::accessibility::State;
use bailiwick_providers::elements::{is_submenu, menu_entry};

use super::super::ui::{ACTION, Action, ActionOutput, CurrentElement, act, scene_of_target, usable};
use super::list::no_entry;
use crate::registry::prelude::*;

/// The operation.
pub struct Op;

/// What to choose.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Input {
    /// The titles from the menu bar to the entry, such as `["File", "Save"]`. Dots at their end do not count.
    pub path: Vec<String>,
}

impl Operation for Op {
    const SPEC: OperationSpec = OperationSpec {
        name: "menu.select",
        summary: "Choose an entry of a menu",
        details: "Does what a click on the entry does, without pointer and focus, and without opening the menu. Each title has to \
                  be the only one of its menu, and every entry on the way enabled. The target is a snapshot of the window, from \
                  menu.list or ui.see. `effect` is as for ui.press. Nothing is chosen in terminals.",
        target: TargetRule::Snapshot,
        example: r#"{"op":"menu.select","target":"s_0a1b2c3d4e","input":{"path":["File","Save"]}}"#,
        platforms: &["linux"],
        ..ACTION
    };
    type Input = Input;
    type Options = NoFields;
    type Output = ActionOutput;
    const JUDGED: JudgedFields<Input> = JudgedFields::NONE;
}

impl RunBlocking for Op {
    fn run(cx: &Context, permit: &Permit, input: &Input, _: &NoFields) -> Result<ActionOutput, Failure> {
        if input.path.is_empty() {
            return Err(Failure::invalid("input.path", "`path` has at least one title"));
        }
        let scene = scene_of_target(cx, permit)?;
        let at = menu_entry(&scene.tree, &input.path, true)
            .map_err(|error| no_entry(&scene.tree, error, &input.path))?;
        if is_submenu(&scene.tree, at) {
            return Err(Failure::invalid("input.path", "the path leads to a menu, not to an entry")
                .hint("menu.list lists the entries of this menu."));
        }
        let element = scene.tree.elements[at].clone();
        let action = Action {
            verbs: ("choose", "chose"),
            path: "action",
            act: &|source, display, id| source.press(display, id),
            is_done: None,
            toggles: element.states.has(State::Checkable),
        };
        let found = usable(cx, CurrentElement { scene, element })?;
        act(cx, permit, &found, &action)
    }
}
