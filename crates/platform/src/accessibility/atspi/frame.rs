//! Which program's element is a window of the display: by its process, as the kernel knows it, then by its title and place.
//! What cannot be distinguished is nobody's.

use std::sync::Arc;

use super::bus::{Bus, CallError, REGISTRY, Reference, of_each};
use super::read::{ROOT, UnplacedElement};
use crate::accessibility::{AccessibilityError, Role, RuntimeId, State};
use crate::screen::{Rect, Window, plain};

/// Finds the program of a process.
pub(super) async fn program(bus: &Arc<Bus>, pid: u32) -> Result<Option<String>, AccessibilityError> {
    let programs: Vec<Reference> =
        bus.call(REGISTRY, ROOT, "org.a11y.atspi.Accessible", "GetChildren", &()).await?;
    let pids = of_each(programs, |(name, _)| {
        let bus = Arc::clone(bus);
        async move { (bus.pid(&name).await, name) }
    })
    .await;
    let mut found = pids.into_iter().filter(|(its, _)| *its == Ok(pid)).map(|(_, name)| name);
    let first = found.next();
    // A process with two connections may have a window in either.
    if found.next().is_some() { Ok(None) } else { Ok(first) }
}

/// What a window is known by among those of its program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mark {
    /// Its title, and its place where several have that.
    Title,
    /// Its place alone: a message box is not called by its title, but by what kind of message it shows.
    Place,
}

/// Finds the element of a window among those of its program.
pub(super) async fn find(
    bus: &Arc<Bus>,
    tops: Vec<UnplacedElement>,
    window: &Window,
    mark: Mark,
) -> Result<UnplacedElement, AccessibilityError> {
    let mut candidates: Vec<UnplacedElement> = tops.into_iter().filter(UnplacedElement::is_window).collect();
    let is_named = |top: &UnplacedElement| plain::plain(&top.element.name) == window.title;
    if mark == Mark::Place {
        candidates.retain(|top| top.element.role == Role::Dialog && top.element.states.has(State::Showing));
    } else if candidates.iter().any(is_named) {
        candidates.retain(is_named);
    } else {
        // One without a title may be a window without one.
        candidates.retain(|top| top.element.name.is_empty() && window.title.is_empty());
    }
    if candidates.len() > 1 || mark == Mark::Place {
        let ids = candidates.iter().map(|top| top.element.id.clone()).collect();
        let places = extents(bus, ids).await;
        let mut places = places.iter();
        candidates.retain(|_| {
            let place = places.next().and_then(|it| it.as_ref().ok().copied().flatten());
            place.is_some_and(|place| place == window.bounds || place == window.frame)
        });
        if candidates.len() > 1 {
            return Err(AccessibilityError::AmbiguousWindow(window.id.clone()));
        }
    }
    candidates.pop().ok_or_else(|| AccessibilityError::NoElements(window.id.clone()))
}

/// Reads where elements are on the display.
pub(super) async fn extents(bus: &Arc<Bus>, ids: Vec<RuntimeId>) -> Vec<Result<Option<Rect>, CallError>> {
    of_each(ids, |id| {
        let bus = Arc::clone(bus);
        async move {
            /// On the display, not in the window.
            const SCREEN: u32 = 0;
            let (x, y, width, height): (i32, i32, i32, i32) =
                bus.ask(&id, "Component", "GetExtents", &SCREEN).await?;
            let size = u32::try_from(width).ok().zip(u32::try_from(height).ok());
            let is_shown = x != i32::MIN && y != i32::MIN;
            Ok(size.filter(|_| is_shown).map(|(width, height)| Rect::new(x, y, width, height)))
        }
    })
    .await
}
