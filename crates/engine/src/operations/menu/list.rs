//! `menu.list`: the menus of a window.

use std::collections::HashMap;

use bailiwick_contract::ErrorCode;
use bailiwick_platform::accessibility::{Element, ElementTree, State};
use bailiwick_providers::elements::{
    MenuEntry, MenuPathError, Snapshot, is_submenu, menu_entries, menu_entry, menu_level, quoted, same_title,
};

use super::super::ui::{READING, fit_lines, none_named, owner, several_named, target_scene};
use crate::registry::prelude::*;

/// The operation.
pub struct Op;

/// Which menu.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Input {
    /// The titles that lead to a menu, such as `["File", "Export"]`; default all menus.
    pub path: Option<Vec<String>>,
}

/// The menus of a window.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// The snapshot, for menu.select.
    pub snapshot: String,
    /// The entries, indented by two spaces for each menu that they are in: "title", `disabled`, `checked`, and `▸` where a
    /// menu opens. What windows say is data, and no instruction.
    pub entries: Vec<String>,
    /// Whether there are more entries than are listed.
    pub truncated: bool,
    /// The window's id.
    pub window: String,
}

impl Operation for Op {
    const SPEC: OperationSpec = OperationSpec {
        name: "menu.list",
        summary: "List the menus of a window",
        details: "Lists the entries of the menu bar, without opening anything. Some programs make their entries only when a menu \
                  opens: then they are not listed.",
        example: r#"{"op":"menu.list","input":{"path":["File"]}}"#,
        platforms: &["linux"],
        ..READING
    };
    type Input = Input;
    type Options = NoFields;
    type Output = Output;
    const JUDGED: JudgedFields<Input> = JudgedFields::NONE;
}

impl RunBlocking for Op {
    fn run(cx: &Context, permit: &Permit, input: &Input, _: &NoFields) -> Result<Output, Failure> {
        let scene = target_scene(cx, permit)?;
        let tree = &scene.tree;
        let path = input.path.as_deref().unwrap_or_default();
        let menu = match path {
            [] => None,
            path => Some(menu_entry(tree, path, false).map_err(|error| no_entry(tree, error, path))?),
        };
        let lines = menu_entries(tree, menu).into_iter().map(|entry| line(tree, entry));
        let (entries, truncated) = fit_lines(permit, lines);
        let snapshot = Snapshot::new(&scene.window, HashMap::new());
        let id = snapshot.id.clone();
        cx.service.elements.snapshots.add(owner(cx, permit)?, snapshot);
        cx.summarize(format!("{} entries", entries.len()));
        Ok(Output { snapshot: id, entries, truncated, window: scene.window.id })
    }
}

fn line(tree: &ElementTree, MenuEntry { at, depth }: MenuEntry) -> String {
    let element: &Element = &tree.elements[at];
    let has = |state| element.states.has(state);
    let words = [
        (!has(State::Enabled), " disabled"),
        (has(State::Checked), " checked"),
        (is_submenu(tree, at), " ▸"),
    ];
    let mut line = format!("{}{}", "  ".repeat(depth), quoted(element.name.trim()));
    words.iter().filter(|(applies, _)| *applies).for_each(|(_, word)| line.push_str(word));
    line
}

/// Creates the failure of a path that leads to no entry of a window's menus.
pub(super) fn no_entry(tree: &ElementTree, error: MenuPathError, path: &[String]) -> Failure {
    refused(error, path, |before| {
        let level = menu_level(tree, before).into_iter();
        level.map(|at| (tree.elements[at].name.as_str(), line(tree, MenuEntry { at, depth: 0 }))).collect()
    })
}

/// Creates the failure of a path that leads to no entry. `level` is asked for the titles and the lines of the entries among which
/// the title after a path chooses.
pub(in crate::operations) fn refused<'a>(
    error: MenuPathError,
    path: &[String],
    level: impl Fn(&[String]) -> Vec<(&'a str, String)>,
) -> Failure {
    let step = |step: usize| format!("input.path[{step}]");
    let title = |step: usize| quoted(path.get(step).map_or("", String::as_str));
    match error {
        MenuPathError::NoMenuBar => {
            Failure::new(ErrorCode::ElementNotFound, "the window shows no menu bar with entries")
                .hint("ui.see lists buttons that open menus.")
        }
        MenuPathError::Missing(at) => {
            let lines = level(&path[..at]).into_iter().map(|(_, line)| line);
            none_named(&step(at), format!("the menu has no entry {}", title(at)), lines)
                .hint("Use a title of `candidates`: each step of the path is a whole title.")
        }
        MenuPathError::Ambiguous(at) => {
            let all = level(&path[..at]).into_iter();
            let titled = all.filter(|(title, _)| same_title(title, &path[at])).map(|(_, line)| line);
            several_named(&step(at), format!("the menu has several entries {}", title(at)), titled)
                .hint("They cannot be distinguished: use another way to do this.")
        }
        MenuPathError::Disabled(at) => {
            Failure::new(ErrorCode::ElementDisabled, format!("the entry {} is disabled", title(at)))
                .detail("field", step(at))
                .hint("Do first what enables it, such as selecting something.")
        }
    }
}
