//! The displays of the desktop that this process runs in.

use std::sync::Arc;
use std::time::Duration;

use super::mapping::Mapping;
use super::scene::{Scene, number_of};
#[cfg(not(target_os = "linux"))]
use super::window::SystemWindow;
use super::worker::Worker;
use super::{pixels, system};
use crate::screen::frame::Pixels;
use crate::screen::{
    Access, Content, Cover, DisplaySelection, Frame, Listing, Rect, ScreenError, Sources, WindowState,
    Workspaces,
};
#[cfg(not(target_os = "linux"))]
use crate::screen::{ClipboardContent, ClipboardUse};
#[cfg(target_os = "linux")]
use crate::screen::{InputDone, InputJudge, InputMode, InputPlan, Judge, Window, WindowChange};
use bailiwick_contract::time;

/// How often a picture is taken again because windows changed meanwhile.
const ATTEMPTS: usize = 6;

/// More pixels than this are not captured at once: a quarter of a gigabyte.
const MAX_PIXELS: u64 = 1 << 26;

/// How long a list may take.
const LIST_PATIENCE: Duration = Duration::from_secs(5);

/// The displays of a desktop.
#[derive(Debug)]
pub(in crate::screen) struct Servers {
    worker: Worker,
    /// The Wayland session, whose name begins the ids of its displays.
    session: Option<Arc<str>>,
    /// Whether somebody's private displays are meant: a desktop is none of them.
    is_private: bool,
    /// What this process has put on the clipboard last.
    #[cfg(windows)]
    pub(super) clipboard: super::clipboard::OwnContent,
    /// What this process has down.
    #[cfg(windows)]
    pub(super) input: super::input::InputState,
    #[cfg(target_os = "macos")]
    pub(super) clipboard: super::mac_clipboard::OwnContent,
    #[cfg(target_os = "macos")]
    pub(super) hands: super::hands::Hands,
}

impl Servers {
    pub(in crate::screen) fn new(sources: Sources) -> Self {
        let is_private = matches!(sources.selection, DisplaySelection::Only(_));
        Self {
            worker: Worker::default(),
            session: sources.wayland.map(Arc::from),
            is_private,
            #[cfg(windows)]
            clipboard: super::clipboard::OwnContent::default(),
            #[cfg(windows)]
            input: super::input::InputState::default(),
            #[cfg(target_os = "macos")]
            clipboard: super::mac_clipboard::OwnContent::default(),
            #[cfg(target_os = "macos")]
            hands: super::hands::Hands::default(),
        }
    }

