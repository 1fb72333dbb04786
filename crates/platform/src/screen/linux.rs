//! The displays of Linux: those of X servers, and of the Wayland session that this process runs in.

use std::sync::Arc;
use std::time::Duration;

use super::{
    Access, ChangeWatch, ClipboardContent, ClipboardUse, Clipping, ClippingKind, ClippingLimits, Frame,
    InputDone, InputJudge, InputMode, InputPlan, Judge, Listing, Rect, ScreenError, Sources,
    UnreachableDisplay, Window, WindowChange, Workspaces, desktop, x11,
};

/// X servers, and the Wayland session where there is one.
#[derive(Debug)]
pub(super) struct Servers {
    x11: x11::Servers,
    /// The session's name with it.
    wayland: Option<(String, desktop::Servers)>,
}

impl Servers {
    pub(super) fn new(sources: Sources) -> Self {
        // Its pictures come by what the environment names, and no other session can be meant.
        let own = Sources::of_this_process().wayland;
        let session = sources.wayland.clone().filter(|session| Some(session) == own.as_ref());
        let wayland = session.map(|session| (session, desktop::Servers::new(sources.clone())));
        Self { x11: x11::Servers::new(sources), wayland }
    }

    /// Returns the session, if a display of such an id is one of it.
    fn session_of(&self, id: &str) -> Option<&desktop::Servers> {
        let (name, servers) = self.wayland.as_ref()?;
        id.strip_prefix(name.as_str())?.starts_with('/').then_some(servers)
    }

    pub(super) fn accessibility_bus(&self, display: &str) -> Result<Option<String>, ScreenError> {
        match self.session_of(display) {
            Some(_) => Ok(None),
            None => self.x11.accessibility_bus(display),
        }
    }

    pub(super) fn has_window_manager(&self, display: &str) -> Result<bool, ScreenError> {
        match self.session_of(display) {
            Some(_) => Ok(false),
            None => self.x11.has_window_manager(display),
        }
    }

    pub(super) fn idle_time(&self, display: &str) -> Result<Option<Duration>, ScreenError> {
        match self.session_of(display) {
            Some(_) => Ok(None),
            None => self.x11.idle_time(display),
        }
    }

    pub(super) fn window_manager_answers(&self, display: &str) -> Result<bool, ScreenError> {
        self.x11.window_manager_answers(display)
    }

    pub(super) fn name_accessibility_bus(&self, display: &str, bus: &str) -> Result<(), ScreenError> {
        self.x11.name_accessibility_bus(display, bus)
    }

    pub(super) fn list(&self) -> Result<Listing, ScreenError> {
        let mut listing = self.x11.list()?;
        let Some((session, servers)) = &self.wayland else { return Ok(listing) };
        let mut own = servers.list()?;
        if own.access == Access::Granted {
            // An X server within the session says that it shows no picture of it, which is no loss any more.
            listing.unreachable.retain(|it| !matches!(it.access, Access::Unsupported { .. }));
            listing.access = Access::Granted;
            let has_primary = listing.displays.iter().any(|display| display.primary);
            own.displays.iter_mut().for_each(|display| display.primary &= !has_primary);
            listing.displays.extend(own.displays);
        } else {
            if listing.access != Access::Granted {
                listing.access = own.access.clone();
            }
            listing.unreachable.push(UnreachableDisplay { display: session.clone(), access: own.access });
        }
        Ok(listing)
    }

    pub(super) fn capture_display(
        &self,
        id: &str,
        region: Option<Rect>,
        unjudged: bool,
    ) -> Result<Frame, ScreenError> {
        if let Some(session) = self.session_of(id) {
            return session.capture_display(id, region, unjudged);
        }
        let taken = self.x11.capture_display(id, region, unjudged);
        match (&self.wayland, &taken) {
            (Some((_, session)), Err(ScreenError::NoAccess(_))) if id == "primary" => {
                session.capture_display(id, region, unjudged)
            }
            _ => taken,
        }
    }

