//! Reading the elements of a window: one call for each, and one or two more for those whose role needs it.

use std::hash::Hash;

use super::facts::{AxContent, AxDetails, AxFacts, NeededDetails};
use crate::accessibility::walk::{Clip, ElementReader, MOST_CHILDREN, Ownership, ReadElement, hangs};
use crate::accessibility::{Element, Role, RuntimeId};
use crate::program_error::ProgramError;

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

struct AxReader<'a, P>(&'a P);

impl<P: AxProgram> ElementReader for AxReader<'_, P> {
    type Element = P::Element;
    /// The role, as the program says it.
    type Outer = String;

    fn read(&self, element: &P::Element, outer: &String) -> Result<ReadElement<Self>, ProgramError> {
        let program = self.0;
        let mut is_all = true;
        let facts = program.facts(element)?;
        let role = facts.role(outer);
        let details = details(program, element, role, &facts, &mut is_all)?;
        let (name, states) = (facts.name(role, &details), facts.states(role, &details));
        let (abilities, clip) = (facts.abilities(role, &details), clip(&facts.role));
        let children = match facts.children.len() {
            // Columns hold what rows hold, once more.
            _ if facts.role == "AXColumn" => Vec::new(),
            0..=MOST_CHILDREN => facts.children,
            _ => {
                is_all = false;
                answered(program.shown_children(element))?
            }
        };
        let (place, outer) = (facts.place, facts.role);
        Ok(ReadElement {
            role,
            name,
            states,
            abilities,
            place,
            is_hidden: false,
            clip,
            outer,
            children,
            is_all,
        })
    }

    fn ownership(&self, element: &P::Element) -> Ownership {
        if self.0.is_own(element) { Ownership::Window } else { Ownership::OtherProgram }
    }

    fn is_late(&self) -> bool {
        self.0.is_late()
    }
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
    crate::accessibility::walk::walk(&AxReader(program), top, id)
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

/// Returns in what of the screen the children of an element can be seen.
fn clip(role: &str) -> Clip {
    match role {
        "AXScrollArea" => Clip::Within,
        // What is drawn over the window may be larger than it.
        "AXWindow" | "AXSheet" | "AXPopover" | "AXMenu" => Clip::Over,
        _ => Clip::AsItself,
    }
}

#[cfg(test)]
mod tests;
