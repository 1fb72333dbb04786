//! Reading the elements of a window, level by level: one call for each, and one or two more for those whose role needs it.

use std::collections::{HashSet, VecDeque};
use std::hash::Hash;

use super::facts::{AxContent, AxDetails, AxFacts, NeededDetails};
use crate::accessibility::{Element, Role, RuntimeId, State};
use crate::program_error::ProgramError;
use crate::screen::Rect;

/// More elements than this are not read.
const MOST: usize = 10_000;
/// A window's elements are at most so many levels deep.
const DEPTH: usize = 200;
/// Of an element that has more children than this, those that show are read.
const MOST_CHILDREN: usize = 300;

/// A program that is asked for its elements.
pub(super) trait AxProgram {
    /// An element, as the program names it.
    type Element: Clone + Eq + Hash;

    /// Reads what it says of an element, by one call.
    fn facts(&self, element: &Self::Element) -> Result<AxFacts<Self::Element>, ProgramError>;
    /// Reads what an element contains. It is not asked of a secure field.
    fn content(&self, element: &Self::Element) -> Result<AxContent, ProgramError>;
    /// Returns whether what an element contains can be set.
    fn is_settable(&self, element: &Self::Element) -> Result<bool, ProgramError>;
    /// Returns whether an element has actions.
    fn has_actions(&self, element: &Self::Element) -> Result<bool, ProgramError>;
    /// Reads which children of an element show.
    fn shown_children(&self, element: &Self::Element) -> Result<Vec<Self::Element>, ProgramError>;
    /// Returns whether an element is the program's own: programs can list those of others.
    fn is_own(&self, element: &Self::Element) -> bool;
    /// Returns whether no more may be asked.
    fn is_late(&self) -> bool;
}

struct Unread<E> {
    element: E,
    parent: Option<usize>,
    /// The role of what it is in, as the program says it.
    outer: String,
    /// What of the screen it can be seen in.
    clip: Option<Rect>,
    is_shown: bool,
    depth: usize,
}

/// Reads the elements of a window, the window first. Returns whether that is all of them.
///
/// # Errors
/// What the program answers of the window itself, and that it does not answer.
pub(super) fn walk<P: AxProgram>(
    program: &P,
    top: P::Element,
    id: &mut dyn FnMut(&P::Element) -> Option<RuntimeId>,
) -> Result<(Vec<Element>, bool), ProgramError> {
    let (mut elements, mut is_all) = (Vec::new(), true);
    // What is listed twice, or in itself, is not followed.
    let mut known = HashSet::from([top.clone()]);
    let first =
        Unread { element: top, parent: None, outer: String::new(), clip: None, is_shown: true, depth: 0 };
    let mut unread = VecDeque::from([first]);
    while let Some(next) = unread.pop_front() {
        if program.is_late() || elements.len() >= MOST {
            is_all = false;
            break;
        }
        let facts = match program.facts(&next.element) {
            Ok(facts) => facts,
            Err(error) if next.parent.is_none() || hangs(&error) => return Err(error),
            // It has gone, or says nothing.
            Err(ProgramError::Gone | ProgramError::Unable) => continue,
            Err(_) => {
                is_all = false;
                continue;
            }
        };
        let Some(id) = id(&next.element) else {
            is_all = false;
            break;
        };
        let role = facts.role(&next.outer);
        let details = details(program, &next.element, role, &facts, &mut is_all)?;
        let is_shown = shows(facts.place, next.clip, next.is_shown);
        let states = facts.states(role, &details);
        let states = if is_shown { states.with(State::Showing) } else { states };
        let at = elements.len();
        elements.push(Element {
            id,
            parent: next.parent,
            role,
            name: facts.name(role, &details),
            states,
            abilities: facts.abilities(role, &details),
        });
        // Columns hold what rows hold, once more.
        if facts.role == "AXColumn" {
            continue;
        }
        if next.depth >= DEPTH {
            is_all &= facts.children.is_empty();
            continue;
        }
        let clip = clip_within(&facts.role, next.clip, facts.place);
        let children = if facts.children.len() > MOST_CHILDREN {
            is_all = false;
            answered(program.shown_children(&next.element))?
        } else {
            facts.children
        };
        for element in children.into_iter().take(MOST_CHILDREN) {
            if !program.is_own(&element) {
                is_all = false;
            } else if known.insert(element.clone()) {
                let (outer, depth) = (facts.role.clone(), next.depth + 1);
                unread.push_back(Unread { element, parent: Some(at), outer, clip, is_shown, depth });
            }
        }
    }
    Ok((elements, is_all))
}

/// Returns whether a program that answers so is not asked any more.
const fn hangs(error: &ProgramError) -> bool {
    matches!(error, ProgramError::Unresponsive | ProgramError::Lost)
}

fn details<P: AxProgram>(
    program: &P,
    element: &P::Element,
    role: Role,
    facts: &AxFacts<P::Element>,
    is_all: &mut bool,
) -> Result<AxDetails, ProgramError> {
    let needed = NeededDetails::of(role, facts);
    let mut details = AxDetails::default();
    if program.is_late() {
        *is_all &= !(needed.content || needed.settable || needed.actions);
        return Ok(details);
    }
    if needed.content {
        details.content = answered(program.content(element))?;
    }
    if needed.settable {
        details.is_settable = answered(program.is_settable(element))?;
    }
    if needed.actions {
        details.has_actions = answered(program.has_actions(element))?;
    }
    Ok(details)
}

/// Makes nothing of what an element does not answer.
fn answered<T: Default>(answer: Result<T, ProgramError>) -> Result<T, ProgramError> {
    match answer {
        Err(error) if hangs(&error) => Err(error),
        answer => Ok(answer.unwrap_or_default()),
    }
}

/// Returns whether an element shows: it is in what can be seen. One without a place does as what it is in.
fn shows(place: Option<Rect>, clip: Option<Rect>, is_outer_shown: bool) -> bool {
    match (place, clip) {
        (Some(place), Some(clip)) => place.intersection(&clip).is_some(),
        (Some(place), None) => !place.is_empty(),
        (None, _) => is_outer_shown,
    }
}

/// Returns in what of the screen the children of an element can be seen.
fn clip_within(role: &str, clip: Option<Rect>, place: Option<Rect>) -> Option<Rect> {
    match (role, clip, place) {
        ("AXScrollArea", Some(clip), Some(place)) => Some(clip.intersection(&place).unwrap_or_default()),
        // What is drawn over the window may be larger than it.
        ("AXScrollArea" | "AXWindow" | "AXSheet" | "AXPopover" | "AXMenu", _, place) => place.or(clip),
        _ => clip,
    }
}

#[cfg(test)]
mod tests;
