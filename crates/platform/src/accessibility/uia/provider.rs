//! The accessibility of Windows, as all systems are asked.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::element::{Uia, UiaElement, is_hung, is_within};
use super::facts::UiaFacts;
use super::walk::{UiaChildren, UiaProgram, walk_window};
use crate::accessibility::listing::listed_window;
use crate::accessibility::table::ElementTable;
use crate::accessibility::worker::Worker;
use crate::accessibility::{
    AccessibilityError, Bounds, ElementDetails, ElementSource, ElementTree, Placement, Role, RuntimeId,
};
use crate::program_error::ProgramError;
use crate::screen::{Displays, SystemWindow, Window, use_true_pixels};
use crate::windows::process_birth;

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

/// Returns the accessibility of this system.
pub fn element_source(displays: Arc<Displays>) -> Arc<dyn ElementSource> {
    Arc::new(UiaSource { displays, worker: Worker::new(ThreadState::new) })
}

/// Returns whether this system has a client of UI Automation.
pub fn allowance() -> Option<Result<(), AccessibilityError>> {
    let worker = Worker::new(ThreadState::new);
    Some(worker.run(ONE, |state| state.client().map(|_| ())))
}

#[derive(Debug)]
struct UiaSource {
    displays: Arc<Displays>,
    worker: Worker<ThreadState>,
}

/// What stays on the thread.
struct ThreadState {
    // Before the client, which its elements need.
    table: ElementTable<UiaElement>,
    client: Result<Uia, AccessibilityError>,
}

impl ThreadState {
    fn new() -> Self {
        // Without true pixels no window could be read, which its list says.
        let _ = use_true_pixels();
        Self { table: ElementTable::default(), client: Uia::new() }
    }

    /// Returns the client; one that could not be started is tried again.
    fn client(&mut self) -> Result<(&mut ElementTable<UiaElement>, &Uia), AccessibilityError> {
        if self.client.is_err() {
            self.client = Uia::new();
        }
        match &self.client {
            Ok(client) => Ok((&mut self.table, client)),
            Err(error) => Err(error.clone()),
        }
    }
}

/// A window and its program, until a moment.
struct Program<'a> {
    client: &'a Uia,
    window: u64,
    /// The process, and that of the window: apps of the Store are shown in one of the system.
    pids: [u32; 2],
    latest: Instant,
}

impl UiaProgram for Program<'_> {
    type Element = UiaElement;

    fn facts<'e>(&'e self, element: &'e UiaElement) -> &'e UiaFacts {
        element.facts()
    }

    fn children(&self, element: &UiaElement) -> Result<UiaChildren<UiaElement>, ProgramError> {
        self.client.children(element)
    }

    fn first_children(
        &self,
        element: &UiaElement,
        most: usize,
    ) -> Result<UiaChildren<UiaElement>, ProgramError> {
        self.client.first_children(element, most)
    }

    fn is_own(&self, pid: u32) -> bool {
        self.pids.contains(&pid)
    }

    fn is_within(&self, window: u64) -> bool {
        is_within(window, self.window)
    }

    fn is_late(&self) -> bool {
        Instant::now() >= self.latest
    }
}

/// Returns what a process is called by, so that no later one of the same number is.
fn program_of(pid: u32) -> Option<String> {
    process_birth(pid).map(|birth| format!("{pid}.{birth}"))
}

/// Returns whether a process still runs.
fn is_running(program: &str) -> bool {
    let pid = program.split_once('.').and_then(|(pid, _)| pid.parse().ok());
    pid.and_then(program_of).is_some_and(|now| now == program)
}

/// Reads an element again that was seen, of a process that still runs. One that is another now is gone.
fn find(table: &ElementTable<UiaElement>, client: &Uia, id: &RuntimeId) -> Result<UiaElement, ProgramError> {
    let seen = table.get(id).filter(|_| is_running(&id.program)).ok_or(ProgramError::Gone)?;
    client.refreshed(&seen)
}

/// Reads an element again whose content is no secret. It may have become one.
fn find_readable(
    table: &ElementTable<UiaElement>,
    client: &Uia,
    id: &RuntimeId,
) -> Result<UiaElement, ProgramError> {
    let element = find(table, client, id)?;
    match element.facts().role() {
        Role::PasswordField | Role::Terminal => Err(ProgramError::Unable),
        _ => Ok(element),
    }
}

