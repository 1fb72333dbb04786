//! A program whose elements are numbers is read as one of macOS would be.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;

use super::*;
use crate::accessibility::walk::DEPTH;
use crate::accessibility::{Ability, State};
use crate::screen::Rect;

/// A program whose elements are numbers. Those below 1000 are its own.
#[derive(Default)]
struct ListedProgram {
    facts: HashMap<u32, Result<AxFacts<u32>, ProgramError>>,
    contents: HashMap<u32, AxContent>,
    shown: Vec<u32>,
    /// The elements whose content was asked for.
    asked: RefCell<Vec<u32>>,
    /// How many more elements are read before it is late.
    left: Option<Cell<u32>>,
}

impl AxProgram for ListedProgram {
    type Element = u32;

    fn facts(&self, element: &u32) -> Result<AxFacts<u32>, ProgramError> {
        if let Some(left) = &self.left {
            left.set(left.get() - 1);
        }
        self.facts.get(element).cloned().unwrap_or(Err(ProgramError::Gone))
    }

    fn content(&self, element: &u32) -> Result<AxContent, ProgramError> {
        self.asked.borrow_mut().push(*element);
        self.contents.get(element).cloned().ok_or(ProgramError::Unable)
    }

    fn is_settable(&self, element: &u32) -> Result<bool, ProgramError> {
        self.asked.borrow_mut().push(*element);
        Ok(true)
    }

    fn has_actions(&self, _: &u32) -> Result<bool, ProgramError> {
        Err(ProgramError::Unable)
    }

    fn shown_children(&self, _: &u32) -> Result<Vec<u32>, ProgramError> {
        Ok(self.shown.clone())
    }

    fn is_own(&self, element: &u32) -> bool {
        *element < 1000
    }

    fn is_late(&self) -> bool {
        self.left.as_ref().is_some_and(|left| left.get() == 0)
    }
}

const WHOLE: Rect = Rect { x: 0, y: 0, width: 100, height: 100 };

fn element(role: &str, place: Rect, children: &[u32]) -> AxFacts<u32> {
    AxFacts { role: role.to_owned(), place: Some(place), children: children.to_vec(), ..AxFacts::default() }
}

fn program(elements: Vec<(u32, AxFacts<u32>)>) -> ListedProgram {
    ListedProgram {
        facts: elements.into_iter().map(|(at, facts)| (at, Ok(facts))).collect(),
        ..ListedProgram::default()
    }
}

fn read(program: &ListedProgram) -> Result<(Vec<Element>, bool), ProgramError> {
    let mut id = |it: &u32| Some(RuntimeId { program: "7.1".to_owned(), path: it.to_string() });
    walk(program, 0, &mut id)
}

fn paths(elements: &[Element]) -> Vec<&str> {
    elements.iter().map(|it| it.id.path.as_str()).collect()
}

#[test]
fn elements_come_after_what_they_are_in_and_each_once() {
    let program = program(vec![
        (0, element("AXWindow", WHOLE, &[1, 2])),
        (1, element("AXGroup", WHOLE, &[3, 0, 2])),
        (2, element("AXButton", WHOLE, &[])),
        (3, element("AXButton", WHOLE, &[1])),
    ]);
    let (elements, is_all) = read(&program).expect("it answers");
    assert_eq!((paths(&elements), is_all), (vec!["0", "1", "2", "3"], true));
    let parents: Vec<_> = elements.iter().map(|it| it.parent).collect();
    assert_eq!(parents, [None, Some(0), Some(0), Some(1)]);
    assert!(elements[2].abilities.has(Ability::Act) && elements[2].states.has(State::Showing));
}

#[test]
fn what_a_program_lists_of_another_is_not_its_own() {
    let program = program(vec![
        (0, element("AXWindow", WHOLE, &[1, 1001])),
        (1, element("AXButton", WHOLE, &[1002])),
        (1001, element("AXTextArea", WHOLE, &[])),
        (1002, element("AXButton", WHOLE, &[])),
    ]);
    let (elements, is_all) = read(&program).expect("it answers");
    assert_eq!((paths(&elements), is_all), (vec!["0", "1"], false));
}

