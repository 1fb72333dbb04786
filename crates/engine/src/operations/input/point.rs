//! Points as clients name them and as answers repeat them.

use bailiwick_contract::{ErrorCode, StageName};
use bailiwick_platform::screen::{Point, Rect};
use bailiwick_providers::artifact::{CaptureFacts, CaptureStore};
use bailiwick_providers::screen::{InputPoint, InputSeen};

use super::super::screen::{PointOutput, judge_capture, of_point, unavailable};
use super::super::ui::{self, ElementName};
use super::refusal::of_display;
use crate::registry::prelude::*;

/// What a point is counted in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Space {
    /// Pixels of the display or monitor that is the target.
    Screen,
    /// Pixels of the content of the window that is the target.
    Window,
    /// Pixels of the picture that `capture` names.
    Image,
    /// 0 to 1 of the picture, window or display.
    Unit,
}

/// A point.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct NamedPoint {
    /// To the right.
    pub x: f64,
    /// Downwards.
    pub y: f64,
    /// What it is counted in; default `image` with a `capture`, `window` where the target is a window, else `screen`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub space: Option<Space>,
    /// The `captureId` of the picture, for `image` and `unit`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capture: Option<String>,
}

/// What a request's target means.
#[derive(Debug, Clone)]
pub(in crate::operations) struct InputTarget {
    /// The display that has pointer and keyboard.
    pub display: String,
    /// The window that must get the input.
    pub window: Option<String>,
    /// The middle of the element that is the target.
    pub element: Option<InputPoint>,
    /// The monitor that is the target, on its display.
    monitor: Option<Rect>,
}

impl InputTarget {
    /// Reads the target: nothing, a display, a monitor, a window, or an element of a snapshot, which is found again.
    ///
    /// # Errors
    /// A code for each reason.
    pub fn read(cx: &Context, permit: &Permit) -> Result<Self, Failure> {
        let displays = &cx.service.displays;
        let id = permit.id();
        if let Some((element, snapshot)) = id.and_then(|id| id.split_once('@')) {
            return Self::of_element(cx, permit, ElementName { element, snapshot });
        }
        let display = displays.screen_of(id).map_err(of_display)?;
        let mut target = Self { display, window: None, element: None, monitor: None };
        match id {
            Some(id) if id.contains("/0x") => target.window = Some(id.to_owned()),
            Some(id) if id.contains('/') => {
                let listing = displays.list().map_err(of_display)?;
                let monitor = listing.displays.iter().find(|it| it.id == id);
                let unknown =
                    || unavailable(bailiwick_platform::screen::ScreenError::UnknownDisplay(id.to_owned()));
                target.monitor = Some(monitor.ok_or_else(unknown)?.bounds);
            }
            _ => {}
        }
        Ok(target)
    }

    fn of_element(cx: &Context, permit: &Permit, name: ElementName<'_>) -> Result<Self, Failure> {
        let rules = permit.screen()?;
        let scope = permit.needed_scope()?.id();
        rules
            .judge_kind(TargetRule::Element, scope)
            .map_err(|failure| failure.at_stage(StageName::Screen))?;
        let found = ui::find(cx, permit, name)?;
        let window = &found.scene.window;
        let place = found.place(cx)?.filter(|place| !place.is_empty()).ok_or_else(|| {
            Failure::new(ErrorCode::UnsupportedAction, "the element does not say where it is")
                .hint("ui.press needs no place.")
        })?;
        let middle = |from: i32, length: u32| from.saturating_add(i32::try_from(length / 2).unwrap_or(0));
        // Counted from the window, so that it moves with it.
        let at = Point {
            x: middle(place.x, place.width).saturating_sub(window.bounds.x),
            y: middle(place.y, place.height).saturating_sub(window.bounds.y),
        };
        Ok(Self {
            display: window.display.clone(),
            window: Some(window.id.clone()),
            element: Some(InputPoint::Window(window.id.clone(), at)),
            monitor: None,
        })
    }

