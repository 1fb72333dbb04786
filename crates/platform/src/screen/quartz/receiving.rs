//! Which window of the list gets input, by what the programs say of what is there.

use crate::screen::{Point, Rect};

/// What gets input, as its program says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ToldReceiver {
    /// The process of the window.
    pub pid: u32,
    /// The title and the place of the window, in the units of the system; nothing for a menu and the like.
    pub window: Option<(String, Rect)>,
    /// The process of what is in the window.
    pub inner: u32,
}

/// A window of the list, as far as it decides what gets input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::screen) struct ListedWindow {
    pub pid: Option<u32>,
    /// Its title, fit to be shown.
    pub title: String,
    pub place: Rect,
    /// Whether it can be seen.
    pub is_shown: bool,
    /// Whether it is a menu, a bar or a hint.
    pub is_unmanaged: bool,
}

/// Returns the place in the list, from the bottom of the pile to its top, of the window that gets input at a point or, without
/// one, from the keyboard. Where it is not plain which that is, it is none.
pub(in crate::screen) fn receiver(
    told: &ToldReceiver,
    windows: &[ListedWindow],
    point: Option<Point>,
) -> Option<usize> {
    let is_there = |window: &ListedWindow| {
        point.is_none_or(|point| window.place.contains(&Rect::new(point.x, point.y, 1, 1)))
    };
    let shown = || windows.iter().enumerate().filter(|(_, window)| window.is_shown && is_there(window));
    let own = || shown().filter(|(_, window)| window.pid == Some(told.pid));
    let found = match &told.window {
        Some((title, place)) => {
            let is_it = |window: &ListedWindow| {
                let says_more = !window.title.is_empty() && title.starts_with(&window.title);
                window.place == *place && (window.title == *title || says_more)
            };
            let mut all = own().filter(|(_, window)| window.place == *place);
            match (all.next(), all.next()) {
                (Some((at, window)), None) if is_it(window) => at,
                _ => return None,
            }
        }
        // A menu has no window of its own to say, and is the highest there.
        None => own().next_back().filter(|(_, window)| point.is_some() && window.is_unmanaged)?.0,
    };
    // A window of another program above it would get what is said to be for it, unless it lets it through, which is not known.
    let is_covered = point.is_some()
        && shown().any(|(at, other)| at > found && other.pid != Some(told.pid) && !other.is_unmanaged);
    (!is_covered).then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: Rect = Rect { x: 0, y: 0, width: 100, height: 100 };
    const INSIDE: Option<Point> = Some(Point { x: 5, y: 5 });

    fn window(pid: u32, title: &str, place: Rect) -> ListedWindow {
        ListedWindow { pid: Some(pid), title: title.to_owned(), place, is_shown: true, is_unmanaged: false }
    }

    fn told(pid: u32, title: &str, place: Rect) -> ToldReceiver {
        ToldReceiver { pid, window: Some((title.to_owned(), place)), inner: pid }
    }

    #[test]
    fn a_window_gets_input_only_where_list_and_program_say_the_same() {
        let larger = Rect::new(0, 0, 300, 300);
        let list = [window(1, "Mail", larger), window(2, "Notes", HERE)];
        assert_eq!(receiver(&told(2, "Notes", HERE), &list, INSIDE), Some(1));
        assert_eq!(receiver(&told(2, "Notes - Ada", HERE), &list, INSIDE), Some(1));
        assert_eq!(receiver(&told(2, "Bank", HERE), &list, INSIDE), None);
        assert_eq!(receiver(&told(2, "Notes", larger), &list, INSIDE), None);
        // It is under that of another program; the keyboard goes there nevertheless.
        assert_eq!(receiver(&told(1, "Mail", larger), &list, INSIDE), None);
        assert_eq!(receiver(&told(1, "Mail", larger), &list, None), Some(0));
        let mut hidden = list.clone();
        hidden[1].is_shown = false;
        assert_eq!(receiver(&told(2, "Notes", HERE), &hidden, INSIDE), None);
    }

    #[test]
    fn of_two_windows_in_one_place_none_is_chosen() {
        let list = [window(1, "a", HERE), window(1, "b", HERE)];
        assert_eq!(receiver(&told(1, "a", HERE), &list, INSIDE), None);
    }

    #[test]
    fn a_menu_is_the_highest_of_its_program_and_a_hint_of_another_covers_nothing() {
        let menu = ListedWindow { is_unmanaged: true, ..window(1, "", HERE) };
        let bar = ListedWindow { is_unmanaged: true, ..window(9, "", HERE) };
        let without = ToldReceiver { pid: 1, window: None, inner: 1 };
        let list = [window(1, "a", HERE), menu, bar];
        assert_eq!(receiver(&without, &list, INSIDE), Some(1));
        assert_eq!(receiver(&without, &list[..1], INSIDE), None, "it is no menu");
        assert_eq!(receiver(&without, &list, None), None);
        assert_eq!(receiver(&told(1, "a", HERE), &[list[0].clone(), list[2].clone()], INSIDE), Some(0));
    }
}