    /// Asks the desktop, if it is meant.
    pub(super) fn ask<T: Send + 'static>(
        &self,
        patience: Duration,
        act: impl FnOnce() -> Result<T, ScreenError> + Send + 'static,
    ) -> Result<T, ScreenError> {
        if self.is_private {
            return Err(ScreenError::NoAccess(Access::NoPrivateDisplay));
        }
        self.worker.ask(&self.name(), patience, act)
    }

    fn name(&self) -> String {
        self.session.as_deref().unwrap_or("the desktop").to_owned()
    }

    pub(in crate::screen) fn list(&self) -> Result<Listing, ScreenError> {
        let session = self.session.clone();
        let listed = self.ask(LIST_PATIENCE, move || list(session.as_deref()));
        Ok(listed.unwrap_or_else(|error| {
            let access = match error {
                ScreenError::NoAccess(access) => access,
                error => system::unreachable(error.to_string()),
            };
            Listing { access, displays: Vec::new(), windows: Vec::new(), unreachable: Vec::new() }
        }))
    }

    /// Captures a display. Where the system does not tell its windows, only if it is said that none is to be kept out.
    pub(in crate::screen) fn capture_display(
        &self,
        id: &str,
        region: Option<Rect>,
        unjudged: bool,
    ) -> Result<Frame, ScreenError> {
        if !system::TELLS_WINDOWS && !unjudged {
            return Err(ScreenError::Blind(self.name()));
        }
        let (session, id) = (self.session.clone(), id.to_owned());
        let act = move || capture_display(session.as_deref(), &id, region);
        self.ask(system::PATIENCE, act)
    }

    pub(in crate::screen) fn capture_window(
        &self,
        id: &str,
        region: Option<Rect>,
    ) -> Result<Frame, ScreenError> {
        let number = number_of(id).ok_or_else(|| ScreenError::UnknownWindow(id.to_owned()))?;
        let session = self.session.clone();
        let act = move || capture_window(session.as_deref(), number, region);
        self.ask(system::PATIENCE, act)
    }

    #[cfg(target_os = "linux")]
    pub(in crate::screen) fn change_window(
        &self,
        _: &str,
        _: WindowChange,
        _: Judge,
        _: bool,
    ) -> Result<Window, ScreenError> {
        Err(no_control())
    }

    /// Returns all windows of the desktop, if one has this id: a desktop is one, whatever displays it has.
    #[cfg(target_os = "linux")]
    pub(in crate::screen) fn windows_beside(&self, id: &str) -> Result<Vec<Window>, ScreenError> {
        if !system::TELLS_WINDOWS {
            return Err(no_control());
        }
        let session = self.session.clone();
        let windows = self.ask(LIST_PATIENCE, move || list(session.as_deref()))?.windows;
        match windows.iter().any(|window| window.id == id) {
            true => Ok(windows),
            false => Err(ScreenError::UnknownWindow(id.to_owned())),
        }
    }

    /// Returns a window and the others of its process, in the units of the system.
    #[cfg(not(target_os = "linux"))]
    pub(in crate::screen) fn windows_of_process(
        &self,
        id: &str,
    ) -> Result<(SystemWindow, Vec<SystemWindow>), ScreenError> {
        let unknown = || ScreenError::UnknownWindow(id.to_owned());
        let mut windows =
            self.ask(LIST_PATIENCE, || granted().and_then(|()| Scene::read()))?.windows.unwrap_or_default();
        let at = windows.iter().position(|window| window.id() == id).ok_or_else(unknown)?;
        let window = windows.swap_remove(at);
        windows.retain(|other| other.pid == window.pid);
        Ok((window, windows))
    }

    #[cfg(windows)]
    #[expect(clippy::unused_self, reason = "other systems ask for a right")]
    pub(in crate::screen) fn takes_input(&self) -> Result<(), ScreenError> {
        Ok(())
    }

    #[cfg(target_os = "linux")]
    pub(in crate::screen) fn act_if(
        &self,
        _: &str,
        _: InputPlan,
        _: InputJudge,
        _: InputMode,
    ) -> Result<InputDone, ScreenError> {
        Err(no_control())
    }

    #[cfg(target_os = "linux")]
    pub(in crate::screen) fn release_input(&self, _: &str) -> Result<(), ScreenError> {
        Err(no_control())
    }

    pub(in crate::screen) fn workspaces(&self, _: Option<&str>) -> Result<Workspaces, ScreenError> {
        Err(no_control())
    }

    pub(in crate::screen) fn switch_workspace(&self, _: &str, _: u32) -> Result<(), ScreenError> {
        Err(no_control())
    }

    #[cfg(target_os = "linux")]
    pub(in crate::screen) fn screen_of(&self, _: Option<&str>) -> Result<String, ScreenError> {
        Err(no_control())
    }

    #[cfg(not(target_os = "linux"))]
    pub(in crate::screen) fn clipboard_use(
        &self,
        _: &Arc<ClipboardContent>,
        _: &str,
        _: &[u32],
    ) -> Result<ClipboardUse, ScreenError> {
        Err(no_control())
    }
}

/// What is done with windows, pointer and keyboard here is done on X11 only, so far; some of it on Windows too.
pub(super) fn no_control() -> ScreenError {
    let why = "this is done on Linux with X11 only, so far: workspaces, and whether content was pasted; windows are changed, clipboards \
               read and set, and pointer and keyboard used on X11, macOS and Windows"
        .to_owned();
    ScreenError::NoAccess(Access::Unsupported { why })
}

fn list(session: Option<&str>) -> Result<Listing, ScreenError> {
    granted()?;
    let scene = Scene::read()?;
    let primary = scene.primary().map(|monitor| monitor.number);
    let displays: Vec<_> = scene
        .monitors
        .iter()
        .map(|monitor| monitor.display(session, Some(monitor.number) == primary))
        .collect();
    let told = scene.windows.iter().flatten().enumerate();
    let windows = told.filter_map(|(at, told)| {
        let monitor = scene.monitor_of(told.bounds)?;
        Some(told.window(&monitor.id(session), &monitor.mapping(), at))
    });
    let access = match displays.is_empty() {
        true => Access::NoDisplay { why: "the system tells of no display".to_owned() },
        false => Access::Granted,
    };
    Ok(Listing { access, windows: windows.collect(), displays, unreachable: Vec::new() })
}

pub(super) fn granted() -> Result<(), ScreenError> {
    match system::access() {
        Access::Granted => Ok(()),
        access => Err(ScreenError::NoAccess(access)),
    }
}