    /// Returns where a point is, and the picture that it was counted in.
    ///
    /// # Errors
    /// `invalid_request` for a point that does not fit the target or is not within it.
    pub fn spot(
        &mut self,
        cx: &Context,
        permit: &Permit,
        point: Option<&NamedPoint>,
        field: &'static str,
    ) -> Result<(InputPoint, Option<CaptureFacts>), Failure> {
        let Some(point) = point else {
            let missing = || {
                Failure::invalid(field, "no point is named").hint(
                    "Name a point, such as {\"x\": 10, \"y\": 20}, or an element of ui.see as the target.",
                )
            };
            return self.element.clone().map(|spot| (spot, None)).ok_or_else(missing);
        };
        if !point.x.is_finite() || !point.y.is_finite() {
            return Err(Failure::invalid(field, "a point is two numbers"));
        }
        let default = match (&point.capture, &self.window) {
            (Some(_), _) => Space::Image,
            (None, Some(_)) => Space::Window,
            (None, None) => Space::Screen,
        };
        let space = point.space.unwrap_or(default);
        if let Some(id) = &point.capture {
            let facts = capture(cx, permit, id)?;
            let spot = self.in_picture(point, space, &facts, field)?;
            return Ok((spot, Some(facts)));
        }
        let spot = match (space, &self.window) {
            (Space::Image, _) => {
                return Err(Failure::invalid(field, "a point of a picture needs its `capture`")
                    .hint("Name the `captureId` that screen.capture has answered."));
            }
            (Space::Window, None) => {
                return Err(Failure::invalid(field, "a point of a window needs the window as the target"));
            }
            (Space::Window, Some(window)) => InputPoint::Window(window.clone(), whole(point)),
            (Space::Unit, Some(window)) => InputPoint::Unit(Some(window.clone()), point.x, point.y),
            (Space::Unit, None) => match self.monitor {
                None => InputPoint::Unit(None, point.x, point.y),
                Some(monitor) => {
                    within(point, 1.0, 1.0, true, field)?;
                    let at = |part: f64, from: i32, length: u32| {
                        from + floor((part * f64::from(length)).min(f64::from(length) - 1.0))
                    };
                    InputPoint::Display(Point {
                        x: at(point.x, monitor.x, monitor.width),
                        y: at(point.y, monitor.y, monitor.height),
                    })
                }
            },
            (Space::Screen, _) => match self.monitor {
                None => InputPoint::Display(whole(point)),
                Some(monitor) => {
                    within(point, f64::from(monitor.width), f64::from(monitor.height), false, field)?;
                    let at = whole(point);
                    InputPoint::Display(Point { x: monitor.x + at.x, y: monitor.y + at.y })
                }
            },
        };
        Ok((spot, None))
    }

    /// Returns where a point of a picture is. The window that a picture is of must still be there.
    fn in_picture(
        &mut self,
        point: &NamedPoint,
        space: Space,
        facts: &CaptureFacts,
        field: &'static str,
    ) -> Result<InputPoint, Failure> {
        let (width, height) = (f64::from(facts.width), f64::from(facts.height));
        let (x, y) = match space {
            Space::Image => {
                within(point, width, height, false, field)?;
                // The middle of the picture's pixel.
                let middle = |at: f64, length: f64| (at.floor() + 0.5) / length;
                (middle(point.x, width), middle(point.y, height))
            }
            Space::Unit => {
                within(point, 1.0, 1.0, true, field)?;
                (point.x, point.y)
            }
            Space::Screen | Space::Window => {
                return Err(Failure::invalid(field, "with a `capture`, the space is `image` or `unit`"));
            }
        };
        let at = |part: f64, from: i32, length: u32| {
            from + floor((part * f64::from(length)).min(f64::from(length) - 1.0))
        };
        let area = facts.area;
        self.window = self.window.take().or_else(|| facts.window.clone());
        Ok(InputPoint::Display(Point { x: at(x, area.x, area.width), y: at(y, area.y, area.height) }))
    }
}

/// Returns a point in every space that applies.
pub(super) fn output(
    seen: &InputSeen,
    display: &str,
    at: usize,
    picture: Option<&CaptureFacts>,
) -> Option<PointOutput> {
    let (point, receiver) = seen.scene.at_points.get(at)?;
    let window = receiver.window.map(|at| &seen.scene.windows[at]);
    Some(of_point(*point, seen.scene.bounds, window.map(|it| it.bounds), display, picture))
}

fn capture(cx: &Context, permit: &Permit, id: &str) -> Result<CaptureFacts, Failure> {
    let store = CaptureStore::below(&cx.service.dirs.state);
    store.expire();
    let facts = store.find(permit.needed_scope()?.id(), id).ok_or_else(|| {
        Failure::new(ErrorCode::NotFound, "no such capture is known in this scope")
            .detail("field", "input.point.capture")
            .hint("Captures are known for a day: take the picture again.")
    })?;
    judge_capture(permit, &facts)?;
    Ok(facts)
}

fn within(
    point: &NamedPoint,
    width: f64,
    height: f64,
    is_closed: bool,
    field: &'static str,
) -> Result<(), Failure> {
    let is_in = |at: f64, length: f64| at >= 0.0 && (at < length || is_closed && at <= length);
    if is_in(point.x, width) && is_in(point.y, height) {
        return Ok(());
    }
    Err(Failure::invalid(field, format!("the point {},{} is not within {width}x{height}", point.x, point.y))
        .hint("Choose a point that is within it: points are never moved."))
}

fn whole(point: &NamedPoint) -> Point {
    Point { x: floor(point.x), y: floor(point.y) }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "a number beyond the display is refused as the largest is"
)]
fn floor(value: f64) -> i32 {
    value.floor() as i32
}
