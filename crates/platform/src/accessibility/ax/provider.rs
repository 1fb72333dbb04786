//! The accessibility of macOS, as all systems are asked.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::choice::NamedPlace;
use super::element::{AxElement, limit_calls};
use super::facts::{AxContent, AxFacts};
use super::names::{action_name, pressing};
use super::walk::{AxProgram, walk};
use super::window::{allowed, element_of_window, named};
use crate::accessibility::listing::listed_window;
use crate::accessibility::table::ElementTable;
use crate::accessibility::worker::Worker;
use crate::accessibility::{
    AccessibilityError, Bounds, ElementDetails, ElementSource, ElementTree, Placement, RuntimeId,
};
use crate::libproc;
use crate::program_error::ProgramError;
use crate::screen::{Displays, Window};

/// How long all of a window may take.
const WALK: Duration = Duration::from_secs(5);
/// When nothing more is asked about a window: one call may still take a second.
const WALK_ASKS: Duration = Duration::from_secs(4);
/// How long the answers to a question about many elements may take.
const MANY: Duration = Duration::from_secs(4);
/// How long one action may take.
const ONE: Duration = Duration::from_secs(3);
/// More actions than these are not read.
const MOST_ACTIONS: usize = 16;
/// What opening and closing is called, for rows that are opened by a value.
const OPENING: &str = "expand or contract";

/// Returns the accessibility of this system.
pub fn element_source(displays: Arc<Displays>) -> Arc<dyn ElementSource> {
    Arc::new(Ax { displays, worker: Worker::new(new_table) })
}

/// Returns whether the user lets this process use the accessibility of the system. The user is not asked.
pub fn allowance() -> Option<Result<(), AccessibilityError>> {
    Some(allowed())
}

type Table = ElementTable<AxElement>;

fn new_table() -> Table {
    limit_calls();
    Table::default()
}

#[derive(Debug)]
struct Ax {
    displays: Arc<Displays>,
    worker: Worker<Table>,
}

/// A process and its elements, until a moment.
struct Program {
    pid: i32,
    latest: Instant,
}

impl AxProgram for Program {
    type Element = AxElement;

    fn facts(&self, element: &AxElement) -> Result<AxFacts<AxElement>, ProgramError> {
        element.facts()
    }

    fn content(&self, element: &AxElement) -> Result<AxContent, ProgramError> {
        element.content()
    }

    fn is_settable(&self, element: &AxElement) -> Result<bool, ProgramError> {
        element.is_settable("AXValue")
    }

    fn has_actions(&self, element: &AxElement) -> Result<bool, ProgramError> {
        Ok(pressing(&element.actions()?, false).is_some())
    }

    fn shown_children(&self, element: &AxElement) -> Result<Vec<AxElement>, ProgramError> {
        element.elements("AXVisibleRows").or_else(|_| element.elements("AXVisibleChildren"))
    }

    fn is_own(&self, element: &AxElement) -> bool {
        element.pid() == Some(self.pid)
    }

    fn is_late(&self) -> bool {
        Instant::now() >= self.latest
    }
}

/// Returns what a process is called by, so that no later one of the same number is.
fn program_of(pid: i32) -> Option<String> {
    libproc::birth(pid).map(|(own, _)| format!("{pid}.{own}"))
}

/// Returns whether a process still runs.
fn is_running(program: &str) -> bool {
    let pid = program.split_once('.').and_then(|(pid, _)| pid.parse().ok());
    pid.and_then(program_of).is_some_and(|now| now == program)
}

/// Finds an element that was seen, of a process that still runs.
fn find(table: &Table, id: &RuntimeId) -> Result<AxElement, ProgramError> {
    table.get(id).filter(|_| is_running(&id.program)).ok_or(ProgramError::Gone)
}

/// Finds an element whose content is no secret. It may have become one.
fn find_readable(table: &Table, id: &RuntimeId) -> Result<AxElement, ProgramError> {
    let element = find(table, id)?;
    let facts = element.facts()?;
    if facts.is_secure() || facts.is_protected { Err(ProgramError::Unable) } else { Ok(element) }
}

