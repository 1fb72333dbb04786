//! The displays of this computer, as one thing to ask.

use std::sync::Arc;
use std::time::Duration;

use super::{
    Access, ChangeWatch, ClipboardContent, ClipboardUse, Clipping, ClippingKind, ClippingLimits, Display,
    Frame, InputDone, InputJudge, InputMode, InputPlan, Judge, Rect, ScreenError, Sources,
    UnreachableDisplay, Window, WindowChange, Workspaces,
};
use crate::devices::DeviceSources;

#[cfg(any(windows, target_os = "macos"))]
use super::desktop::Servers;
#[cfg(all(target_os = "linux", feature = "wayland"))]
use super::linux::Servers;
#[cfg(all(target_os = "linux", not(feature = "wayland")))]
use super::x11::Servers;

/// What there is to look at.
#[derive(Debug, Clone, PartialEq)]
pub struct Listing {
    /// Granted if any display can be read; else why not.
    pub access: Access,
    /// The displays that can be read, by number.
    pub displays: Vec<Display>,
    /// Their windows, by display and from the bottom of the pile to its top.
    pub windows: Vec<Window>,
    /// Displays that are there but cannot be read.
    pub unreachable: Vec<UnreachableDisplay>,
}

/// The displays of this computer.
///
/// Nothing is opened before it is first asked. Then it keeps a connection and a piece of shared memory for each
/// display that was used, and gives them up after a minute without a question. Every answer has a deadline, so that
/// a display that hangs costs seconds. All calls block: they belong on a thread that may.
#[derive(Debug)]
pub struct Displays {
    servers: Servers,
    session_bus: Option<String>,
    devices: Option<DeviceSources>,
}

impl Displays {
    /// Makes it ready, without looking for anything.
    pub fn new(sources: Sources) -> Self {
        let (session_bus, devices) = (sources.session_bus.clone(), sources.devices.clone());
        Self { session_bus, devices, servers: Servers::new(sources) }
    }

    /// Returns the address of the bus of the session that the displays are of, if this process knows one.
    pub fn session_bus(&self) -> Option<&str> {
        self.session_bus.as_deref()
    }

    /// Returns where the devices of the computer are found, if the displays are those of its user.
    pub const fn devices(&self) -> Option<&DeviceSources> {
        self.devices.as_ref()
    }

    /// Returns for how long nobody has used pointer and keyboard of a display (the primary one unless named); `None` where the
    /// display does not count it.
    ///
    /// # Errors
    ///
    /// [`ScreenError`] has them.
    pub fn idle_time(&self, display: Option<&str>) -> Result<Option<Duration>, ScreenError> {
        let display = self.screen_of(display)?;
        #[cfg(target_os = "linux")]
        return self.servers.idle_time(&display);
        #[cfg(not(target_os = "linux"))]
        {
            let _ = display;
            Ok(None)
        }
    }

    /// Lists displays and windows.
    ///
    /// # Errors
    ///
    /// None for a display that does not answer: it is listed as unreachable.
    pub fn list(&self) -> Result<Listing, ScreenError> {
        self.servers.list()
    }

    /// Returns the address of the accessibility bus that a display names, if it names one: on X11 by the property
    /// `AT_SPI_BUS` of its root window.
    ///
    /// # Errors
    ///
    /// [`ScreenError`] has them.
    pub fn accessibility_bus(&self, display: &str) -> Result<Option<String>, ScreenError> {
        #[cfg(target_os = "linux")]
        return self.servers.accessibility_bus(display);
        #[cfg(not(target_os = "linux"))]
        return Err(ScreenError::UnknownDisplay(display.to_owned()));
    }

    /// Returns whether a window manager runs on a display of an X server: without one nobody changes windows there. Other systems
    /// change windows themselves.
    ///
    /// # Errors
    ///
    /// [`ScreenError`] has them.
    pub fn has_window_manager(&self, display: &str) -> Result<bool, ScreenError> {
        #[cfg(target_os = "linux")]
        return self.servers.has_window_manager(display);
        #[cfg(not(target_os = "linux"))]
        return self.servers.screen_of(Some(display)).map(|_| true);
    }

