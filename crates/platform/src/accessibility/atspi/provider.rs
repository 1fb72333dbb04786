//! The accessibility of Linux desktops, as all systems are asked.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use super::bus::{Bus, CALL, ProgramError, Reference, of_each};
use super::buses::Buses;
use super::frame::{self, Mark};
use super::read;
use super::worker::Worker;
use crate::accessibility::{
    AccessibilityError, Bounds, ElementDetails, ElementSource, ElementTree, RuntimeId, State,
};
use crate::screen::{Displays, Window};

/// How long the answers to a question about many elements may take.
const MANY: Duration = Duration::from_secs(4);
/// How long one action may take.
const ONE: Duration = Duration::from_secs(3);

/// More actions than these are not read.
const MOST_ACTIONS: usize = 16;
/// What pressing is called, by what says it most plainly.
const PRESSING: &[&str] = &[
    "click", "press", "push", "toggle", "check", "uncheck", "jump", "activate", "select", "switch", "open",
    "expand", "collapse", "showmenu",
];
/// What programs call the address of a document: Firefox and WebKit, then Chromium.
const ADDRESS: &[&str] = &["DocURL", "URI"];
/// `ATSPI_RELATION_LABELLED_BY`.
const LABELLED_BY: u32 = 2;

/// Returns the accessibility of this system.
pub fn element_source(displays: Arc<Displays>) -> Arc<dyn ElementSource> {
    Arc::new(Atspi { displays, worker: Worker::default() })
}

#[derive(Debug)]
struct Atspi {
    displays: Arc<Displays>,
    worker: Worker,
}

impl Atspi {
    /// Has something asked at the bus of a display. Where the connection turns out to be lost, it is asked once more by a
    /// new one; what acts is not.
    fn ask<T, F>(
        &self,
        display: &str,
        limit: Duration,
        acts: bool,
        ask: impl Fn(Arc<Bus>) -> F + Send + Sync + 'static,
    ) -> Result<T, AccessibilityError>
    where
        T: Send + 'static,
        F: Future<Output = Result<T, AccessibilityError>> + Send + 'static,
    {
        let no_bus = |why: String| AccessibilityError::NoBus { display: display.to_owned(), why };
        let address = self.displays.accessibility_bus(display).map_err(|error| no_bus(error.to_string()))?;
        let address = address.ok_or_else(|| no_bus("it names none (AT_SPI_BUS)".to_owned()))?;
        let display = display.to_owned();
        self.worker.run(limit, move |buses: Arc<Buses>| async move {
            let mut is_retried = acts;
            loop {
                let no_bus = |why: String| AccessibilityError::NoBus { display: display.clone(), why };
                let bus = buses.get(&address).await.map_err(no_bus)?;
                let answer = ask(Arc::clone(&bus)).await;
                if !bus.connection.is_lost() {
                    return answer;
                }
                buses.forget(&address);
                if std::mem::replace(&mut is_retried, true) {
                    return answer;
                }
            }
        })
    }

    /// Returns whether no other window of a window's process has its place.
    fn is_alone_at_its_place(&self, window: &Window) -> bool {
        let has_its_place = |other: &Window| {
            let places = [window.bounds, window.frame];
            other.id != window.id
                && other.pid == window.pid
                && (places.contains(&other.bounds) || places.contains(&other.frame))
        };
        self.displays.windows_beside(&window.id).is_ok_and(|all| !all.iter().any(has_its_place))
    }

    /// Asks an element to do something, once.
    fn act_on<T, F>(
        &self,
        display: &str,
        element: &RuntimeId,
        act: impl Fn(Arc<Bus>, RuntimeId) -> F + Send + Sync + 'static,
    ) -> Result<T, AccessibilityError>
    where
        T: Send + 'static,
        F: Future<Output = Result<T, AccessibilityError>> + Send + 'static,
    {
        let id = element.clone();
        self.ask(display, ONE, true, move |bus| act(bus, id.clone()))
    }

