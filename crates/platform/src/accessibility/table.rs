//! Numbers for elements, so that a number is never another element's.
//!
//! A program gives its elements no names: they are only equal or not. The first time that one is seen it gets a number, which it
//! keeps for as long as there is room. A number that has gone is given to no other element.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::accessibility::RuntimeId;

/// The most elements of one program.
const MOST_OF_ONE: usize = 20_000;
/// The most programs.
const MOST_PROGRAMS: usize = 16;

/// The next number, of any table.
static NEXT: AtomicU64 = AtomicU64::new(1);

/// The elements that were seen, by program and number.
#[derive(Debug)]
pub(super) struct ElementTable<E> {
    programs: HashMap<String, ProgramElements<E>>,
    /// How often a window was read.
    round: u64,
}

#[derive(Debug)]
struct ProgramElements<E> {
    numbers: HashMap<E, u64>,
    elements: HashMap<u64, (E, u64)>,
    round: u64,
}

// What is derived would need an empty element.
impl<E> Default for ElementTable<E> {
    fn default() -> Self {
        Self { programs: HashMap::new(), round: 0 }
    }
}

impl<E: Clone + Eq + Hash> ElementTable<E> {
    /// Begins to read a window of a program. The program that was not read for longest goes where there are too many.
    pub(super) fn begin(&mut self, program: &str) {
        self.round += 1;
        let is_known = self.programs.contains_key(program);
        if !is_known && self.programs.len() >= MOST_PROGRAMS {
            let oldest = self.programs.iter().min_by_key(|(_, it)| it.round).map(|(name, _)| name.clone());
            oldest.map(|name| self.programs.remove(&name));
        }
        let empty = || ProgramElements { numbers: HashMap::new(), elements: HashMap::new(), round: 0 };
        self.programs.entry(program.to_owned()).or_insert_with(empty).round = self.round;
    }

    /// Returns the id of an element of a program that is being read: that which it had, or a new one.
    pub(super) fn id(&mut self, program: &str, element: &E) -> Option<RuntimeId> {
        let round = self.round;
        let elements = self.programs.get_mut(program)?;
        let number = match elements.numbers.get(element) {
            Some(number) => *number,
            None => {
                elements.make_room(round)?;
                let number = NEXT.fetch_add(1, Ordering::Relaxed);
                elements.numbers.insert(element.clone(), number);
                number
            }
        };
        elements.elements.insert(number, (element.clone(), round));
        Some(RuntimeId { program: program.to_owned(), path: number.to_string() })
    }

    /// Returns the id that an element of a program has, if it was seen.
    #[cfg(any(test, windows))]
    pub(super) fn known_id(&self, program: &str, element: &E) -> Option<RuntimeId> {
        let number = self.programs.get(program)?.numbers.get(element)?;
        Some(RuntimeId { program: program.to_owned(), path: number.to_string() })
    }

    /// Returns the element of an id.
    pub(super) fn get(&self, id: &RuntimeId) -> Option<E> {
        let number: u64 = id.path.parse().ok()?;
        self.programs.get(&id.program)?.elements.get(&number).map(|(element, _)| element.clone())
    }

    /// Forgets programs that have ended.
    pub(super) fn retain(&mut self, is_running: impl Fn(&str) -> bool) {
        self.programs.retain(|program, _| is_running(program));
    }
}

impl<E: Clone + Eq + Hash> ProgramElements<E> {
    /// Makes room for one element more: all that were seen last in the oldest round go. None, where all are of this one.
    fn make_room(&mut self, round: u64) -> Option<()> {
        if self.elements.len() < MOST_OF_ONE {
            return Some(());
        }
        let oldest =
            self.elements.values().map(|(_, round)| *round).min().filter(|oldest| *oldest < round)?;
        self.elements.retain(|_, (_, seen)| *seen != oldest);
        self.numbers.retain(|_, number| self.elements.contains_key(number));
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_element_keeps_its_number_and_no_other_gets_it() {
        let mut table = ElementTable::default();
        table.begin("7.1");
        let save = table.id("7.1", &"save").expect("a number");
        let open = table.id("7.1", &"open").expect("a number");
        assert_ne!(save, open);
        table.begin("7.1");
        assert_eq!(table.id("7.1", &"save"), Some(save.clone()));
        assert_eq!(table.get(&save), Some("save"));
        assert_eq!(
            (table.known_id("7.1", &"save"), table.known_id("7.1", &"quit")),
            (Some(save.clone()), None)
        );
        // The same number of a process is another program's once the first has ended.
        table.retain(|program| program != "7.1");
        table.begin("7.2");
        let other = table.id("7.2", &"save").expect("a number");
        assert_eq!((table.get(&save), table.get(&other)), (None, Some("save")));
        assert_eq!(table.get(&RuntimeId { path: save.path, ..other.clone() }), None);
        assert_eq!(table.get(&RuntimeId { path: "x".to_owned(), ..other }), None);
        // Not even in a table of its own.
        let mut second = ElementTable::default();
        second.begin("7.1");
        assert_ne!(second.id("7.1", &"quit").expect("a number").path, open.path);
    }

    #[test]
    fn a_table_that_is_full_forgets_what_was_not_seen_for_longest() {
        let mut table = ElementTable::default();
        table.begin("p");
        let first = table.id("p", &0).expect("a number");
        table.begin("p");
        for element in 1..MOST_OF_ONE {
            table.id("p", &element).expect("a number");
        }
        table.begin("p");
        let kept = table.id("p", &1).expect("a number");
        let new = table.id("p", &MOST_OF_ONE).expect("a number");
        assert_eq!((table.get(&first), table.get(&new)), (None, Some(MOST_OF_ONE)));
        let again = table.id("p", &0).expect("a number");
        assert_ne!(again, first);
        assert_eq!(table.id("p", &1), Some(kept));
        // In one reading there is no more room than that.
        table.begin("q");
        let all = (0..=MOST_OF_ONE).filter(|it| table.id("q", it).is_some()).count();
        assert_eq!(all, MOST_OF_ONE);
    }

    #[test]
    fn the_program_that_was_not_read_for_longest_goes() {
        let mut table = ElementTable::default();
        let ids: Vec<_> = (0..=MOST_PROGRAMS)
            .map(|at| {
                let program = at.to_string();
                table.begin(&program);
                table.id(&program, &"it").expect("a number")
            })
            .collect();
        assert_eq!(table.get(&ids[0]), None);
        assert!(ids[1..].iter().all(|id| table.get(id) == Some("it")));
    }
}