impl UiaSource {
    /// Has something asked.
    fn ask<T: Send + 'static>(
        &self,
        limit: Duration,
        work: impl FnOnce(&mut ElementTable<UiaElement>, &Uia) -> Result<T, AccessibilityError> + Send + 'static,
    ) -> Result<T, AccessibilityError> {
        self.worker.run(limit, |state| {
            let (table, client) = state.client()?;
            work(table, client)
        })
    }

    /// Asks an element for something, whose content is no secret.
    fn of_one<T: Send + 'static>(
        &self,
        element: &RuntimeId,
        work: impl FnOnce(&UiaElement) -> Result<T, ProgramError> + Send + 'static,
    ) -> Result<T, AccessibilityError> {
        let id = element.clone();
        self.ask(ONE, move |table, client| Ok(work(&find_readable(table, client, &id)?)?))
    }

    /// Asks the same of many elements. Of one that is gone or has no such thing there is nothing.
    fn of_many<T: Send + 'static>(
        &self,
        elements: &[RuntimeId],
        work: impl Fn(&mut ElementTable<UiaElement>, &Uia, &RuntimeId) -> Result<Option<T>, ProgramError>
        + Send
        + 'static,
    ) -> Result<Vec<Option<T>>, AccessibilityError> {
        let ids = elements.to_vec();
        let latest = Instant::now() + MANY;
        self.ask(MANY, move |table, client| {
            let answers = ids.iter().map(|id| {
                if Instant::now() >= latest {
                    return Err(ProgramError::Unresponsive.into());
                }
                match work(table, client, id) {
                    Err(error @ (ProgramError::Unresponsive | ProgramError::Lost)) => Err(error.into()),
                    answer => Ok(answer.unwrap_or_default()),
                }
            });
            answers.collect()
        })
    }
}

/// Reads a window of a process, as the list of windows has it.
fn read(
    table: &mut ElementTable<UiaElement>,
    client: &Uia,
    window: &Window,
    (own, pid): (&SystemWindow, u32),
) -> Result<ElementTree, AccessibilityError> {
    let nothing = || AccessibilityError::NoElements(window.id.clone());
    let name = program_of(pid).ok_or_else(nothing)?;
    // One that hangs would take its second for each of its parts.
    if is_hung(own.number) {
        return Err(ProgramError::Unresponsive.into());
    }
    let top = match client.of_window(own.number) {
        Err(ProgramError::Unable | ProgramError::Gone) => return Err(nothing()),
        top => top?,
    };
    let pids = [pid, crate::screen::process_of_window(own.number).ok_or_else(nothing)?];
    let program = Program { client, window: own.number, pids, latest: Instant::now() + WALK_ASKS };
    // The number may be another window's by now.
    if !program.is_own(top.facts().pid) || top.facts().window != own.number {
        return Err(nothing());
    }
    table.retain(is_running);
    table.begin(&name);
    let (elements, complete) = match walk_window(&program, top, &mut |element| table.id(&name, element)) {
        Err(ProgramError::Gone) => return Err(nothing()),
        read => read?,
    };
    let placement = Placement::of_window(own.bounds, window);
    Ok(ElementTree { pid, elements, complete, placement, delay: Duration::ZERO })
}

impl ElementSource for UiaSource {
    fn tree(&self, window: &Window) -> Result<ElementTree, AccessibilityError> {
        let nothing = || AccessibilityError::NoElements(window.id.clone());
        // Without its program it cannot be judged.
        let pid = window.pid.filter(|_| window.process.is_some()).ok_or_else(nothing)?;
        let (own, _) = listed_window(&self.displays, window)?;
        let window = window.clone();
        self.ask(WALK, move |table, client| read(table, client, &window, (&own, pid)))
    }

    fn bounds(
        &self,
        _: &str,
        tree: &ElementTree,
        elements: &[usize],
    ) -> Result<Vec<Bounds>, AccessibilityError> {
        let ids: Vec<RuntimeId> = elements.iter().map(|at| tree.elements[*at].id.clone()).collect();
        let placement = tree.placement;
        self.of_many(&ids, move |table, client, id| {
            Ok(find(table, client, id)?.facts().place.map(|it| placement.on_display(it)))
        })
    }

    fn texts(
        &self,
        _: &str,
        elements: &[RuntimeId],
        most: usize,
    ) -> Result<Vec<Option<String>>, AccessibilityError> {
        self.of_many(elements, move |table, client, id| {
            let element = find_readable(table, client, id)?;
            let facts = element.facts();
            let text = match facts.role() {
                // The value of a page is its address.
                Role::Document if facts.has_text => element.text(most)?,
                _ if facts.value.is_some() => element.value()?,
                _ if facts.has_text => element.text(most)?,
                _ => return Ok(None),
            };
            Ok(Some(text.chars().take(most).collect()))
        })
    }

    fn numbers(&self, _: &str, elements: &[RuntimeId]) -> Result<Vec<Option<f64>>, AccessibilityError> {
        self.of_many(elements, |table, client, id| {
            find_readable(table, client, id)?.current_number().map(Some)
        })
    }

    fn ranges(&self, _: &str, elements: &[RuntimeId]) -> Result<Vec<Option<[f64; 2]>>, AccessibilityError> {
        self.of_many(elements, |table, client, id| find_readable(table, client, id)?.range().map(Some))
    }

    fn labels(&self, _: &str, elements: &[RuntimeId]) -> Result<Vec<Option<RuntimeId>>, AccessibilityError> {
        self.of_many(elements, |table, client, id| {
            let element = find(table, client, id)?;
            let label = client.label(&element)?;
            // Only one that was read with the window is known to be its own.
            Ok(table.known_id(&id.program, &label))
        })
    }