    /// Asks the same of many elements.
    fn of_many<T, F>(
        &self,
        display: &str,
        elements: &[RuntimeId],
        ask: impl Fn(Arc<Bus>, RuntimeId) -> F + Send + Sync + Clone + 'static,
    ) -> Result<Vec<Option<T>>, AccessibilityError>
    where
        T: Send + 'static,
        F: Future<Output = Result<Option<T>, ProgramError>> + Send + 'static,
    {
        let elements = elements.to_vec();
        self.ask(display, MANY, false, move |bus| {
            let (elements, ask) = (elements.clone(), ask.clone());
            async move {
                let answers = of_each(elements, |id| ask(Arc::clone(&bus), id)).await;
                answers.into_iter().map(known).collect()
            }
        })
    }
}

/// Returns the place of the first wanted action that there is.
fn first_of<'a>(names: &[String], mut wanted: impl Iterator<Item = &'a str>) -> Option<usize> {
    wanted.find_map(|wanted| names.iter().position(|name| name == wanted))
}

async fn do_action(bus: &Bus, id: &RuntimeId, at: Option<usize>) -> Result<bool, AccessibilityError> {
    let at = at.ok_or(ProgramError::Unable)?;
    let place = i32::try_from(at).unwrap_or_default();
    Ok(bus.ask(id, "Action", "DoAction", &place).await?)
}

/// Makes nothing of the answer of an element that is gone or has no such thing.
fn known<T>(answer: Result<Option<T>, ProgramError>) -> Result<Option<T>, AccessibilityError> {
    match answer {
        Ok(answer) => Ok(answer),
        Err(ProgramError::Gone | ProgramError::NoReply | ProgramError::Unable | ProgramError::Refused(_)) => {
            Ok(None)
        }
        Err(error @ (ProgramError::Unresponsive | ProgramError::Lost)) => Err(error.into()),
    }
}

impl ElementSource for Atspi {
    fn tree(&self, window: &Window) -> Result<ElementTree, AccessibilityError> {
        let read = |mark| {
            let wanted = window.clone();
            self.ask(&window.display, read::WALK, false, move |bus| read::tree(bus, wanted.clone(), mark))
        };
        match read(Mark::Title) {
            Err(AccessibilityError::NoElements(_)) if self.is_alone_at_its_place(window) => read(Mark::Place),
            answer => answer,
        }
    }

    fn bounds(
        &self,
        display: &str,
        tree: &ElementTree,
        elements: &[usize],
    ) -> Result<Vec<Bounds>, AccessibilityError> {
        let ids: Vec<RuntimeId> = elements.iter().map(|at| tree.elements[*at].id.clone()).collect();
        let read: Vec<Bounds> = self.ask(display, MANY, false, move |bus| {
            let ids = ids.clone();
            async move { frame::extents(&bus, ids).await.into_iter().map(known).collect() }
        })?;
        let placed = read.into_iter().zip(elements).map(|(place, at)| {
            let states = tree.elements[*at].states;
            let place = place.filter(|_| !states.has(State::Unplaced))?;
            Some(if states.has(State::InPixels) { place } else { tree.placement.on_display(place) })
        });
        Ok(placed.collect())
    }

    fn texts(
        &self,
        display: &str,
        elements: &[RuntimeId],
        most: usize,
    ) -> Result<Vec<Option<String>>, AccessibilityError> {
        self.of_many(display, elements, move |bus, id| async move {
            let length: i32 = bus.property(&id, "Text", "CharacterCount").await?;
            // To some programs a negative end is the end of the text, and some answer with more than was asked for.
            let end = i32::try_from(most).unwrap_or(i32::MAX).min(length.max(0));
            let text: String = bus.ask(&id, "Text", "GetText", &(0_i32, end)).await?;
            Ok(Some(text.chars().take(most).collect()))
        })
    }

