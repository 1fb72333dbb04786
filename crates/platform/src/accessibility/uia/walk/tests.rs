//! A program whose elements are numbers is read as one of Windows would be.

use std::cell::RefCell;
use std::collections::HashMap;

use super::*;
use crate::accessibility::State;
use crate::screen::Rect;

const BUTTON: i32 = 50000;
const LIST: i32 = 50008;
const WINDOW: i32 = 50032;
const PANE: i32 = 50033;
const WHOLE: Rect = Rect { x: 0, y: 0, width: 100, height: 100 };

/// A program of the process 7, whose window is 1 and has the windows 10 to 19 within it.
#[derive(Default)]
struct ListedProgram {
    facts: HashMap<u32, UiaFacts>,
    children: HashMap<u32, Result<Vec<u32>, ProgramError>>,
    /// The elements whose children were asked for.
    asked: RefCell<Vec<u32>>,
    /// After how many elements it is late.
    most_asked: Option<usize>,
}

impl UiaProgram for ListedProgram {
    type Element = u32;

    fn facts<'e>(&'e self, element: &'e u32) -> &'e UiaFacts {
        &self.facts[element]
    }

    fn children(&self, element: &u32) -> Result<UiaChildren<u32>, ProgramError> {
        self.asked.borrow_mut().push(*element);
        let elements = self.children.get(element).cloned().unwrap_or(Ok(Vec::new()))?;
        Ok(UiaChildren { elements, is_all: true })
    }

    fn first_children(&self, element: &u32, most: usize) -> Result<UiaChildren<u32>, ProgramError> {
        let all = self.children(element)?.elements;
        let is_all = all.len() <= most;
        Ok(UiaChildren { elements: all.into_iter().take(most).collect(), is_all })
    }

    fn is_own(&self, pid: u32) -> bool {
        pid == 7
    }

    fn is_within(&self, window: u64) -> bool {
        window == 1 || (10..20).contains(&window)
    }

    fn is_late(&self) -> bool {
        self.most_asked.is_some_and(|most| self.asked.borrow().len() >= most)
    }
}

fn element(kind: i32) -> UiaFacts {
    UiaFacts { kind, pid: 7, place: Some(WHOLE), ..UiaFacts::default() }
}

fn program(elements: Vec<(u32, UiaFacts, &[u32])>) -> ListedProgram {
    let mut program = ListedProgram::default();
    for (at, facts, children) in elements {
        program.facts.insert(at, facts);
        program.children.insert(at, Ok(children.to_vec()));
    }
    program
}

fn read(program: &ListedProgram) -> Result<(Vec<Element>, bool), ProgramError> {
    let mut id = |it: &u32| Some(RuntimeId { program: "7.1".to_owned(), path: it.to_string() });
    walk_window(program, 0, &mut id)
}

fn paths(elements: &[Element]) -> Vec<&str> {
    elements.iter().map(|it| it.id.path.as_str()).collect()
}

#[test]
fn a_window_that_another_one_has_is_not_among_its_elements() {
    let of_window = |window| UiaFacts { window, ..element(WINDOW) };
    let program = program(vec![
        (0, of_window(1), &[1, 2, 3]),
        // A dialog that belongs to the window, which is another window of the list.
        (1, of_window(99), &[4]),
        (2, UiaFacts { window: 12, ..element(PANE) }, &[5]),
        (3, element(BUTTON), &[]),
        (4, element(BUTTON), &[]),
        (5, element(BUTTON), &[]),
    ]);
    let (elements, is_all) = read(&program).expect("it answers");
    // What is another window's is not missing here.
    assert_eq!((paths(&elements), is_all), (vec!["0", "2", "3", "5"], true));
    assert!(!program.asked.borrow().contains(&1), "nothing is asked of it");
}

#[test]
fn what_a_program_lists_of_another_is_not_its_own() {
    let program = program(vec![
        (0, element(WINDOW), &[1, 2]),
        (1, UiaFacts { pid: 8, ..element(BUTTON) }, &[]),
        (2, element(BUTTON), &[]),
    ]);
    let (elements, is_all) = read(&program).expect("it answers");
    assert_eq!((paths(&elements), is_all), (vec!["0", "2"], false));
}

#[test]
fn nothing_in_a_field_for_a_secret_is_read() {
    let program = program(vec![
        (0, element(WINDOW), &[1]),
        (1, UiaFacts { is_password: true, ..element(50004) }, &[2]),
        // What shows the secret.
        (2, UiaFacts { can_invoke: true, ..element(BUTTON) }, &[]),
    ]);
    let (elements, _) = read(&program).expect("it answers");
    assert_eq!(paths(&elements), ["0", "1"]);
    assert_eq!(elements[1].role, Role::PasswordField);
    assert!(!program.asked.borrow().contains(&1));
}

#[test]
fn of_a_long_list_a_part_is_read_and_one_that_makes_its_items_is_never_all() {
    let rows: Vec<u32> = (10..410).collect();
    let mut long = program(vec![(0, element(WINDOW), &[1]), (1, element(LIST), &rows)]);
    long.facts.extend(rows.iter().map(|row| (*row, element(50007))));
    let (elements, is_all) = read(&long).expect("it answers");
    assert_eq!((elements.len(), is_all), (2 + MOST_CHILDREN, false));
    let maker = UiaFacts { makes_items: true, ..element(LIST) };
    let short = program(vec![(0, element(WINDOW), &[1]), (1, maker, &[2]), (2, element(50007), &[])]);
    assert_eq!(read(&short).map(|(all, is_all)| (all.len(), is_all)), Ok((3, false)));
}

#[test]
fn what_does_not_show_is_read_and_said_to_be_so() {
    let program = program(vec![
        (0, element(WINDOW), &[1, 2, 3]),
        (1, UiaFacts { is_offscreen: true, ..element(BUTTON) }, &[]),
        (2, UiaFacts { scrolls: true, place: Some(Rect::new(0, 0, 100, 50)), ..element(PANE) }, &[4]),
        (3, element(BUTTON), &[]),
        (4, UiaFacts { place: Some(Rect::new(0, 70, 100, 20)), ..element(BUTTON) }, &[]),
    ]);
    let (elements, _) = read(&program).expect("it answers");
    let shown: Vec<bool> = elements.iter().map(|it| it.states.has(State::Showing)).collect();
    assert_eq!(shown, [true, false, true, true, false]);
}

#[test]
fn a_program_that_hangs_is_left_and_an_element_that_is_gone_is_left_out() {
    let mut all =
        program(vec![(0, element(WINDOW), &[1, 2]), (1, element(PANE), &[]), (2, element(BUTTON), &[])]);
    for (answer, expected) in [
        (ProgramError::Gone, Ok((2, true))),
        (ProgramError::Unable, Ok((3, true))),
        (ProgramError::NoReply, Ok((3, false))),
        (ProgramError::Unresponsive, Err(ProgramError::Unresponsive)),
    ] {
        all.children.insert(1, Err(answer));
        assert_eq!(read(&all).map(|(all, is_all)| (all.len(), is_all)), expected);
    }
    all.children.insert(0, Err(ProgramError::Gone));
    assert_eq!(read(&all), Err(ProgramError::Gone));
}

#[test]
fn after_the_deadline_nothing_is_asked() {
    let mut all =
        program(vec![(0, element(WINDOW), &[1, 2]), (1, element(PANE), &[]), (2, element(PANE), &[])]);
    all.most_asked = Some(2);
    assert_eq!(read(&all).map(|(all, is_all)| (all.len(), is_all)), Ok((2, false)));
}
