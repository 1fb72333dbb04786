//! A display and a window, as they were when they were asked for.

use super::Rect;

/// A display, or one monitor of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Display {
    /// What it is asked for by. On X11 the display's name (`:0`, or `:0.1` for a second screen of a server), which
    /// means all of it; where it has several monitors, each is `:0/NAME` too (`:0/HDMI-1`). On macOS `display-NUMBER`,
    /// on Windows `DISPLAY1`, in a Wayland session `wayland-0/XWAYLAND0`: one for each monitor.
    pub id: String,
    /// What to show a person: the monitor's name, or the display's.
    pub name: String,
    /// Whether it is the one that `primary` means. At most one of a listing is.
    pub primary: bool,
    /// Where it is on its display, in the display's pixels. A display begins at 0,0; its monitors are on it.
    pub bounds: Rect,
    /// How much larger than usual programs are told to draw, 1 for not at all. X11: `Xft.dpi` / 96.
    pub scale: f64,
}

/// The workspaces of a display, by number from 0 on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Workspaces {
    /// The id of the display.
    pub display: String,
    /// What each is called, as the window manager says; empty where it says nothing.
    pub names: Vec<String>,
    /// The number of the one that shows.
    pub current: u32,
}

/// Whether a window can be seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WindowState {
    /// It is shown. Others may cover it, and it may be outside the display.
    Visible,
    /// The user or a program has minimised it.
    Minimised,
    /// It is not shown, and not said to be minimised.
    Hidden,
}

/// A window.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Window {
    /// What it is asked for by: on X11 the display's id, `/` and the window's number, as in `:0/0x1a00003`; on macOS and
    /// Windows `window/0x1a2b`.
    pub id: String,
    /// The id of the display it is on.
    pub display: String,
    /// Its title, as its program tells it; empty if it has none.
    pub title: String,
    /// The name of its program, as the program tells it. X11: the class of `WM_CLASS`; empty if it tells none.
    pub app: String,
    /// What its program calls this kind of its windows; empty if it tells none. X11: the instance of `WM_CLASS`.
    pub instance: String,
    /// The id of the window it was opened for, as a dialog or a menu, if its program tells it.
    pub owner: Option<String>,
    /// The process it belongs to, if that is known. X11: as the server saw it connect; where it cannot tell,
    /// as the program says.
    pub pid: Option<u32>,
    /// The name of that process's program file.
    pub process: Option<String>,
    /// Its content on the display, without what the window manager draws around it. May lie partly outside.
    pub bounds: Rect,
    /// All that belongs to it on the display: the content with title bar and borders.
    pub frame: Rect,
    /// `bounds` without the shadow that its program draws around it.
    pub in_shadow: Rect,
    /// Whether it can be seen.
    pub state: WindowState,
    /// Whether the display has it on the screen, whatever is said of its state: that programs can say of any window.
    pub mapped: bool,
    /// Whether it is the one that the user works in.
    pub active: bool,
    /// Whether it fills its display; false where that is not known. X11: by what the window manager reports.
    pub maximised: bool,
    /// The number of the workspace that it is on, if it is on one. X11 with a window manager only.
    pub workspace: Option<u32>,
    /// Whether it is a menu, a hint or another window that the window manager does not manage.
    pub unmanaged: bool,
    /// Its place in the pile of the display's windows, 0 at the bottom. Windows in one frame share it.
    pub stacking: u32,
}

impl Window {
    /// Creates a window that can be seen at `bounds`, without a title, a program or a frame.
    pub fn new(id: &str, display: &str, bounds: Rect) -> Self {
        Self {
            id: id.to_owned(),
            display: display.to_owned(),
            title: String::new(),
            app: String::new(),
            instance: String::new(),
            owner: None,
            pid: None,
            process: None,
            bounds,
            frame: bounds,
            in_shadow: bounds,
            state: WindowState::Visible,
            mapped: true,
            active: false,
            maximised: false,
            workspace: None,
            unmanaged: false,
            stacking: 0,
        }
    }
}