    fn numbers(&self, display: &str, elements: &[RuntimeId]) -> Result<Vec<Option<f64>>, AccessibilityError> {
        self.of_many(display, elements, |bus, id| async move {
            Ok(Some(bus.property::<f64>(&id, "Value", "CurrentValue").await?))
        })
    }

    fn ranges(
        &self,
        display: &str,
        elements: &[RuntimeId],
    ) -> Result<Vec<Option<[f64; 2]>>, AccessibilityError> {
        self.of_many(display, elements, |bus, id| async move {
            let least = bus.property::<f64>(&id, "Value", "MinimumValue").await?;
            Ok(Some([least, bus.property::<f64>(&id, "Value", "MaximumValue").await?]))
        })
    }

    fn labels(
        &self,
        display: &str,
        elements: &[RuntimeId],
    ) -> Result<Vec<Option<RuntimeId>>, AccessibilityError> {
        self.of_many(display, elements, |bus, id| async move {
            let relations: Vec<(u32, Vec<Reference>)> =
                bus.ask(&id, "Accessible", "GetRelationSet", &()).await?;
            let labels = relations.into_iter().find(|(kind, _)| *kind == LABELLED_BY);
            let label = labels.and_then(|(_, labels)| labels.into_iter().next());
            Ok(label.map(|(program, path)| RuntimeId { program, path: path.to_string() }))
        })
    }

    fn press(&self, display: &str, element: &RuntimeId) -> Result<bool, AccessibilityError> {
        self.act_on(display, element, |bus, id| async move {
            let names = actions(&bus, &id).await?;
            // A single action without a name is what the element is there for.
            let only = if names == [""] { Some(0) } else { None };
            do_action(&bus, &id, first_of(&names, PRESSING.iter().copied()).or(only)).await
        })
    }

    fn actions(&self, display: &str, element: &RuntimeId) -> Result<Vec<String>, AccessibilityError> {
        let id = element.clone();
        self.ask(display, ONE, false, move |bus| {
            let id = id.clone();
            async move { actions(&bus, &id).await }
        })
    }

    fn act(&self, display: &str, element: &RuntimeId, names: &[&str]) -> Result<bool, AccessibilityError> {
        let wanted: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        self.act_on(display, element, move |bus, id| {
            let wanted = wanted.clone();
            async move {
                let names = actions(&bus, &id).await?;
                do_action(&bus, &id, first_of(&names, wanted.iter().map(String::as_str))).await
            }
        })
    }

    fn select(&self, display: &str, list: &RuntimeId, item: &RuntimeId) -> Result<bool, AccessibilityError> {
        let list = list.clone();
        self.act_on(display, item, move |bus, id| {
            let list = list.clone();
            async move {
                // Lists select by places, which change: the one at this place has to be the one that is meant.
                let place: i32 = bus.ask(&id, "Accessible", "GetIndexInParent", &()).await?;
                let (program, path): Reference =
                    bus.ask(&list, "Accessible", "GetChildAtIndex", &place).await?;
                if program != id.program || path.as_str() != id.path {
                    return Err(AccessibilityError::Program(ProgramError::Gone));
                }
                Ok(bus.ask(&list, "Selection", "SelectChild", &place).await?)
            }
        })
    }

    fn focus(&self, display: &str, element: &RuntimeId) -> Result<bool, AccessibilityError> {
        self.act_on(display, element, |bus, id| async move {
            Ok(bus.ask(&id, "Component", "GrabFocus", &()).await?)
        })
    }

    fn scroll_to(&self, display: &str, element: &RuntimeId) -> Result<bool, AccessibilityError> {
        /// `ATSPI_SCROLL_ANYWHERE`
        const ANYWHERE: u32 = 6;
        self.act_on(display, element, |bus, id| async move {
            Ok(bus.ask(&id, "Component", "ScrollTo", &ANYWHERE).await?)
        })
    }

