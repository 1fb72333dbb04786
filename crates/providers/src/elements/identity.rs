//! Finding the element that was seen again among those that are there now. Mathematics only.
//!
//! An element is the same if its program still knows it by the same name, and it says the same of itself. In a list, where
//! programs use one element for one row after the other, what is beside it has to be the same too. There is no search
//! for what was made again: it is seen again first.

use bailiwick_platform::accessibility::{ElementTree, Role, RuntimeId, State};
use sha2::{Digest, Sha256};

/// What an element is known by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// What its program knows it by.
    pub id: RuntimeId,
    /// What it is.
    pub role: Role,
    /// What it is called.
    pub name: String,
    /// What is beside it: a hash of the nearest names in the innermost thing that holds it and others.
    pub context: [u8; 32],
    /// Whether another element of the window has its role and name, or it is in a list.
    pub needs_context: bool,
}

/// What is beside an element counts up to so many names before it, and as many after it.
const NAMES: usize = 4;

/// Returns what an element of a tree is known by.
pub fn identify(tree: &ElementTree, at: usize) -> Identity {
    let element = &tree.elements[at];
    Identity {
        id: element.id.clone(),
        role: element.role,
        name: element.name.clone(),
        context: context(tree, at),
        needs_context: is_in_list(tree, at) || same_words(tree, element.role, &element.name) > 1,
    }
}

/// Finds the element of an identity in a tree. Nothing, where none is plainly it: none may be acted on then.
pub fn resolve(tree: &ElementTree, wanted: &Identity) -> Option<usize> {
    let at = tree.elements.iter().position(|it| it.id == wanted.id).filter(|at| shows(tree, *at))?;
    let now = identify(tree, at);
    let says_the_same = now.role == wanted.role && now.name == wanted.name;
    let is_beside_the_same = now.context == wanted.context || !(now.needs_context || wanted.needs_context);
    (says_the_same && is_beside_the_same).then_some(at)
}

/// Finds the element of an identity that may be scrolled out of view: only to have it scrolled to.
pub fn resolve_out_of_view(tree: &ElementTree, wanted: &Identity) -> Option<usize> {
    let all = tree.elements.iter();
    let at = all.enumerate().find(|(_, it)| it.id == wanted.id).map(|(at, _)| at)?;
    let it = &tree.elements[at];
    let is_there = shows(tree, at) || is_out_of_view(tree, at);
    (is_there && it.role == wanted.role && it.name == wanted.name).then_some(at)
}

/// Returns whether an element would show if its window were larger: it is not in a menu or list that is closed.
pub(super) fn is_out_of_view(tree: &ElementTree, at: usize) -> bool {
    let states = tree.elements[at].states;
    let closes = [Role::Menu, Role::MenuItem, Role::ComboBox];
    states.has(State::Visible)
        && !states.has(State::Showing)
        && !chain(tree, at).skip(1).any(|outer| closes.contains(&tree.elements[outer].role))
}

/// Counts the elements that show and have a role and name.
fn same_words(tree: &ElementTree, role: Role, name: &str) -> usize {
    let all = tree.elements.iter().enumerate();
    all.filter(|(at, it)| it.role == role && it.name == name && shows(tree, *at)).count()
}

/// Returns whether an element shows.
pub(super) fn shows(tree: &ElementTree, at: usize) -> bool {
    tree.elements[at].states.has(State::Showing)
}

fn is_in_list(tree: &ElementTree, at: usize) -> bool {
    let rows = [Role::Row, Role::Cell, Role::ListItem, Role::TreeItem, Role::List, Role::Table, Role::Tree];
    chain(tree, at).skip(1).any(|outer| rows.contains(&tree.elements[outer].role))
}

/// Returns an element and what it is in, from the inside out.
pub(super) fn chain(tree: &ElementTree, at: usize) -> impl Iterator<Item = usize> + '_ {
    std::iter::successors(Some(at), |at| tree.elements[*at].parent)
}

/// Returns a hash of the nearest names in the innermost element that holds this one and others with a name.
fn context(tree: &ElementTree, at: usize) -> [u8; 32] {
    for outer in chain(tree, at).skip(1) {
        let names = names_beside(tree, at, outer);
        if !names.is_empty() {
            let after = names.partition_point(|other| *other < at);
            let nearest = &names[after.saturating_sub(NAMES)..names.len().min(after + NAMES)];
            let mut hash = Sha256::new();
            for other in nearest {
                let name = &tree.elements[*other].name;
                hash.update([u8::from(*other > at)]);
                hash.update(name.len().to_le_bytes());
                hash.update(name);
            }
            return hash.finalize().into();
        }
    }
    [0; 32]
}

/// Lists the elements with a name that are in an outer one, and neither the element itself nor in it.
fn names_beside(tree: &ElementTree, at: usize, outer: usize) -> Vec<usize> {
    let all = &tree.elements;
    // Each element comes after the one that it is in.
    let mut is_beside = vec![false; all.len()];
    let mut names = Vec::new();
    for other in (outer + 1..all.len()).filter(|other| *other != at) {
        is_beside[other] = all[other].parent.is_some_and(|parent| parent == outer || is_beside[parent]);
        if is_beside[other] && !all[other].name.is_empty() && shows(tree, other) {
            names.push(other);
        }
    }
    names
}

#[cfg(test)]
mod tests;