impl Ax {
    /// Has something asked, if the user lets this process ask.
    fn ask<T: Send + 'static>(
        &self,
        limit: Duration,
        work: impl FnOnce(&mut Table) -> Result<T, AccessibilityError> + Send + 'static,
    ) -> Result<T, AccessibilityError> {
        allowed()?;
        self.worker.run(limit, work)
    }

    /// Asks an element for something.
    fn of_one<T: Send + 'static>(
        &self,
        element: &RuntimeId,
        work: impl FnOnce(&Table, AxElement) -> Result<T, ProgramError> + Send + 'static,
    ) -> Result<T, AccessibilityError> {
        let id = element.clone();
        self.ask(ONE, move |table| Ok(work(table, find(table, &id)?)?))
    }

    /// Asks the same of many elements. Of one that is gone or has no such thing there is nothing.
    fn of_many<T: Send + 'static>(
        &self,
        elements: &[RuntimeId],
        work: impl Fn(&mut Table, &RuntimeId) -> Result<Option<T>, ProgramError> + Send + 'static,
    ) -> Result<Vec<Option<T>>, AccessibilityError> {
        let ids = elements.to_vec();
        let latest = Instant::now() + MANY;
        self.ask(MANY, move |table| {
            let answers = ids.iter().map(|id| {
                if Instant::now() >= latest {
                    return Err(ProgramError::Unresponsive.into());
                }
                match work(table, id) {
                    Err(error @ (ProgramError::Unresponsive | ProgramError::Lost)) => Err(error.into()),
                    answer => Ok(answer.unwrap_or_default()),
                }
            });
            answers.collect()
        })
    }
}

/// Reads a window of a process, which the list of windows calls so and has at this place, beside the others of the process.
fn read(
    table: &mut Table,
    window: &Window,
    pid: i32,
    (own, others): &(NamedPlace, Vec<NamedPlace>),
) -> Result<ElementTree, AccessibilityError> {
    let program = Program { pid, latest: Instant::now() + WALK_ASKS };
    let nothing = || AccessibilityError::NoElements(window.id.clone());
    let name = program_of(pid).ok_or_else(nothing)?;
    let top = element_of_window(&window.id, pid, own, others)?;
    table.retain(is_running);
    table.begin(&name);
    let (elements, complete) = match walk(&program, top, &mut |element| table.id(&name, element)) {
        Err(ProgramError::Gone) => return Err(nothing()),
        read => read?,
    };
    Ok(ElementTree {
        pid: pid.unsigned_abs(),
        elements,
        complete,
        placement: Placement::of_window(own.place, window),
        delay: Duration::ZERO,
    })
}

impl ElementSource for Ax {
    fn tree(&self, window: &Window) -> Result<ElementTree, AccessibilityError> {
        let nothing = || AccessibilityError::NoElements(window.id.clone());
        let pid = window.pid.and_then(|pid| i32::try_from(pid).ok()).filter(|pid| *pid > 0);
        // Without its program it cannot be judged.
        let pid = pid.filter(|_| window.process.is_some()).ok_or_else(nothing)?;
        let (own, others) = listed_window(&self.displays, window)?;
        let places = (named(&own), others.iter().map(named).collect());
        let window = window.clone();
        self.ask(WALK, move |table| read(table, &window, pid, &places))
    }

    fn bounds(
        &self,
        _: &str,
        tree: &ElementTree,
        elements: &[usize],
    ) -> Result<Vec<Bounds>, AccessibilityError> {
        let ids: Vec<RuntimeId> = elements.iter().map(|at| tree.elements[*at].id.clone()).collect();
        let placement = tree.placement;
        self.of_many(&ids, move |table, id| Ok(find(table, id)?.place()?.map(|it| placement.on_display(it))))
    }

    fn texts(
        &self,
        _: &str,
        elements: &[RuntimeId],
        most: usize,
    ) -> Result<Vec<Option<String>>, AccessibilityError> {
        self.of_many(elements, move |table, id| {
            Ok(match find_readable(table, id)?.content()? {
                AxContent::Text(text) => Some(text.chars().take(most).collect()),
                AxContent::Number(_) | AxContent::Nothing => None,
            })
        })
    }

    fn numbers(&self, _: &str, elements: &[RuntimeId]) -> Result<Vec<Option<f64>>, AccessibilityError> {
        self.of_many(elements, |table, id| {
            Ok(match find_readable(table, id)?.content()? {
                AxContent::Number(number) => Some(number),
                AxContent::Text(_) | AxContent::Nothing => None,
            })
        })
    }

    fn ranges(&self, _: &str, elements: &[RuntimeId]) -> Result<Vec<Option<[f64; 2]>>, AccessibilityError> {
        self.of_many(elements, |table, id| {
            let element = find(table, id)?;
            let range = (element.number("AXMinValue"), element.number("AXMaxValue"));
            Ok(match range {
                (Ok(Some(least)), Ok(Some(most))) => Some([least, most]),
                // Scroll bars say none: theirs is always the same.
                _ if element.facts()?.role == "AXScrollBar" => Some([0.0, 1.0]),
                _ => None,
            })
        })
    }

    fn labels(&self, _: &str, elements: &[RuntimeId]) -> Result<Vec<Option<RuntimeId>>, AccessibilityError> {
        self.of_many(elements, |table, id| {
            let element = find(table, id)?;
            let label = element.element("AXTitleUIElement")?.filter(|label| label.pid() == element.pid());
            Ok(label.and_then(|label| table.id(&id.program, &label)))
        })
    }

