//! Which program's element is a window of the display: by its process, as the kernel knows it, then by its title and place.
//! What cannot be distinguished is nobody's.

use std::sync::Arc;

use super::bus::{Bus, ProgramError, REGISTRY, Reference, of_each};
use super::read::{ROOT, UnplacedElement};
use crate::accessibility::{AccessibilityError, Placement, Role, RuntimeId, State};
use crate::screen::{Rect, Window, plain};

/// Finds the program of a process.
pub(super) async fn program(bus: &Arc<Bus>, pid: u32) -> Result<Option<String>, AccessibilityError> {
    let programs: Vec<Reference> =
        bus.connection.call(REGISTRY, ROOT, "org.a11y.atspi.Accessible", "GetChildren", &()).await?;
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

/// How many times larger than its program counts a window may be.
const LARGEST_SCALE: u32 = 4;

/// Finds out how a program counts places, by where it says that a window is, and where the window is.
///
/// GTK 3, GTK 4 and Qt count in pixels of their own where they draw larger than usual; GTK 4 counts from the window.
pub(super) fn placement(told: Option<Rect>, window: &Window, is_gtk4: bool) -> Placement {
    let Some(told) = told.filter(|place| !place.is_empty()) else { return Placement::DISPLAY };
    let counted = |real: Rect, percent| Placement { from: told.origin(), to: real.origin(), percent };
    let places = [window.in_shadow, window.bounds, window.frame];
    let fits = |real: &Rect, percent: u32| {
        let is_near = |told: u32, real: u32| {
            (i64::from(told) * i64::from(percent) / 100 - i64::from(real)).abs() <= i64::from(percent / 100)
        };
        is_near(told.width, real.width) && is_near(told.height, real.height)
    };
    if let Some(real) = places.iter().find(|real| fits(real, 100)) {
        return if is_gtk4 { counted(*real, 100) } else { Placement::DISPLAY };
    }
    let scaled = places.iter().find_map(|real| {
        // In quarters, as desktops scale.
        let percent =
            (u64::from(real.width) * 4 / u64::from(told.width)..).take(2).map(|quarters| quarters * 25);
        let percent = percent.filter_map(|it| u32::try_from(it).ok()).find(|percent| fits(real, *percent))?;
        (100..=LARGEST_SCALE * 100).contains(&percent).then(|| counted(*real, percent))
    });
    match scaled {
        Some(placement) => placement,
        // It does not count the border that it draws around itself.
        None if is_gtk4 => {
            let inner = window.in_shadow;
            let times = (inner.width / told.width).min(inner.height / told.height).clamp(1, LARGEST_SCALE);
            let border = |outer: u32, inner: u32| {
                i32::try_from(outer.saturating_sub(inner.saturating_mul(times)) / 2).unwrap_or_default()
            };
            let inner = inner.moved(border(inner.width, told.width), border(inner.height, told.height));
            counted(inner, times * 100)
        }
        None => Placement::DISPLAY,
    }
}

/// Reads where elements are on the display, as their program counts.
pub(super) async fn extents(bus: &Arc<Bus>, ids: Vec<RuntimeId>) -> Vec<Result<Option<Rect>, ProgramError>> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::screen::Window;

    fn window(bounds: Rect, frame: Rect, in_shadow: Rect) -> Window {
        Window { frame, in_shadow, ..Window::new(":0/0x1", ":0", bounds) }
    }

    /// A window as it is on the display, where its program says that it is, and where both say that a button in it is. All as
    /// measured under openbox, but for the one with a shadow.
    #[test]
    fn a_place_is_the_same_on_the_display_however_the_toolkit_counts() {
        let (bounds, frame) = (Rect::new(340, 157, 600, 500), Rect::new(339, 137, 602, 525));
        let twice = (Rect::new(1, 20, 1200, 874), Rect::new(0, 0, 1202, 899));
        let own = Rect::new(880, 0, 400, 242);
        let shadow = (Rect::new(100, 100, 500, 300), Rect::new(126, 123, 448, 245));
        let qt = Rect::new(1, 20, 1200, 1200);
        for (name, (bounds, frame, in_shadow), told, is_gtk4, (button, expected)) in [
            (
                "GTK 3",
                (bounds, frame, bounds),
                frame,
                false,
                (Rect::new(350, 167, 80, 30), Rect::new(350, 167, 80, 30)),
            ),
            (
                "Qt",
                (bounds, frame, bounds),
                bounds,
                false,
                (Rect::new(350, 167, 80, 30), Rect::new(350, 167, 80, 30)),
            ),
            (
                "GTK 3, twice",
                (twice.0, twice.1, twice.0),
                Rect::new(0, 0, 601, 450),
                false,
                (Rect::new(10, 20, 40, 15), Rect::new(20, 40, 80, 30)),
            ),
            (
                "Qt, twice",
                (qt, qt, qt),
                Rect::new(1, 10, 600, 600),
                false,
                (Rect::new(11, 20, 40, 15), Rect::new(21, 40, 80, 30)),
            ),
            (
                "GTK 4",
                (bounds, frame, bounds),
                Rect::new(0, 0, 600, 500),
                true,
                (Rect::new(10, 10, 80, 30), Rect::new(350, 167, 80, 30)),
            ),
            (
                "GTK 4, twice",
                (Rect::new(1, 20, 1200, 900), frame, Rect::new(1, 20, 1200, 900)),
                Rect::new(0, 0, 600, 450),
                true,
                (Rect::new(10, 10, 40, 15), Rect::new(21, 40, 80, 30)),
            ),
            (
                "GTK 4, with its own border",
                (own, own, own),
                Rect::new(0, 0, 390, 232),
                true,
                (Rect::new(17, 51, 356, 24), Rect::new(902, 56, 356, 24)),
            ),
            (
                "GTK 4, with a shadow",
                (shadow.0, shadow.0, shadow.1),
                Rect::new(0, 0, 448, 245),
                true,
                (Rect::new(10, 10, 80, 30), Rect::new(136, 133, 80, 30)),
            ),
            // What fits nothing is taken as it is.
            (
                "another",
                (bounds, frame, bounds),
                Rect::new(340, 157, 20, 480),
                false,
                (Rect::new(350, 167, 80, 30), Rect::new(350, 167, 80, 30)),
            ),
        ] {
            let placement = placement(Some(told), &window(bounds, frame, in_shadow), is_gtk4);
            assert_eq!(placement.on_display(button), expected, "{name}: {placement:?}");
        }
        let any = placement(Some(Rect::new(i32::MIN, i32::MAX, 1, 1)), &window(bounds, frame, bounds), true);
        for place in [Rect::new(i32::MIN, i32::MIN, u32::MAX, u32::MAX), Rect::new(i32::MAX, i32::MAX, 0, 0)]
        {
            any.on_display(place);
        }
    }
}
