//! Changes of windows on macOS and Windows. Nothing can be held still here: a window that is another than the judged one right
//! before it is changed is judged again, and one whose program is not known is not changed.

use std::time::Instant;

#[cfg(target_os = "macos")]
use super::ax_order::{is_minimised, order};
use super::mapping::Mapping;
use super::scene::{Scene, number_of};
use super::servers::{Servers, granted, no_control};
use super::system;
#[cfg(windows)]
use super::system::order;
use super::window::SystemWindow;
use crate::screen::{Judge, Rect, ScreenError, Window, WindowChange, WindowState};

/// How often a window is judged again that became another meanwhile.
const ATTEMPTS: usize = 3;

/// Something that is done to a window. Its program does it when it comes to it: nothing waits for that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    /// It gets the keyboard; it is brought back first if it was minimised.
    Focus {
        /// Whether it is minimised.
        is_minimised: bool,
    },
    /// It is minimised.
    Minimise,
    /// It fills its display.
    Maximise {
        /// Where the display lies, in the units of the system.
        #[cfg(target_os = "macos")]
        display: Rect,
    },
    /// It is as it was before it was minimised or filled its display.
    Restore,
    /// Its program is asked to close it.
    Close,
    /// All that belongs to it is here, in the units of the system.
    Place {
        /// Where.
        place: Rect,
        /// Whether it fills its display.
        is_maximised: bool,
    },
}

impl Servers {
    pub(in crate::screen) fn change_window(
        &self,
        id: &str,
        change: WindowChange,
        judge: Judge,
        act: bool,
    ) -> Result<Window, ScreenError> {
        let number = number_of(id).ok_or_else(|| ScreenError::UnknownWindow(id.to_owned()))?;
        let latest = Instant::now() + system::PATIENCE;
        self.ask(system::PATIENCE, move || change_judged(number, change, &judge, act, latest))
    }

    /// Returns all windows: those of one display are not alone there.
    pub(in crate::screen) fn windows_beside(&self, id: &str) -> Result<Vec<Window>, ScreenError> {
        let number = number_of(id);
        self.ask(system::PATIENCE, move || {
            granted()?;
            Ok(read(number)?.described())
        })
    }

    pub(in crate::screen) fn screen_of(&self, id: Option<&str>) -> Result<String, ScreenError> {
        let id = id.map(str::to_owned);
        self.ask(system::PATIENCE, move || {
            granted()?;
            let scene = Scene::read()?;
            let id = id.as_deref().unwrap_or("primary");
            if let Some(monitor) = scene.monitor(id) {
                return Ok(monitor.id(None));
            }
            let window = scene.described().into_iter().find(|window| window.id == id);
            window.map(|window| window.display).ok_or_else(|| ScreenError::UnknownDisplay(id.to_owned()))
        })
    }
}

/// Reads what there is, and of one window whether it is minimised, where the list of windows does not say it.
fn read(number: Option<u64>) -> Result<Scene, ScreenError> {
    let scene = Scene::read()?;
    #[cfg(target_os = "macos")]
    let scene = {
        let mut scene = scene;
        let windows = scene.windows.as_deref_mut().unwrap_or_default();
        let at = windows.iter().position(|it| Some(it.number) == number && it.state == WindowState::Hidden);
        if let Some(at) = at.filter(|at| is_minimised(&windows[*at], windows)) {
            windows[at].state = WindowState::Minimised;
        }
        scene
    };
    #[cfg(windows)]
    let _ = number;
    Ok(scene)
}

fn change_judged(
    number: u64,
    change: WindowChange,
    judge: &Judge,
    act: bool,
    latest: Instant,
) -> Result<Window, ScreenError> {
    granted()?;
    let mut id = String::new();
    for _ in 0..ATTEMPTS {
        let scene = read(Some(number))?;
        let told = scene.windows.iter().flatten().find(|told| told.number == number);
        let told = told.ok_or_else(|| ScreenError::UnknownWindow(format!("window/{number:#x}")))?;
        id = told.id();
        let windows = scene.described();
        let window = windows.iter().find(|window| window.id == id).cloned();
        let window = window.ok_or_else(|| ScreenError::UnknownWindow(id.clone()))?;
        if !judge(&windows) || told.process.is_none() {
            return Err(ScreenError::Refused(id));
        }
        if told.unmanaged {
            return Err(failed(
                &window,
                "it is a menu or another window that has no place of its own".to_owned(),
            ));
        }
        let mapping = scene.monitor_of(told.bounds).map(super::pixels::SystemDisplay::mapping);
        let mapping = mapping.ok_or_else(|| ScreenError::UnknownWindow(id.clone()))?;
        let wanted = order_of(change, told, &window, &mapping)?;
        if !act {
            return Ok(window);
        }
        if system::window(number).is_none_or(|now| !is_same(&now, told)) {
            continue;
        }
        // Nobody waits for it any more.
        if Instant::now() >= latest {
            return Err(ScreenError::Timeout(window.display));
        }
        if let Some(wanted) = wanted {
            order(told, scene.windows.as_deref().unwrap_or_default(), wanted)
                .map_err(|why| failed(&window, why))?;
        }
        return Ok(window);
    }
    let why = "it became another one again and again while it was judged".to_owned();
    Err(ScreenError::Failed { display: id, step: "the change of the window", why })
}

/// Returns whether a judge would say the same of both.
pub(super) fn is_same(one: &SystemWindow, other: &SystemWindow) -> bool {
    let facts =
        |it: &SystemWindow| (it.pid, it.process.clone(), it.title.clone(), it.instance.clone(), it.owner);
    facts(one) == facts(other)
}

