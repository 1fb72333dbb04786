//! The menus of a window's menu bar, as paths of titles. Mathematics only.

use bailiwick_platform::accessibility::{ElementTree, Role, State};

use super::identity::chain;

/// An entry of a menu.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MenuEntry {
    /// Its place in the tree.
    pub at: usize,
    /// How many menus it is in.
    pub depth: usize,
}

/// Why a path leads to no entry. Steps count from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MenuPathError {
    /// The window has no menu bar that shows.
    NoMenuBar,
    /// No entry has the title of this step.
    Missing(usize),
    /// Several entries have the title of this step.
    Ambiguous(usize),
    /// The entry of this step cannot be used now.
    Disabled(usize),
}

/// Lists the entries below a menu, or of all menu bars, each before those that it holds.
pub fn menu_entries(tree: &ElementTree, menu: Option<usize>) -> Vec<MenuEntry> {
    let mut entries = Vec::new();
    for menu in menu.map_or_else(|| bars(tree), |menu| vec![menu]) {
        add(tree, menu, 0, &mut entries);
    }
    entries
}

/// Finds the entry at a path of titles: each has to be the only one of its menu that has its title. Dots at the end of a title
/// do not count.
///
/// # Errors
/// [`MenuPathError`] has them; [`MenuPathError::Disabled`] only where every entry on the way has to be usable.
pub fn menu_entry(tree: &ElementTree, path: &[String], is_used: bool) -> Result<usize, MenuPathError> {
    let mut level = top_level(tree);
    let mut found = *level.first().ok_or(MenuPathError::NoMenuBar)?;
    for (step, title) in path.iter().enumerate() {
        let titled: Vec<usize> =
            level.iter().copied().filter(|at| same_title(&tree.elements[*at].name, title)).collect();
        found = match titled[..] {
            [one] => one,
            [] => return Err(MenuPathError::Missing(step)),
            _ => return Err(MenuPathError::Ambiguous(step)),
        };
        if is_used && !tree.elements[found].states.has(State::Enabled) {
            return Err(MenuPathError::Disabled(step));
        }
        level = direct(tree, found);
    }
    Ok(found)
}

/// Returns the entries among which the title after a path of titles chooses. None, where the path leads nowhere.
pub fn menu_level(tree: &ElementTree, path: &[String]) -> Vec<usize> {
    match path {
        [] => top_level(tree),
        path => menu_entry(tree, path, false).map_or_else(|_| Vec::new(), |at| direct(tree, at)),
    }
}

fn top_level(tree: &ElementTree) -> Vec<usize> {
    bars(tree).into_iter().flat_map(|bar| direct(tree, bar)).collect()
}

/// Returns whether an entry opens a menu of its own.
pub fn is_submenu(tree: &ElementTree, at: usize) -> bool {
    !direct(tree, at).is_empty()
}

fn bars(tree: &ElementTree) -> Vec<usize> {
    let is_bar = |at: &usize| {
        tree.elements[*at].role == Role::MenuBar && tree.elements[*at].states.has(State::Showing)
    };
    (0..tree.elements.len()).filter(is_bar).collect()
}

/// Returns whether two titles are the same, but for dots at their end.
pub fn same_title(one: &str, other: &str) -> bool {
    plain_title(one) == plain_title(other)
}

/// Returns a title without dots at its end: they do not count.
pub(super) fn plain_title(title: &str) -> &str {
    title.trim().trim_end_matches(['.', '…']).trim_end()
}

fn add(tree: &ElementTree, menu: usize, depth: usize, entries: &mut Vec<MenuEntry>) {
    for at in direct(tree, menu) {
        entries.push(MenuEntry { at, depth });
        add(tree, at, depth + 1, entries);
    }
}

/// Returns whether an entry is of a menu that its toolkit has made, and that is not open: it says so of the menu and of its
/// entries. What of them cannot be chosen is disabled.
fn is_in_closed(tree: &ElementTree, at: usize) -> bool {
    tree.elements[at].parent.is_some_and(|menu| {
        let menu = &tree.elements[menu];
        menu.role == Role::Menu && menu.name.trim().is_empty() && !menu.states.has(State::Visible)
    })
}

/// Returns the entries right below a menu: in some toolkits a menu without a title is between.
fn direct(tree: &ElementTree, menu: usize) -> Vec<usize> {
    let is_entry = |at: &usize| {
        let element = &tree.elements[*at];
        matches!(element.role, Role::Menu | Role::MenuItem | Role::CheckBox | Role::RadioButton)
            && !element.name.trim().is_empty()
            && (element.states.has(State::Visible) || is_in_closed(tree, *at))
    };
    let is_direct =
        |at: &usize| chain(tree, *at).skip(1).find(|outer| *outer == menu || is_entry(outer)) == Some(menu);
    (menu + 1..tree.elements.len()).filter(|at| is_entry(at) && is_direct(at)).collect()
}
