//! `ui.select`: select an item of a list, combo box or row of tabs.

use bailiwick_platform::accessibility::{Ability, ElementTree, Role, State};
use bailiwick_platform::program_error::ProgramError;
use bailiwick_providers::elements::{Snapshot, WindowScene, item_name, items_named, items_of, quoted};

use super::acting::{
    ACTION, Action, ActionOutput, CurrentElement, ElementName, act, find, snapshot_of, usable,
};
use super::refusal::{candidates, failed, none_named, several_named};
use crate::registry::prelude::*;

/// The operation.
pub struct Op;

/// What choosing an item is called, where its list does not choose. The last also ends a choice.
const CHOOSING: &[&str] = &["click", "press", "activate", "select", "toggle"];

/// What to select.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Input {
    /// The name of the item, exactly, where the target is the combo box or list; left out, the target is the item itself.
    pub item: Option<String>,
}

impl Operation for Op {
    const SPEC: OperationSpec = OperationSpec {
        name: "ui.select",
        summary: "Select an item of a list, combo box or row of tabs",
        details: "The target is the item (list item, row, tab), or the combo box or list with `item`: the one item of this \
                  name is selected, without opening anything. The element is found again first, as for ui.press, and the \
                  selection is read back.",
        example: r#"{"op":"ui.select","target":"B2@s_0a1b2c3d4e","input":{"item":"Landscape"}}"#,
        ..ACTION
    };
    type Input = Input;
    type Options = NoFields;
    type Output = ActionOutput;
    const JUDGED: JudgedFields<Input> = JudgedFields::NONE;
}

impl RunBlocking for Op {
    fn run(cx: &Context, permit: &Permit, input: &Input, _: &NoFields) -> Result<ActionOutput, Failure> {
        let named = ElementName::of_target(permit)?;
        let found = find(cx, permit, named)?;
        let tree = &found.scene.tree;
        let target = place_of(tree, &found)?;
        let at = match &input.item {
            Some(name) => item(&*snapshot_of(cx, permit, named.snapshot)?, tree, target, name)?,
            None => target,
        };
        let item = tree.elements[at].clone();
        let name = item_name(tree, at).to_owned();
        let around = |at: usize| std::iter::successors(Some(at), |at| tree.elements[*at].parent).skip(1);
        let combo = around(at).find(|outer| tree.elements[*outer].role == Role::ComboBox);
        let tells = item.states.has(State::Selectable) || item.states.has(State::Selected);
        // Items of a combo box are those of its menu, which chooses them as a click does. So do items of lists that choose none.
        let list = tree.elements[at].parent.filter(|list| {
            tree.elements[*list].abilities.has(Ability::Choose)
                && (combo.is_none() || item.role != Role::MenuItem)
        });
        let list = list.map(|list| tree.elements[list].id.clone());
        let is_one = is_item(item.role) || (combo.is_some() && item.role == Role::MenuItem);
        // GTK 4 selects the row that its popover shows, and leaves the combo box as it is.
        let is_beside = combo.is_some() && item.states.has(State::Unplaced);
        if is_beside || (list.is_none() && !(is_one && item.abilities.has(Ability::Act))) {
            return Err(failed(ProgramError::Unable.into()));
        }
        let choosing = if tells && combo.is_none() { CHOOSING } else { &CHOOSING[..CHOOSING.len() - 1] };
        // Some combo boxes are called as the item that is selected, others have a name of their own.
        let is_called_by_item = combo.is_some_and(|combo| {
            let name = &tree.elements[combo].name;
            name.trim().is_empty() || !items_named(tree, combo, name).is_empty()
        });
        let id = item.id.clone();
        let combo = combo.map(|combo| tree.elements[combo].id.clone());
        let is_selected = |scene: &WindowScene| {
            let mut all = scene.tree.elements.iter();
            match &combo {
                Some(combo) if is_called_by_item => all.any(|it| it.id == *combo && it.name.trim() == name),
                _ => all.any(|it| it.id == id && it.states.has(State::Selected)),
            }
        };
        let is_known = is_called_by_item || tells || list.is_some();
        let action = Action {
            verbs: ("select", "selected"),
            path: if list.is_some() { "selection" } else { "action" },
            act: &|source, display, id| match &list {
                Some(list) => source.select(display, list, id),
                None => source.act(display, id, choosing),
            },
            is_done: is_known.then_some(&is_selected as &dyn Fn(&WindowScene) -> bool),
            toggles: false,
        };
        let found = usable(cx, CurrentElement { scene: found.scene.clone(), element: item })?;
        act(cx, permit, &found, &action)
    }
}

fn place_of(tree: &ElementTree, found: &CurrentElement) -> Result<usize, Failure> {
    let place = tree.elements.iter().position(|it| it.id == found.element.id);
    place.ok_or_else(|| failed(ProgramError::Gone.into()))
}

/// Returns whether an element is one of several that can be selected.
const fn is_item(role: Role) -> bool {
    matches!(role, Role::ListItem | Role::Tab | Role::Row | Role::TreeItem | Role::Cell)
}

/// Finds the one item of a name.
fn item(snapshot: &Snapshot, tree: &ElementTree, list: usize, name: &str) -> Result<usize, Failure> {
    let (field, title) = ("input.item", quoted(name));
    match &items_named(tree, list, name)[..] {
        [at] => Ok(*at),
        [] => {
            let names = items_of(tree, list).map(|at| item_name(tree, at)).filter(|name| !name.is_empty());
            Err(none_named(field, format!("no item is called {title}"), names.map(quoted))
                .hint("Use one of the names in `candidates`, exactly."))
        }
        several => {
            let all = candidates(snapshot, tree, several.iter().copied());
            Err(several_named(field, format!("several items are called {title}"), all)
                .hint("Select the item itself: an id in `candidates` is its target. One without an id does not show: see ui.see."))
        }
    }
}