    /// Checks whether this system lets pointer and keyboard be used by a program, as far as that is known before it is tried.
    ///
    /// # Errors
    ///
    /// [`ScreenError::NoAccess`] with what is missing.
    pub fn takes_input(&self) -> Result<(), ScreenError> {
        #[cfg(target_os = "linux")]
        return Ok(());
        #[cfg(not(target_os = "linux"))]
        return self.servers.takes_input();
    }

    /// Returns whether the window manager of an X server has started, and asks it to show that. To be called until it has.
    ///
    /// # Errors
    ///
    /// [`ScreenError`] has them.
    pub fn window_manager_answers(&self, display: &str) -> Result<bool, ScreenError> {
        #[cfg(target_os = "linux")]
        return self.servers.window_manager_answers(display);
        #[cfg(not(target_os = "linux"))]
        return Err(ScreenError::UnknownDisplay(display.to_owned()));
    }

    /// Has a display of an X server name its accessibility bus.
    ///
    /// # Errors
    ///
    /// [`ScreenError`] has them.
    pub fn name_accessibility_bus(&self, display: &str, bus: &str) -> Result<(), ScreenError> {
        #[cfg(target_os = "linux")]
        return self.servers.name_accessibility_bus(display, bus);
        #[cfg(not(target_os = "linux"))]
        return Err(ScreenError::UnknownDisplay(format!("{display} {bus}")));
    }

    /// Captures a display or a monitor (an id of a listing, or `primary`), or a region of it, counted from its upper
    /// left corner. The pointer is not in the picture.
    ///
    /// # Errors
    ///
    /// [`ScreenError`] has them. [`ScreenError::Blind`], without a picture, for a display whose windows are not told.
    pub fn capture_display(&self, id: &str, region: Option<Rect>) -> Result<Frame, ScreenError> {
        self.servers.capture_display(id, region, false)
    }

    /// Captures as [`Displays::capture_display`] does, and also displays whose windows are not told: only for who keeps
    /// no window out of the picture.
    ///
    /// # Errors
    ///
    /// [`ScreenError`] has them.
    pub fn capture_display_unjudged(&self, id: &str, region: Option<Rect>) -> Result<Frame, ScreenError> {
        self.servers.capture_display(id, region, true)
    }

    /// Captures a window's content, or a region of it, counted from its upper left corner, whatever covers it.
    ///
    /// # Errors
    ///
    /// [`ScreenError`] has them.
    pub fn capture_window(&self, id: &str, region: Option<Rect>) -> Result<Frame, ScreenError> {
        self.servers.capture_window(id, region)
    }

    /// Begins to hear of what is drawn on a display or a monitor (an id of a listing, or `primary`), or in a window.
    ///
    /// # Errors
    ///
    /// [`ScreenError`] has them.
    pub fn watch(&self, id: &str) -> Result<ChangeWatch, ScreenError> {
        #[cfg(target_os = "linux")]
        return self.servers.watch(id);
        #[cfg(not(target_os = "linux"))]
        {
            let _ = id;
            Ok(ChangeWatch::of_silent())
        }
    }

    /// Asks for a change of a window if the judge allows it; without `act` only whether it would be asked for. The judge
    /// gets all windows of that instant: nothing moves, opens or changes its title between its answer and the request.
    /// Returns the window as it was then.
    ///
    /// # Errors
    ///
    /// [`ScreenError`] has them. [`ScreenError::Refused`] is the judge's no, [`ScreenError::Outside`] a place that is not on
    /// the display.
    pub fn change_window(
        &self,
        id: &str,
        change: WindowChange,
        judge: Judge,
        act: bool,
    ) -> Result<Window, ScreenError> {
        self.servers.change_window(id, change, judge, act)
    }

    /// Returns the windows of the display that a window is on, or was on.
    ///
    /// # Errors
    ///
    /// [`ScreenError`] has them.
    pub fn windows_beside(&self, id: &str) -> Result<Vec<Window>, ScreenError> {
        self.servers.windows_beside(id)
    }

    /// Returns a window and the others of its process, in the units of the system.
    ///
    /// # Errors
    ///
    /// [`ScreenError`] has them.
    #[cfg(any(windows, target_os = "macos"))]
    pub(crate) fn windows_of_process(
        &self,
        id: &str,
    ) -> Result<(super::SystemWindow, Vec<super::SystemWindow>), ScreenError> {
        self.servers.windows_of_process(id)
    }

