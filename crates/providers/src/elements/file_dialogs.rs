//! File dialogs: the parts of one that take a path. Mathematics only.

use bailiwick_platform::accessibility::{Ability, Element, ElementTree, Role, State};

use super::dialogs::is_cancelling;

/// What the action of a file chooser is called that shows the field for a path. GTK 3 has it.
pub const SHOW_LOCATION: &str = "show_location";

/// Returns the places of the elements of a dialog that may be what files are chosen in.
pub fn possible_file_choosers(tree: &ElementTree) -> Vec<usize> {
    let is_one =
        |it: &Element| it.parent.is_some() && it.role == Role::Dialog && it.abilities.has(Ability::Act);
    places(tree, |_, it| is_one(it))
}

/// Returns the places of the text fields of a file chooser that can be set.
pub fn location_fields(tree: &ElementTree, chooser: usize) -> Vec<usize> {
    places(tree, |at, it| {
        it.role == Role::TextField
            && it.abilities.has(Ability::EditText)
            && it.states.has(State::Editable)
            && is_within(tree, at, chooser)
    })
}

/// Returns the places of the buttons of a dialog that may accept what was chosen: those outside of the file chooser that do not
/// cancel. They may be disabled as long as nothing is chosen.
pub fn accepting_buttons(tree: &ElementTree, chooser: usize) -> Vec<usize> {
    places(tree, |at, it| {
        it.role == Role::Button
            && !it.name.trim().is_empty()
            && !is_cancelling(&it.name)
            && !is_within(tree, at, chooser)
    })
}

/// Returns the places of the elements that show and are such.
fn places(tree: &ElementTree, is_such: impl Fn(usize, &Element) -> bool) -> Vec<usize> {
    let all = tree.elements.iter().enumerate().filter(|(_, it)| it.states.has(State::Showing));
    all.filter(|(at, it)| is_such(*at, it)).map(|(at, _)| at).collect()
}

/// Returns whether an element is in another.
fn is_within(tree: &ElementTree, at: usize, outer: usize) -> bool {
    std::iter::successors(tree.elements[at].parent, |at| tree.elements[*at].parent).any(|at| at == outer)
}
