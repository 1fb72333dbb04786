//! Finding the element that was seen again among those that are there now. Mathematics only.
//!
//! An element is the same if its program still knows it by the same name, and it says the same of itself. In a list, where
//! programs use one element for one row after the other, what is beside it has to be the same too. There is no search
//! for what was made again: it is seen again first.

use bailiwick_platform::accessibility::{ElementTree, Role, RuntimeId, State};

/// What an element is known by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// What its program knows it by.
    pub id: RuntimeId,
    /// What it is.
    pub role: Role,
    /// What it is called.
    pub name: String,
    /// What is beside it: the names in the innermost thing that holds it and others.
    pub context: String,
    /// What it is in, from the inside out.
    pub ancestors: Vec<Role>,
    /// Whether another element of the window has its role and name, or it is in a list.
    pub needs_context: bool,
}

/// Why an element is not acted on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Mismatch {
    /// Nothing there is plainly it.
    NotFound,
}

/// What is beside an element counts up to so many names.
const NAMES: usize = 8;

/// Returns what an element of a tree is known by.
pub fn identify(tree: &ElementTree, at: usize) -> Identity {
    let element = &tree.elements[at];
    let ancestors: Vec<Role> = chain(tree, at).skip(1).map(|at| tree.elements[at].role).collect();
    Identity {
        id: element.id.clone(),
        role: element.role,
        name: element.name.clone(),
        context: context(tree, at),
        needs_context: is_in_list(&ancestors)
            || same_words(tree, element.role, &element.name).nth(1).is_some(),
        ancestors,
    }
}

/// Finds the element of an identity in a tree.
///
/// # Errors
/// [`Mismatch`] has them. Nothing may be acted on then.
pub fn resolve(tree: &ElementTree, wanted: &Identity) -> Result<usize, Mismatch> {
    let known = tree.elements.iter().position(|it| it.id == wanted.id);
    if let Some(at) = known.filter(|at| shows(tree, *at)) {
        let now = identify(tree, at);
        let says_the_same = now.role == wanted.role && now.name == wanted.name;
        let is_beside_the_same =
            now.context == wanted.context || !(now.needs_context || wanted.needs_context);
        if says_the_same && is_beside_the_same {
            return Ok(at);
        }
    }
    Err(Mismatch::NotFound)
}

/// Lists the elements that show and have a role and name.
fn same_words<'a>(tree: &'a ElementTree, role: Role, name: &'a str) -> impl Iterator<Item = usize> + 'a {
    let all = tree.elements.iter().enumerate();
    all.filter(move |(at, it)| it.role == role && it.name == name && shows(tree, *at)).map(|(at, _)| at)
}

/// Returns whether an element shows.
pub(super) fn shows(tree: &ElementTree, at: usize) -> bool {
    tree.elements[at].states.has(State::Showing)
}

fn is_in_list(ancestors: &[Role]) -> bool {
    let rows = [Role::Row, Role::Cell, Role::ListItem, Role::TreeItem, Role::List, Role::Table, Role::Tree];
    ancestors.iter().any(|role| rows.contains(role))
}

/// Returns an element and what it is in, from the inside out.
fn chain(tree: &ElementTree, at: usize) -> impl Iterator<Item = usize> + '_ {
    std::iter::successors(Some(at), |at| tree.elements[*at].parent)
}

/// Returns the names in the innermost element that holds this one and others with a name.
fn context(tree: &ElementTree, at: usize) -> String {
    for outer in chain(tree, at).skip(1) {
        let is_beside = |other: &usize| {
            let mut above = chain(tree, *other);
            // Below the outer one, and not below the element itself.
            above.by_ref().take_while(|it| *it != at).any(|it| it == outer) && *other != outer
        };
        // Each element comes after the one that it is in.
        let names: Vec<&str> = (outer + 1..tree.elements.len())
            .filter(|other| !tree.elements[*other].name.is_empty() && shows(tree, *other))
            .filter(is_beside)
            .map(|other| tree.elements[other].name.as_str())
            .take(NAMES)
            .collect();
        if !names.is_empty() {
            return names.join("\u{1f}");
        }
    }
    String::new()
}

#[cfg(test)]
mod tests;