    pub(super) fn watch(&self, id: &str) -> Result<ChangeWatch, ScreenError> {
        let is_of_session = self.session_of(id).is_some() || id.starts_with("window/");
        let watch = if is_of_session { Ok(ChangeWatch::of_silent()) } else { self.x11.watch(id) };
        match (&self.wayland, watch) {
            (Some(_), Err(ScreenError::NoAccess(_))) if id == "primary" => Ok(ChangeWatch::of_silent()),
            (_, watch) => watch,
        }
    }

    pub(super) fn capture_window(&self, id: &str, region: Option<Rect>) -> Result<Frame, ScreenError> {
        match &self.wayland {
            Some((_, session)) if id.starts_with("window/") => session.capture_window(id, region),
            _ => self.x11.capture_window(id, region),
        }
    }

    pub(super) fn change_window(
        &self,
        id: &str,
        change: WindowChange,
        judge: Judge,
        act: bool,
    ) -> Result<Window, ScreenError> {
        match &self.wayland {
            Some((_, session)) if id.starts_with("window/") => session.change_window(id, change, judge, act),
            _ => self.x11.change_window(id, change, judge, act),
        }
    }

    pub(super) fn windows_beside(&self, id: &str) -> Result<Vec<Window>, ScreenError> {
        match &self.wayland {
            Some((_, session)) if id.starts_with("window/") => session.windows_beside(id),
            _ => self.x11.windows_beside(id),
        }
    }

    pub(super) fn act_if(
        &self,
        display: &str,
        plan: InputPlan,
        judge: InputJudge,
        mode: InputMode,
    ) -> Result<InputDone, ScreenError> {
        match self.session_of(display) {
            Some(session) => session.act_if(display, plan, judge, mode),
            None => self.x11.act_if(display, plan, judge, mode),
        }
    }

    pub(super) fn release_input(&self, display: &str) -> Result<(), ScreenError> {
        match self.session_of(display) {
            Some(session) => session.release_input(display),
            None => self.x11.release_input(display),
        }
    }

    pub(super) fn workspaces(&self, display: Option<&str>) -> Result<Workspaces, ScreenError> {
        match display.and_then(|display| self.session_of(display)) {
            Some(session) => session.workspaces(display),
            None => self.x11.workspaces(display),
        }
    }

    pub(super) fn switch_workspace(&self, display: &str, number: u32) -> Result<(), ScreenError> {
        match self.session_of(display) {
            Some(session) => session.switch_workspace(display, number),
            None => self.x11.switch_workspace(display, number),
        }
    }

    pub(super) fn screen_of(&self, id: Option<&str>) -> Result<String, ScreenError> {
        let in_session = |id: &str| id.starts_with("window/") || self.session_of(id).is_some();
        match (&self.wayland, id) {
            (Some((_, session)), Some(id)) if in_session(id) => session.screen_of(Some(id)),
            _ => self.x11.screen_of(id),
        }
    }

    pub(super) fn read_clipboard(
        &self,
        display: Option<&str>,
        wanted: Option<ClippingKind>,
        limits: ClippingLimits,
        judge: &Judge,
    ) -> Result<Clipping, ScreenError> {
        self.x11.read_clipboard(display, wanted, limits, judge)
    }

    pub(super) fn save_clipboard(
        &self,
        display: Option<&str>,
        limit: usize,
        judge: &Judge,
    ) -> Result<ClipboardContent, ScreenError> {
        self.x11.save_clipboard(display, limit, judge)
    }

    pub(super) fn set_clipboard(
        &self,
        display: Option<&str>,
        content: Option<&Arc<ClipboardContent>>,
        instead_of: Option<&Arc<ClipboardContent>>,
    ) -> Result<(), ScreenError> {
        self.x11.set_clipboard(display, content, instead_of)
    }

    pub(super) fn clipboard_use(
        &self,
        content: &Arc<ClipboardContent>,
        window: &str,
        pids: &[u32],
    ) -> Result<ClipboardUse, ScreenError> {
        self.x11.clipboard_use(content, window, pids)
    }
}