/// Returns what is to be done; nothing where there is nothing to do.
fn order_of(
    change: WindowChange,
    told: &SystemWindow,
    window: &Window,
    mapping: &Mapping,
) -> Result<Option<Order>, ScreenError> {
    let is_minimised = window.state == WindowState::Minimised;
    Ok(Some(match change {
        WindowChange::Focus => Order::Focus { is_minimised },
        WindowChange::Minimise => Order::Minimise,
        WindowChange::Maximise => Order::Maximise {
            #[cfg(target_os = "macos")]
            display: mapping.place,
        },
        WindowChange::Restore if is_minimised || window.maximised => Order::Restore,
        WindowChange::Restore => return Ok(None),
        WindowChange::Close => Order::Close,
        WindowChange::Workspace(_) => return Err(no_control()),
        WindowChange::Place { .. } if is_minimised => {
            return Err(failed(window, "it is minimized; restore it first".to_owned()));
        }
        WindowChange::Place { .. } => {
            let place = change.place_of(window).unwrap_or(window.bounds);
            let bounds = Rect::new(0, 0, mapping.width, mapping.height);
            if !bounds.contains(&place) {
                return Err(ScreenError::Outside { region: place, bounds });
            }
            let place = with_border(mapping.units(place), told.bounds, told.frame);
            Order::Place { place, is_maximised: told.maximised }
        }
    }))
}

/// Returns all that a window is to cover, of which a part is drawn at `place`, as it is now around what is drawn.
fn with_border(place: Rect, drawn: Rect, whole: Rect) -> Rect {
    let more = |length: u32, whole: u32, drawn: u32| length.saturating_add(whole.saturating_sub(drawn));
    Rect::new(
        place.x.saturating_sub(drawn.x.saturating_sub(whole.x)),
        place.y.saturating_sub(drawn.y.saturating_sub(whole.y)),
        more(place.width, whole.width, drawn.width),
        more(place.height, whole.height, drawn.height),
    )
}

fn failed(window: &Window, why: String) -> ScreenError {
    ScreenError::Failed { display: window.display.clone(), step: "the change of the window", why }
}

#[cfg(all(test, windows))]
mod tests {
    use super::super::notepad::{Notepad, eventually};
    use super::*;

    #[test]
    fn a_window_of_another_program_is_changed_if_the_judge_says_so() {
        let Some((servers, notepad)) = Notepad::start() else { return };
        let (pid, window) = (notepad.pid(), notepad.window(&servers));
        assert_eq!(window.process.as_deref().map(str::to_lowercase).as_deref(), Some("notepad.exe"));
        let id = window.id.as_str();
        let change = |change, verdict: bool, act| {
            let judged = id.to_owned();
            let knows = move |windows: &[Window]| windows.iter().any(|it| it.id == judged);
            servers.change_window(id, change, Box::new(move |windows| verdict && knows(windows)), act)
        };
        let place = WindowChange::Place { x: Some(30), y: Some(40), width: Some(420), height: Some(310) };
        let at = |rect| move |it: Option<&Window>| it.is_some_and(|it| it.bounds == rect);
        change(place, true, true).expect("it is asked for");
        eventually(&servers, id, "placed", at(Rect::new(30, 40, 420, 310)));
        assert_eq!(change(WindowChange::Close, false, true), Err(ScreenError::Refused(id.to_owned())));
        change(WindowChange::Close, true, false).expect("it is judged only");
        let far = WindowChange::Place { x: Some(99_999), y: None, width: None, height: None };
        assert!(matches!(change(far, true, true), Err(ScreenError::Outside { .. })));
        change(WindowChange::Maximise, true, true).expect("it is asked for");
        eventually(&servers, id, "maximised", |it| it.is_some_and(|it| it.maximised));
        change(WindowChange::Restore, true, true).expect("it is asked for");
        eventually(&servers, id, "restored", at(Rect::new(30, 40, 420, 310)));
        change(WindowChange::Minimise, true, true).expect("it is asked for");
        eventually(&servers, id, "minimised", |it| it.is_some_and(|it| it.state == WindowState::Minimised));
        assert!(matches!(change(place, true, true), Err(ScreenError::Failed { .. })), "restored first");
        change(WindowChange::Focus, true, true).expect("it is asked for");
        let is_shown =
            |it: Option<&Window>| it.is_some_and(|it| it.state == WindowState::Visible && it.active);
        eventually(&servers, id, "focused", is_shown);
        let all = crate::screen::ancestors(pid);
        assert_eq!(all.first().map(|it| it.pid), Some(std::process::id()), "{all:?}");
        assert!(crate::screen::processes_of(std::path::Path::new("NOTEPAD.exe")).contains(&pid));
        change(WindowChange::Close, true, true).expect("it is asked for");
        eventually(&servers, id, "closed", |it| it.is_none());
        assert_eq!(change(WindowChange::Close, true, true), Err(ScreenError::UnknownWindow(id.to_owned())));
    }

    #[test]
    fn the_border_around_what_is_drawn_stays() {
        let (drawn, whole) = (Rect::new(107, 100, 386, 293), Rect::new(100, 100, 400, 300));
        let placed = with_border(Rect::new(0, 0, 386, 293), drawn, whole);
        assert_eq!(placed, Rect::new(-7, 0, 400, 300));
        assert_eq!(with_border(drawn, drawn, whole), whole);
    }
}