    fn press(&self, _: &str, element: &RuntimeId) -> Result<bool, AccessibilityError> {
        self.of_one(element, |_, element| {
            let opens_menu =
                matches!(element.facts()?.role.as_str(), "AXMenuButton" | "AXPopUpButton" | "AXComboBox");
            let actions = element.actions()?;
            element.perform(pressing(&actions, opens_menu).ok_or(ProgramError::Unable)?).map(|()| true)
        })
    }

    fn actions(&self, _: &str, element: &RuntimeId) -> Result<Vec<String>, AccessibilityError> {
        self.of_one(element, |_, element| {
            let actions = element.actions()?;
            let mut names: Vec<String> =
                actions.iter().take(MOST_ACTIONS).map(|action| action_name(action)).collect();
            if opening(&element)?.is_some() {
                names.push(OPENING.to_owned());
            }
            Ok(names)
        })
    }

    fn act(&self, _: &str, element: &RuntimeId, names: &[&str]) -> Result<bool, AccessibilityError> {
        let wanted: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        self.of_one(element, move |_, element| {
            let actions = element.actions()?;
            for name in wanted {
                if let Some(action) =
                    actions.iter().take(MOST_ACTIONS).find(|action| action_name(action) == name)
                {
                    return element.perform(action).map(|()| true);
                }
                if name == OPENING
                    && let Some((attribute, is_open)) = opening(&element)?
                {
                    return element.set_truth(attribute, !is_open).map(|()| true);
                }
            }
            Err(ProgramError::Unable)
        })
    }

    fn select(&self, _: &str, list: &RuntimeId, item: &RuntimeId) -> Result<bool, AccessibilityError> {
        let list = list.clone();
        self.of_one(item, move |table, item| {
            let list = find(table, &list)?;
            if item.element("AXParent").ok().flatten().as_ref() != Some(&list)
                && !list.elements("AXChildren")?.contains(&item)
            {
                return Err(ProgramError::Gone);
            }
            if item.is_settable("AXSelected").unwrap_or(false) {
                return item.set_truth("AXSelected", true).map(|()| true);
            }
            let mut attributes = ["AXSelectedRows", "AXSelectedChildren"].into_iter();
            let settable = attributes.find(|name| list.is_settable(name).unwrap_or(false));
            list.set_element(settable.ok_or(ProgramError::Unable)?, &item).map(|()| true)
        })
    }

    fn focus(&self, _: &str, element: &RuntimeId) -> Result<bool, AccessibilityError> {
        self.of_one(element, |_, element| element.set_truth("AXFocused", true).map(|()| true))
    }

    fn scroll_to(&self, _: &str, element: &RuntimeId) -> Result<bool, AccessibilityError> {
        self.of_one(element, |_, element| element.perform("AXScrollToVisible").map(|()| true))
    }

    fn set_text(&self, _: &str, element: &RuntimeId, text: &str) -> Result<bool, AccessibilityError> {
        let (id, text) = (element.clone(), text.to_owned());
        self.ask(ONE, move |table| {
            let element = find_readable(table, &id)?;
            if !element.is_settable("AXValue")? {
                return Err(ProgramError::Unable.into());
            }
            Ok(element.set_text(&text).map(|()| true)?)
        })
    }

    fn details(&self, _: &str, element: &RuntimeId) -> Result<ElementDetails, AccessibilityError> {
        self.of_one(element, |_, element| {
            let step = match element.number("AXValueIncrement") {
                Err(ProgramError::Unable) => None,
                step => step?.filter(|it| it.is_finite() && *it > 0.0),
            };
            // Places in texts are counted in units of UTF-16, and addresses are objects of their own: neither is read.
            Ok(ElementDetails { caret: None, step, url: None })
        })
    }

    fn insert_text(&self, _: &str, _: &RuntimeId, _: usize, _: &str) -> Result<bool, AccessibilityError> {
        Err(ProgramError::Unable.into())
    }

    fn set_number(&self, _: &str, element: &RuntimeId, number: f64) -> Result<(), AccessibilityError> {
        self.of_one(element, move |_, element| element.set_number(number))
    }
}

/// Returns the attribute that opens and closes an element, if one can be set, and whether it is open.
fn opening(element: &AxElement) -> Result<Option<(&'static str, bool)>, ProgramError> {
    let facts = element.facts()?;
    let attributes = [("AXDisclosing", facts.disclosing), ("AXExpanded", facts.expanded)];
    let mut known = attributes.into_iter().filter_map(|(name, is_open)| Some((name, is_open?)));
    Ok(known.find(|(name, _)| element.is_settable(name).unwrap_or(false)))
}
