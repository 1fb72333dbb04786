//! Reading the elements of a window, level by level and within bounds, by what one system reads of an element. Nothing here asks
//! a program itself.

use std::collections::{HashSet, VecDeque};
use std::hash::Hash;

use super::{Abilities, Element, Role, RuntimeId, State, States};
use crate::program_error::ProgramError;
use crate::screen::Rect;

/// More elements than this are not read.
const MOST: usize = 10_000;
/// The longest name, in characters.
const NAME: usize = 1_000;
/// A window's elements are at most so many levels deep.
pub(super) const DEPTH: usize = 200;
/// Of an element that has more children than this, those that show are read.
pub(super) const MOST_CHILDREN: usize = 300;

/// In what of the screen the children of an element can be seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Clip {
    /// Where the element itself can.
    #[default]
    AsItself,
    /// Only in its own place: it scrolls.
    Within,
    /// In all of its place: it is drawn over what it is in, and may be larger.
    Over,
}

/// Whose an element is that a program lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ownership {
    /// The window's.
    Window,
    /// Another window's, which is read on its own. Windows alone lists such.
    #[cfg(any(test, windows))]
    OtherWindow,
    /// Another program's.
    OtherProgram,
}

/// What is read of an element.
#[derive(Debug)]
pub(super) struct ReadElement<R: ElementReader + ?Sized> {
    pub role: Role,
    pub name: String,
    /// But for whether it shows.
    pub states: States,
    pub abilities: Abilities,
    /// Where it is, in the units of the system.
    pub place: Option<Rect>,
    /// Whether its program says that it does not show.
    pub is_hidden: bool,
    pub clip: Clip,
    /// What its children are read with.
    pub outer: R::Outer,
    pub children: Vec<R::Element>,
    /// Whether that is all that there is to say of it.
    pub is_all: bool,
}

/// Reads elements of a program.
pub(super) trait ElementReader {
    /// An element, as the program names it.
    type Element: Clone + Eq + Hash;
    /// What of an element its children are read with.
    type Outer: Clone + Default;

    /// Reads an element and lists its children: of very many those that show.
    fn read(&self, element: &Self::Element, outer: &Self::Outer) -> Result<ReadElement<Self>, ProgramError>;
    /// Returns whose an element is: programs can list those of others.
    fn ownership(&self, element: &Self::Element) -> Ownership;
    /// Returns whether no more may be asked.
    fn is_late(&self) -> bool;
}

struct Unread<E, O> {
    element: E,
    parent: Option<usize>,
    outer: O,
    /// What of the screen it can be seen in.
    clip: Option<Rect>,
    is_shown: bool,
    depth: usize,
}

/// Reads the elements of a window, the window first. Returns whether that is all of them.
///
/// # Errors
/// What the program answers of the window itself, and that it does not answer.
pub(super) fn walk<R: ElementReader>(
    reader: &R,
    top: R::Element,
    id: &mut dyn FnMut(&R::Element) -> Option<RuntimeId>,
) -> Result<(Vec<Element>, bool), ProgramError> {
    let (mut elements, mut is_all) = (Vec::new(), true);
    // What is listed twice, or in itself, is not followed.
    let mut known = HashSet::from([top.clone()]);
    let outer = R::Outer::default();
    let first = Unread { element: top, parent: None, outer, clip: None, is_shown: true, depth: 0 };
    let mut unread = VecDeque::from([first]);
    while let Some(next) = unread.pop_front() {
        if reader.is_late() || elements.len() >= MOST {
            is_all = false;
            break;
        }
        let read = match reader.read(&next.element, &next.outer) {
            Ok(read) => read,
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
        let is_shown = !read.is_hidden && shows(read.place, next.clip, next.is_shown);
        let states = if is_shown { read.states.with(State::Showing) } else { read.states };
        let at = elements.len();
        elements.push(Element {
            id,
            parent: next.parent,
            role: read.role,
            name: read.name.chars().take(NAME).collect(),
            states,
            abilities: read.abilities,
        });
        is_all &= read.is_all;
        if next.depth >= DEPTH {
            is_all &= read.children.is_empty();
            continue;
        }
        let clip = clip_within(read.clip, next.clip, read.place);
        for element in read.children.into_iter().take(MOST_CHILDREN) {
            match reader.ownership(&element) {
                #[cfg(any(test, windows))]
                Ownership::OtherWindow => continue,
                Ownership::OtherProgram => {
                    is_all = false;
                    continue;
                }
                Ownership::Window => {}
            }
            if known.insert(element.clone()) {
                let (outer, depth) = (read.outer.clone(), next.depth + 1);
                unread.push_back(Unread { element, parent: Some(at), outer, clip, is_shown, depth });
            }
        }
    }
    Ok((elements, is_all))
}

/// Returns whether a program that answers so is not asked any more.
pub(super) const fn hangs(error: &ProgramError) -> bool {
    matches!(error, ProgramError::Unresponsive | ProgramError::Lost)
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
fn clip_within(how: Clip, clip: Option<Rect>, place: Option<Rect>) -> Option<Rect> {
    match (how, clip, place) {
        (Clip::Within, Some(clip), Some(place)) => Some(clip.intersection(&place).unwrap_or_default()),
        (Clip::Within | Clip::Over, _, place) => place.or(clip),
        (Clip::AsItself, ..) => clip,
    }
}