#[test]
fn nothing_is_asked_of_a_secure_field_and_no_field_is_read() {
    let secure = AxFacts { subrole: "AXSecureTextField".to_owned(), ..element("AXTextField", WHOLE, &[]) };
    let mut program = program(vec![
        (0, element("AXWindow", WHOLE, &[1, 2, 3])),
        (1, secure),
        (2, element("AXStaticText", WHOLE, &[])),
        (3, element("AXTextField", WHOLE, &[])),
    ]);
    let text = |it: &str| AxContent::Text(it.to_owned());
    program.contents = HashMap::from([(1, text("hunter2")), (2, text("Password")), (3, text("Ada"))]);
    let (elements, _) = read(&program).expect("it answers");
    assert_eq!(elements[1].role, Role::PasswordField);
    assert_eq!((elements[2].name.as_str(), elements[3].name.as_str()), ("Password", ""));
    // Of the field only whether it can be set.
    assert_eq!(*program.asked.borrow(), [2, 3]);
    assert!(elements[3].abilities.has(Ability::EditText));
}

#[test]
fn what_is_scrolled_out_of_view_does_not_show() {
    let low = Rect::new(0, 70, 100, 20);
    let program = program(vec![
        (0, element("AXWindow", WHOLE, &[1, 4, 5])),
        (5, element("AXSheet", Rect::new(-20, 0, 140, 300), &[6])),
        (6, element("AXButton", Rect::new(0, 250, 50, 20), &[])),
        (1, element("AXScrollArea", Rect::new(0, 0, 100, 50), &[2, 3])),
        (2, element("AXButton", Rect::new(0, 40, 100, 20), &[])),
        (3, element("AXButton", low, &[])),
        (4, element("AXButton", low, &[])),
    ]);
    let (elements, _) = read(&program).expect("it answers");
    let of = |path: &str| elements.iter().find(|it| it.id.path == path).expect("it is read").states;
    assert!(of("2").has(State::Showing) && of("4").has(State::Showing));
    assert!(of("6").has(State::Showing), "a sheet is over its window");
    assert!(!of("3").has(State::Showing) && of("3").has(State::Visible));
}

#[test]
fn of_a_long_list_the_rows_that_show_are_read() {
    let rows: Vec<u32> = (1..=400).collect();
    let mut program =
        program(vec![(0, element("AXWindow", WHOLE, &[999])), (999, element("AXTable", WHOLE, &rows))]);
    program.facts.extend((5..8).map(|row| (row, Ok(element("AXRow", WHOLE, &[])))));
    program.shown = vec![5, 6, 7];
    let (elements, is_all) = read(&program).expect("it answers");
    assert_eq!((paths(&elements), is_all), (vec!["0", "999", "5", "6", "7"], false));
}

#[test]
fn a_program_that_hangs_is_left_and_an_element_that_is_gone_is_left_out() {
    let mut program =
        program(vec![(0, element("AXWindow", WHOLE, &[1, 2, 3])), (3, element("AXButton", WHOLE, &[]))]);
    assert_eq!(read(&program).map(|(all, is_all)| (all.len(), is_all)), Ok((2, true)));
    program.facts.insert(2, Err(ProgramError::NoReply));
    assert_eq!(read(&program).map(|(all, is_all)| (all.len(), is_all)), Ok((2, false)));
    program.facts.insert(2, Err(ProgramError::Unresponsive));
    assert_eq!(read(&program), Err(ProgramError::Unresponsive));
    program.facts.remove(&0);
    assert_eq!(read(&program), Err(ProgramError::Gone));
}

#[test]
fn after_the_deadline_nothing_is_asked() {
    let mut program =
        program(vec![(0, element("AXWindow", WHOLE, &[1])), (1, element("AXStaticText", WHOLE, &[]))]);
    program.left = Some(Cell::new(1));
    assert_eq!(read(&program).map(|(all, is_all)| (all.len(), is_all)), Ok((1, false)));
    program.left = Some(Cell::new(2));
    assert_eq!(read(&program).map(|(all, is_all)| (all.len(), is_all)), Ok((2, false)));
    assert!(program.asked.borrow().is_empty());
}

#[test]
fn a_tree_without_end_has_one() {
    let chain = (0..500).map(|at| (at, element("AXGroup", WHOLE, &[at + 1]))).collect();
    let (elements, is_all) = read(&program(chain)).expect("it answers");
    assert_eq!((elements.len(), is_all), (DEPTH + 1, false));
}