    fn set_text(&self, display: &str, element: &RuntimeId, text: &str) -> Result<bool, AccessibilityError> {
        let text = text.to_owned();
        self.act_on(display, element, move |bus, id| {
            let text = text.clone();
            async move {
                let is_done: bool = bus.ask(&id, "EditableText", "SetTextContents", &text).await?;
                set_caret(&bus, &id, 0, &text).await;
                Ok(is_done)
            }
        })
    }

    fn details(&self, display: &str, element: &RuntimeId) -> Result<ElementDetails, AccessibilityError> {
        let id = element.clone();
        self.ask(display, ONE, false, move |bus| {
            let id = id.clone();
            async move {
                let (caret, step, attributes) = tokio::join!(
                    bus.property::<i32>(&id, "Text", "CaretOffset"),
                    bus.property::<f64>(&id, "Value", "MinimumIncrement"),
                    bus.ask::<_, HashMap<String, String>>(&id, "Document", "GetAttributes", &()),
                );
                let caret = known(caret.map(|it| usize::try_from(it).ok()))?;
                let step = known(step.map(|it| Some(it).filter(|it| it.is_finite() && *it > 0.0)))?;
                let address =
                    |all: HashMap<String, String>| ADDRESS.iter().find_map(|it| all.get(*it).cloned());
                Ok(ElementDetails { caret, step, url: known(attributes.map(address))? })
            }
        })
    }

    fn insert_text(
        &self,
        display: &str,
        element: &RuntimeId,
        at: usize,
        text: &str,
    ) -> Result<bool, AccessibilityError> {
        let text = text.to_owned();
        self.act_on(display, element, move |bus, id| {
            let text = text.clone();
            async move {
                // How its length is counted is not agreed on, and Qt reads beyond the text where it is too long.
                let length = match text.is_ascii() {
                    true => text.len(),
                    false => match bus.toolkit(&id).await?.as_str() {
                        "gtk" | "GTK" => text.len(),
                        "Qt" => text.encode_utf16().count(),
                        _ => return Ok(false),
                    },
                };
                let body = (number_of(at), text.as_str(), number_of(length));
                let is_done: bool = bus.ask(&id, "EditableText", "InsertText", &body).await?;
                set_caret(&bus, &id, at, &text).await;
                Ok(is_done)
            }
        })
    }

    fn set_number(&self, display: &str, element: &RuntimeId, number: f64) -> Result<(), AccessibilityError> {
        self.act_on(display, element, move |bus, id| async move { Ok(bus.set_number(&id, number).await?) })
    }
}

/// Puts the caret behind a text that was typed at a place: GTK 4 leaves it where it was, Qt puts it at the end of the whole text.
/// Where that fails, the text is there all the same.
async fn set_caret(bus: &Bus, element: &RuntimeId, at: usize, text: &str) {
    // Qt counts some characters as two, and would have the caret in the middle of one.
    if text.chars().any(|it| it.len_utf16() > 1) {
        return;
    }
    let after = number_of(at + text.chars().count());
    let _: Result<bool, ProgramError> = bus.ask(element, "Text", "SetCaretOffset", &after).await;
}

/// Returns a place or a length as programs count it.
fn number_of(characters: usize) -> i32 {
    i32::try_from(characters).unwrap_or(i32::MAX)
}

/// Reads the names of an element's actions, in lower case.
async fn actions(bus: &Bus, id: &RuntimeId) -> Result<Vec<String>, AccessibilityError> {
    let listed: Vec<(String, String, String)> = bus.ask(id, "Action", "GetActions", &()).await?;
    let mut names = Vec::new();
    for (at, (listed, ..)) in listed.into_iter().enumerate().take(MOST_ACTIONS) {
        let place = i32::try_from(at).unwrap_or_default();
        // Those of the list are in the language of the user, or missing.
        let name: String = bus.ask(id, "Action", "GetName", &place).await.unwrap_or_default();
        let name = if name.is_empty() { listed } else { name };
        names.push(crate::screen::plain::plain(&name).to_lowercase());
    }
    Ok(names)
}

const _: () = assert!(CALL.as_millis() < ONE.as_millis());