    /// Returns the workspaces of a display, or of that of a window; of the primary one unless named.
    ///
    /// # Errors
    ///
    /// [`ScreenError`] has them. [`ScreenError::NoWindowManager`] where nobody makes workspaces.
    pub fn workspaces(&self, display: Option<&str>) -> Result<Workspaces, ScreenError> {
        self.servers.workspaces(display)
    }

    /// Asks for another workspace of a display to be shown.
    ///
    /// # Errors
    ///
    /// As [`Displays::workspaces`].
    pub fn switch_workspace(&self, display: &str, number: u32) -> Result<(), ScreenError> {
        self.servers.switch_workspace(display, number)
    }

    /// Makes input on a display if the judge allows it; the only way to pointer and keyboard. The plan gets the windows of the
    /// instant and the display's size, the judge also what is at each point and what has the keyboard: nothing moves, opens or
    /// gets the focus between its answer and the input. It is never made twice.
    ///
    /// # Errors
    ///
    /// [`ScreenError`] has them. [`ScreenError::Refused`] is the plan's or the judge's no; nothing was done then.
    pub fn act_if(
        &self,
        display: &str,
        plan: InputPlan,
        judge: InputJudge,
        mode: InputMode,
    ) -> Result<InputDone, ScreenError> {
        self.servers.act_if(display, plan, judge, mode)
    }

    /// Releases every key and button that [`Displays::act_if`] has left down.
    ///
    /// # Errors
    ///
    /// [`ScreenError`] has them; what this cannot release then, its guard does.
    pub fn release_input(&self, display: &str) -> Result<(), ScreenError> {
        self.servers.release_input(display)
    }

    /// Returns the id of the display that has pointer and keyboard for a display, a monitor or a window, or for the primary
    /// display.
    ///
    /// # Errors
    ///
    /// [`ScreenError`] has them.
    pub fn screen_of(&self, id: Option<&str>) -> Result<String, ScreenError> {
        self.servers.screen_of(id)
    }

    /// Reads the clipboard of a display (the primary one unless named) if the judge allows its owner, who is among the windows
    /// of the instant as [`super::CLIPBOARD_OWNER`]: a window without a name that belongs to its process.
    ///
    /// # Errors
    ///
    /// [`ScreenError`] has them. [`ScreenError::Refused`] is the judge's no, or the owner's word that it is a secret.
    pub fn read_clipboard(
        &self,
        display: Option<&str>,
        wanted: Option<ClippingKind>,
        limits: ClippingLimits,
        judge: &Judge,
    ) -> Result<Clipping, ScreenError> {
        self.servers.read_clipboard(display, wanted, limits, judge)
    }

    /// Reads everything that the clipboard of a display has, as [`Displays::read_clipboard`] reads a part; nothing where it is
    /// empty. Pictures are read in one form.
    ///
    /// # Errors
    ///
    /// As for [`Displays::read_clipboard`]; [`ScreenError::ClipboardTooLarge`] where it is more than so many bytes.
    pub fn save_clipboard(
        &self,
        display: Option<&str>,
        limit: usize,
        judge: &Judge,
    ) -> Result<ClipboardContent, ScreenError> {
        self.servers.save_clipboard(display, limit, judge)
    }

    /// Puts content on the clipboard of a display, where it stays while this lives and nobody else takes the clipboard; without
    /// content it takes off what is there. With `instead_of` it does so only while that content, which this has put there, is
    /// there.
    ///
    /// # Errors
    ///
    /// [`ScreenError`] has them. [`ScreenError::ClipboardChanged`] where something else is there, which then stays.
    pub fn set_clipboard(
        &self,
        display: Option<&str>,
        content: Option<&Arc<ClipboardContent>>,
        instead_of: Option<&Arc<ClipboardContent>>,
    ) -> Result<(), ScreenError> {
        self.servers.set_clipboard(display, content, instead_of)
    }

    /// Returns whether the program of a window, or one of some processes, has fetched content that this has put on the
    /// clipboard of its display.
    ///
    /// # Errors
    ///
    /// [`ScreenError`] has them.
    pub fn clipboard_use(
        &self,
        content: &Arc<ClipboardContent>,
        window: &str,
        pids: &[u32],
    ) -> Result<ClipboardUse, ScreenError> {
        self.servers.clipboard_use(content, window, pids)
    }
}