    fn press(&self, _: &str, element: &RuntimeId) -> Result<bool, AccessibilityError> {
        self.of_one(element, |element| {
            let facts = element.facts();
            let action = facts.pressing(facts.role()).ok_or(ProgramError::Unable)?;
            element.perform(action).map(|()| true)
        })
    }

    fn actions(&self, _: &str, element: &RuntimeId) -> Result<Vec<String>, AccessibilityError> {
        self.of_one(element, |element| {
            let facts = element.facts();
            let actions = facts.actions(facts.role()).into_iter().map(|(name, _)| name);
            Ok(actions.take(MOST_ACTIONS).collect())
        })
    }

    fn act(&self, _: &str, element: &RuntimeId, names: &[&str]) -> Result<bool, AccessibilityError> {
        let wanted: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        self.of_one(element, move |element| {
            let facts = element.facts();
            let actions = facts.actions(facts.role());
            let action = wanted.iter().find_map(|name| actions.iter().find(|(action, _)| action == name));
            element.perform(action.ok_or(ProgramError::Unable)?.1).map(|()| true)
        })
    }

    fn select(&self, _: &str, list: &RuntimeId, item: &RuntimeId) -> Result<bool, AccessibilityError> {
        let (list, item) = (list.clone(), item.clone());
        self.ask(ONE, move |table, client| {
            let (list, item) = (find(table, client, &list)?, find_readable(table, client, &item)?);
            if item.facts().selected.is_none() {
                return Err(ProgramError::Unable.into());
            }
            if !client.is_in(&item, &list)? {
                return Err(ProgramError::Gone.into());
            }
            Ok(item.perform(super::facts::UiaAction::Select).map(|()| true)?)
        })
    }

    fn focus(&self, _: &str, element: &RuntimeId) -> Result<bool, AccessibilityError> {
        self.of_one(element, |element| element.focus().map(|()| true))
    }

    fn scroll_to(&self, _: &str, element: &RuntimeId) -> Result<bool, AccessibilityError> {
        self.of_one(element, |element| element.scroll_into_view().map(|()| true))
    }

    fn set_text(&self, _: &str, element: &RuntimeId, text: &str) -> Result<bool, AccessibilityError> {
        let text = text.to_owned();
        self.of_one(element, move |element| {
            if !element.facts().is_settable() {
                return Err(ProgramError::Unable);
            }
            element.set_value(&text).map(|()| true)
        })
    }

    fn details(&self, _: &str, element: &RuntimeId) -> Result<ElementDetails, AccessibilityError> {
        self.of_one(element, |element| {
            let facts = element.facts();
            let step = match facts.number {
                Some(_) => Some(element.step()?).filter(|it| it.is_finite() && *it > 0.0),
                None => None,
            };
            // Only pages have their address as a value.
            let is_page = facts.role() == Role::Document && facts.value == Some(true);
            let url = if is_page { Some(element.value()?).filter(|it| it.contains("://")) } else { None };
            // Places in texts are counted in other ways than values are: none is read.
            Ok(ElementDetails { caret: None, step, url })
        })
    }

    fn insert_text(&self, _: &str, _: &RuntimeId, _: usize, _: &str) -> Result<bool, AccessibilityError> {
        Err(ProgramError::Unable.into())
    }

    fn set_number(&self, _: &str, element: &RuntimeId, number: f64) -> Result<(), AccessibilityError> {
        self.of_one(element, move |element| match element.facts().number {
            Some(false) => element.set_number(number),
            _ => Err(ProgramError::Unable),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;
    use crate::screen::{Access, Sources};

    #[test]
    fn a_system_without_a_client_refuses_and_names_what_is_missing() {
        let displays = Arc::new(Displays::new(Sources::default()));
        let source = UiaSource { displays, worker: Worker::new(ThreadState::new) };
        let client = source.ask(ONE, |_, _| Ok(()));
        if client.is_ok() {
            writeln!(std::io::stdout(), "left out: this system has a client").expect("it can be said");
            return;
        }
        let id = RuntimeId { program: "7.1".to_owned(), path: "1".to_owned() };
        for answer in [source.press("", &id).map(|_| ()), source.set_number("", &id, 1.0), client] {
            let Err(AccessibilityError::Unsupported(why)) = answer else { panic!("{answer:?}") };
            assert!(why.contains("CUIAutomation8"), "{why}");
        }
        assert!(matches!(allowance(), Some(Err(AccessibilityError::Unsupported(_)))));
        // Nor does a window have any.
        let listing = source.displays.list().expect("an answer");
        if listing.access != Access::Granted {
            writeln!(std::io::stdout(), "left out: it needs a display").expect("it can be said");
            return;
        }
        for window in listing.windows.iter().filter(|it| it.process.is_some()).take(1) {
            assert!(matches!(source.tree(window), Err(AccessibilityError::Unsupported(_))), "{window:?}");
        }
    }
}
