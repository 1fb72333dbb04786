//! Reading the elements of a window: they come with what their programs say of them, so that each is asked once, for its children.

use std::hash::Hash;

use super::facts::UiaFacts;
use crate::accessibility::walk::{ElementReader, MOST_CHILDREN, Ownership, ReadElement, hangs, walk};
use crate::accessibility::{Element, Role, RuntimeId};
use crate::program_error::ProgramError;

/// The children of an element that were read.
#[derive(Debug)]
pub(super) struct UiaChildren<E> {
    pub elements: Vec<E>,
    /// Whether that is all of them.
    pub is_all: bool,
}

/// A program whose elements are read.
pub(super) trait UiaProgram {
    /// An element with its facts, as they were when it was read.
    type Element: Clone + Eq + Hash;

    /// Returns what the program says of an element.
    fn facts<'e>(&'e self, element: &'e Self::Element) -> &'e UiaFacts;
    /// Reads the children of an element.
    fn children(&self, element: &Self::Element) -> Result<UiaChildren<Self::Element>, ProgramError>;
    /// Reads at most so many children of an element, one by one. Where it has more, those that show.
    fn first_children(
        &self,
        element: &Self::Element,
        most: usize,
    ) -> Result<UiaChildren<Self::Element>, ProgramError>;
    /// Returns whether a process is that of the window, or the one in whose frame the system shows it.
    fn is_own(&self, pid: u32) -> bool;
    /// Returns whether a window is the one that is read, or within it: dialogs of a window are among its elements.
    fn is_within(&self, window: u64) -> bool;
    /// Returns whether no more may be asked.
    fn is_late(&self) -> bool;
}

struct UiaReader<'a, P>(&'a P);

impl<P: UiaProgram> ElementReader for UiaReader<'_, P> {
    type Element = P::Element;
    type Outer = ();

    fn read(&self, element: &P::Element, (): &()) -> Result<ReadElement<Self>, ProgramError> {
        let program = self.0;
        let facts = program.facts(element);
        let role = facts.role();
        let children = match role {
            // Nothing of it is read, and nothing in it pressed, such as what shows the secret.
            Role::PasswordField => Ok(UiaChildren { elements: Vec::new(), is_all: true }),
            _ if UiaFacts::is_long(role) => program.first_children(element, MOST_CHILDREN),
            _ => program.children(element),
        };
        let children = match children {
            Err(error) if hangs(&error) => return Err(error),
            Err(ProgramError::Gone) => return Err(ProgramError::Gone),
            Err(ProgramError::Unable) => UiaChildren { elements: Vec::new(), is_all: true },
            Err(_) => UiaChildren { elements: Vec::new(), is_all: false },
            Ok(children) => children,
        };
        Ok(ReadElement {
            role,
            name: facts.name.clone(),
            states: facts.states(role),
            abilities: facts.abilities(role),
            place: facts.place,
            is_hidden: facts.is_offscreen,
            clip: facts.clip(role),
            outer: (),
            is_all: children.is_all && !facts.makes_items && children.elements.len() <= MOST_CHILDREN,
            children: children.elements,
        })
    }

    fn ownership(&self, element: &P::Element) -> Ownership {
        let facts = self.0.facts(element);
        if facts.window != 0 && !self.0.is_within(facts.window) {
            Ownership::OtherWindow
        } else if !self.0.is_own(facts.pid) {
            Ownership::OtherProgram
        } else {
            Ownership::Window
        }
    }

    fn is_late(&self) -> bool {
        self.0.is_late()
    }
}

/// Reads the elements of a window, the window first. Returns whether that is all of them.
///
/// # Errors
/// What the program answers of the window itself, and that it does not answer.
pub(super) fn walk_window<P: UiaProgram>(
    program: &P,
    top: P::Element,
    id: &mut dyn FnMut(&P::Element) -> Option<RuntimeId>,
) -> Result<(Vec<Element>, bool), ProgramError> {
    walk(&UiaReader(program), top, id)
}

#[cfg(test)]
mod tests;
