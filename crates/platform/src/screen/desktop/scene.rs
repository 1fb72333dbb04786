//! What there is to look at, as it was told at one moment.

use super::mapping::Mapping;
use super::window::SystemWindow;
use super::{pixels, system};
use crate::screen::plain::plain;
#[cfg(target_os = "macos")]
use crate::screen::quartz::fills;
use crate::screen::{Display, Rect, ScreenError, Window};

/// The displays.
pub(super) type Monitors = Vec<pixels::SystemDisplay>;

/// A computer with more windows than this is not looked at.
const MAX_WINDOWS: usize = 4096;

/// Displays and windows of one moment.
#[derive(Debug, PartialEq)]
pub(super) struct Scene {
    /// The displays.
    pub monitors: Monitors,
    /// The windows from the bottom of the pile to its top; nothing, where the system does not tell them.
    pub windows: Option<Vec<SystemWindow>>,
}

impl Scene {
    /// Asks the system.
    pub(super) fn read() -> Result<Self, ScreenError> {
        let failed = |step, why| ScreenError::Failed { display: "the desktop".to_owned(), step, why };
        system::prepare().map_err(|why| failed("to tell its true pixels", why))?;
        let monitors = pixels::monitors().map_err(|why| failed("the list of displays", why))?;
        let windows = system::windows().map_err(|why| failed("the list of windows", why))?;
        if windows.as_ref().is_some_and(|windows| windows.len() > MAX_WINDOWS) {
            return Err(failed("the list of windows", format!("there are more than {MAX_WINDOWS} windows")));
        }
        #[cfg(target_os = "macos")]
        let windows = windows.map(|windows| with_maximised(windows, &monitors));
        Ok(Self { monitors, windows })
    }

    /// Returns the display that `primary` means.
    pub(super) fn primary(&self) -> Option<&pixels::SystemDisplay> {
        self.monitors.iter().find(|monitor| monitor.primary).or(self.monitors.first())
    }

    /// Returns the display of an id, or the one that `primary` means.
    #[cfg(any(windows, target_os = "macos"))]
    pub(super) fn monitor(&self, id: &str) -> Option<&pixels::SystemDisplay> {
        match id {
            "primary" => self.primary(),
            id => self.monitors.iter().find(|monitor| monitor.id(None) == id),
        }
    }

    /// Describes the windows, each in the pixels of the display that it is on.
    #[cfg(any(windows, target_os = "macos"))]
    pub(super) fn described(&self) -> Vec<Window> {
        let told = self.windows.iter().flatten().enumerate();
        let windows = told.filter_map(|(at, told)| {
            let monitor = self.monitor_of(told.bounds)?;
            Some(told.window(&monitor.id(None), &monitor.mapping(), at))
        });
        windows.collect()
    }

    /// Returns the display that most of a rectangle is on.
    pub(super) fn monitor_of(&self, place: Rect) -> Option<&pixels::SystemDisplay> {
        display_of(&self.monitors, place)
    }
}

fn display_of(monitors: &Monitors, place: Rect) -> Option<&pixels::SystemDisplay> {
    let shared =
        |monitor: &pixels::SystemDisplay| monitor.place.intersection(&place).map_or(0, |part| part.pixels());
    // The first of several that are alike.
    monitors.iter().rev().max_by_key(|monitor| shared(monitor))
}

/// Tells of windows whether they fill their displays, which macOS does not say.
#[cfg(target_os = "macos")]
fn with_maximised(mut windows: Vec<SystemWindow>, monitors: &Monitors) -> Vec<SystemWindow> {
    for window in windows.iter_mut().filter(|window| !window.unmanaged) {
        let display = display_of(monitors, window.bounds);
        window.maximised = display.is_some_and(|display| fills(window.bounds, display.place));
    }
    windows
}

impl pixels::SystemDisplay {
    /// Returns the id by which it is asked for; `session` is the Wayland session's name.
    pub(super) fn id(&self, session: Option<&str>) -> String {
        let id = system::display_id(&plain(&self.name), self.number);
        session.map_or_else(|| id.clone(), |session| format!("{session}/{id}"))
    }

    /// Returns how units become pixels, as far as the system says.
    pub(super) fn mapping(&self) -> Mapping {
        let density = if system::UNIT_IS_PIXEL { 1.0 } else { self.density };
        let pixels = |units: u32| {
            let pixels = (f64::from(units) * density).round().clamp(0.0, f64::from(u32::MAX));
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "it was put into its range"
            )]
            let pixels = pixels as u32;
            pixels
        };
        Mapping { place: self.place, width: pixels(self.place.width), height: pixels(self.place.height) }
    }

    /// Describes it.
    pub(super) fn display(&self, session: Option<&str>, primary: bool) -> Display {
        let mapping = self.mapping();
        Display {
            id: self.id(session),
            name: plain(&self.name),
            primary,
            bounds: Rect::new(0, 0, mapping.width, mapping.height),
            scale: self.density,
        }
    }
}

impl SystemWindow {
    /// Returns the id by which it is asked for.
    pub(super) fn id(&self) -> String {
        id_of(self.number)
    }

    /// Describes it in the pixels of a display, with its place in the pile.
    pub(super) fn window(&self, display: &str, mapping: &Mapping, stacking: usize) -> Window {
        Window {
            id: self.id(),
            display: display.to_owned(),
            title: plain(&self.title),
            app: plain(&self.app),
            instance: plain(&self.instance),
            owner: self.owner.map(id_of),
            pid: self.pid,
            process: self.process.as_deref().map(plain),
            bounds: mapping.pixels(self.bounds),
            frame: mapping.pixels(self.frame),
            in_shadow: mapping.pixels(self.bounds),
            state: self.state,
            mapped: self.mapped,
            active: self.active,
            maximised: self.maximised,
            workspace: None,
            unmanaged: self.unmanaged,
            stacking: u32::try_from(stacking).unwrap_or(u32::MAX),
        }
    }
}

fn id_of(number: u64) -> String {
    format!("window/{number:#x}")
}

/// Reads the number out of a window's id.
pub(super) fn number_of(id: &str) -> Option<u64> {
    let number = u64::from_str_radix(id.strip_prefix("window/0x")?, 16).ok()?;
    // One spelling only.
    (id_of(number) == id).then_some(number)
}
