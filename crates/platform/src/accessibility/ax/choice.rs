//! Which element of a program is a window of the display: by what the list of windows and the program both say of it. Where
//! that is not plain, it is none. Mathematics only.
//!
//! macOS has no public call for it. The windows that a program shows in one place as tabs are several in the list and one
//! element, so that a place alone may be another window's.

use crate::screen::Rect;

/// A window as the list of windows or a program has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct NamedPlace {
    /// Its title, fit to be shown.
    pub title: String,
    /// Where it is, in the units of the system.
    pub place: Rect,
}

/// What was chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WindowChoice {
    /// The element at this place of the program's list.
    Element(usize),
    /// None can be the window.
    Nothing,
    /// Several can.
    Several,
}

/// Chooses the element of a window, among those of its program. `others` are the other windows of its process.
pub(super) fn choose(window: &NamedPlace, others: &[NamedPlace], elements: &[NamedPlace]) -> WindowChoice {
    let is_there = |it: &&NamedPlace| it.place == window.place;
    let alike: Vec<usize> = (0..elements.len()).filter(|at| elements[*at] == *window).collect();
    if others.contains(window) || alike.len() > 1 {
        return WindowChoice::Several;
    }
    if let [only] = alike[..] {
        return WindowChoice::Element(only);
    }
    // Some programs say more in the title of the element. Then no other window may be at the place, and one whose title the
    // list does not have was not judged by it.
    let says_more = |it: &NamedPlace| !window.title.is_empty() && it.title.starts_with(&window.title);
    let there: Vec<usize> = (0..elements.len()).filter(|at| is_there(&&elements[*at])).collect();
    match there[..] {
        [only] if says_more(&elements[only]) && !others.iter().any(|it| is_there(&it)) => {
            WindowChoice::Element(only)
        }
        [] | [_] => WindowChoice::Nothing,
        _ => WindowChoice::Several,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: Rect = Rect { x: 10, y: 20, width: 300, height: 200 };
    const THERE: Rect = Rect { x: 500, y: 20, width: 300, height: 200 };

    fn at(title: &str, place: Rect) -> NamedPlace {
        NamedPlace { title: title.to_owned(), place }
    }

    #[test]
    fn a_window_is_the_element_with_its_title_at_its_place() {
        let window = at("Notes", HERE);
        let elements = [at("Notes", THERE), at("Mail", HERE), at("Notes", HERE)];
        assert_eq!(choose(&window, &[at("Mail", HERE)], &elements), WindowChoice::Element(2));
        assert_eq!(choose(&window, &[], &elements[..2]), WindowChoice::Nothing);
        assert_eq!(choose(&window, &[], &[]), WindowChoice::Nothing);
    }

    #[test]
    fn two_that_are_alike_are_nobodys() {
        let window = at("Untitled", HERE);
        let element = at("Untitled", HERE);
        assert_eq!(choose(&window, &[], &[element.clone(), element.clone()]), WindowChoice::Several);
        // Only one of two tabs is an element, and it may be either's.
        assert_eq!(choose(&window, &[at("Untitled", HERE)], &[element]), WindowChoice::Several);
    }

    #[test]
    fn an_element_may_say_more_in_its_title_only_where_no_other_window_is() {
        let window = at("News", HERE);
        let elements = [at("News - Browser - Ada", HERE)];
        assert_eq!(choose(&window, &[at("Mail", THERE)], &elements), WindowChoice::Element(0));
        assert_eq!(choose(&window, &[at("Mail", HERE)], &elements), WindowChoice::Nothing);
        assert_eq!(choose(&at("Mail", HERE), &[], &elements), WindowChoice::Nothing);
        let two = [at("News - a", HERE), at("News - b", HERE)];
        assert_eq!(choose(&window, &[], &two), WindowChoice::Several);
        // A title that only the program has was not judged.
        assert_eq!(choose(&at("", HERE), &[], &[at("My bank", HERE)]), WindowChoice::Nothing);
        assert_eq!(choose(&at("", HERE), &[], &[at("", HERE)]), WindowChoice::Element(0));
    }
}