fn capture_display(session: Option<&str>, id: &str, region: Option<Rect>) -> Result<Frame, ScreenError> {
    granted()?;
    let unknown = || ScreenError::UnknownDisplay(id.to_owned());
    for _ in 0..ATTEMPTS {
        let scene = Scene::read()?;
        let monitor = match id {
            "primary" => scene.primary(),
            id => scene.monitors.iter().find(|monitor| monitor.id(session) == id),
        };
        let monitor = monitor.ok_or_else(unknown)?;
        let taken_at_ms = time::now_ms();
        let image = pixels::of_monitor(monitor.number).map_err(|why| system::refused(id, why))?;
        let image = image.ok_or_else(unknown)?;
        if Scene::read()? != scene {
            continue;
        }
        let part = part_of(&image, region)?;
        // The picture itself says how many pixels there are.
        let mapping = Mapping { place: monitor.place, width: image.width, height: image.height };
        let display = monitor.id(session);
        let told = scene.windows.iter().flatten().enumerate();
        return Ok(Frame {
            width: part.width,
            height: part.height,
            windows: told.map(|(at, told)| told.window(&display, &mapping, at)).collect(),
            display,
            origin: part.origin(),
            content: Content::Display,
            covered_by: Vec::new(),
            taken_at_ms,
            pixels: Pixels::Desktop(image.part(part)),
        });
    }
    Err(unsteady(id))
}

fn capture_window(session: Option<&str>, number: u64, region: Option<Rect>) -> Result<Frame, ScreenError> {
    granted()?;
    let mut display = String::new();
    for _ in 0..ATTEMPTS {
        let scene = Scene::read()?;
        let windows = scene.windows.as_deref().unwrap_or_default();
        let at = windows.iter().position(|told| told.number == number);
        let unknown = || ScreenError::UnknownWindow(format!("window/{number:#x}"));
        let at = at.ok_or_else(unknown)?;
        let told = &windows[at];
        match told.state {
            WindowState::Visible => {}
            WindowState::Minimised => return Err(ScreenError::Minimised(told.id())),
            WindowState::Hidden => return Err(ScreenError::Hidden(told.id())),
        }
        let monitor = scene.monitor_of(told.bounds).ok_or_else(unknown)?;
        display = monitor.id(session);
        let taken_at_ms = time::now_ms();
        let image = pixels::of_window(number).map_err(|why| system::refused(&display, why))?;
        if Scene::read()? != scene {
            continue;
        }
        let image = image.ok_or_else(|| {
            system::refused(&display, "the system gives no picture of this kind of windows".to_owned())
        })?;
        let part = part_of(&image, region)?;
        let mapping = monitor.mapping();
        let corner = mapping.pixels(told.bounds).origin();
        let place = part.moved(corner.x, corner.y);
        let above = windows[at + 1..].iter().filter(|other| other.state == WindowState::Visible);
        let covers = above.filter_map(|other| {
            let part = mapping.pixels(other.frame).intersection(&place)?;
            Some(Cover { window: other.id(), part })
        });
        return Ok(Frame {
            width: part.width,
            height: part.height,
            origin: place.origin(),
            content: Content::Window,
            covered_by: covers.collect(),
            taken_at_ms,
            windows: windows
                .iter()
                .enumerate()
                .map(|(at, told)| told.window(&display, &mapping, at))
                .collect(),
            pixels: Pixels::Desktop(image.part(part)),
            display,
        });
    }
    Err(unsteady(&display))
}

/// Returns the part of a picture that is asked for: all of it, unless a region is named.
fn part_of(image: &pixels::Image, region: Option<Rect>) -> Result<Rect, ScreenError> {
    let bounds = Rect::new(0, 0, image.width, image.height);
    let region = region.unwrap_or(bounds);
    if !bounds.contains(&region) {
        return Err(ScreenError::Outside { region, bounds });
    }
    if region.pixels() > MAX_PIXELS {
        return Err(ScreenError::TooLarge { pixels: region.pixels(), limit: MAX_PIXELS });
    }
    Ok(region)
}

fn unsteady(display: &str) -> ScreenError {
    let why = "windows changed again and again while pictures were taken".to_owned();
    ScreenError::Failed { display: display.to_owned(), step: "the capture", why }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_may_see_private_displays_alone_sees_no_desktop() {
        let selection = DisplaySelection::Only("nowhere".into());
        let servers = Servers::new(Sources { selection, ..Sources::default() });
        let listing = servers.list().expect("an answer");
        assert_eq!((listing.access, listing.displays), (Access::NoPrivateDisplay, Vec::new()));
        let taken = servers.capture_display("primary", None, true);
        assert!(matches!(taken, Err(ScreenError::NoAccess(Access::NoPrivateDisplay))));
    }
}
