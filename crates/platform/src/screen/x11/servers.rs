//! All X servers of this computer, and the ids by which things are asked for.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::Duration;

use x11rb::connection::RequestConnection as _;
use x11rb::protocol::screensaver::{self, ConnectionExt as _};
use x11rb::protocol::xproto::{AtomEnum, ConnectionExt as _, PropMode, Window as WindowNumber};
use x11rb::wrapper::ConnectionExt as _;

use super::actor::Actors;
use super::address::{self, Address, ServerAddress};
use super::error::ServerError;
use super::server::Server;
use super::watch::DrawingWatch;
use super::{capture, change, clipboard, input, scene, workspaces};
use crate::screen::{
    Access, ChangeWatch, ClipboardContent, ClipboardUse, Clipping, ClippingKind, ClippingLimits, Display,
    DisplaySelection, Frame, InputDone, InputJudge, InputMode, InputPlan, Judge, Listing, Rect, ScreenError,
    Sources, UnreachableDisplay, Window, WindowChange, Workspaces,
};

/// All X servers of this computer.
#[derive(Debug)]
pub(in crate::screen) struct Servers {
    kept: Arc<Actors>,
}

/// Where a window is.
struct WindowPlace {
    address: Address,
    display: String,
    screen: usize,
    number: WindowNumber,
}

/// The longest address of a bus, in units of four bytes.
const MAX_BUS_ADDRESS: u32 = 256;

/// What one server has.
type ServerContents = (Vec<Display>, Vec<Window>, Option<Access>);

impl Servers {
    pub(in crate::screen) fn new(sources: Sources) -> Self {
        Self { kept: Arc::new(Actors::new(sources)) }
    }

    pub(in crate::screen) fn list(&self) -> Result<Listing, ScreenError> {
        let addresses = address::servers(&self.kept.sources);
        // At once, so that several that hang cost no more time than one.
        let held: Vec<Result<ServerContents, ScreenError>> = thread::scope(|scope| {
            let asked: Vec<_> = addresses
                .iter()
                .map(|address| scope.spawn(move || self.kept.with(address, holding)))
                .collect();
            let lost = |address: &Address| Err(ScreenError::Lost(address.id.clone()));
            asked
                .into_iter()
                .zip(&addresses)
                .map(|(asked, address)| asked.join().unwrap_or_else(|_| lost(address)))
                .collect()
        });
        let mut listing = Listing {
            access: Access::Granted,
            displays: Vec::new(),
            windows: Vec::new(),
            unreachable: Vec::new(),
        };
        for (address, held) in addresses.iter().zip(held) {
            let refused = match held {
                Ok((displays, windows, refused)) => {
                    listing.displays.extend(displays);
                    listing.windows.extend(windows);
                    refused
                }
                Err(error) => Some(access_of(error)),
            };
            let display = address.id.clone();
            listing.unreachable.extend(refused.map(|access| UnreachableDisplay { display, access }));
        }
        // The first server's: the one that the environment names, or that of the lowest number.
        let mut primary = false;
        for display in &mut listing.displays {
            display.primary &= !primary;
            primary |= display.primary;
        }
        if listing.displays.is_empty() && listing.windows.is_empty() {
            listing.access = self.no_access(&listing.unreachable);
        }
        Ok(listing)
    }

    /// Returns why nothing can be read: the best reason there is.
    fn no_access(&self, unreachable: &[UnreachableDisplay]) -> Access {
        let sources = &self.kept.sources;
        if matches!(sources.selection, DisplaySelection::Only(_)) && unreachable.is_empty() {
            return Access::NoPrivateDisplay;
        }
        let telling = |access: &&Access| !matches!(access, Access::NoDisplay { .. });
        if let Some(access) = unreachable.iter().map(|it| &it.access).find(telling) {
            return access.clone();
        }
        if let Some(session) = &sources.wayland {
            let why = format!(
                "the session is a Wayland one (`{session}`) without an X server; log in to a session on Xorg, or use a \
                 build with the feature `wayland` (`bailiwick help screens`)"
            );
            return Access::Unsupported { why };
        }
        let why = match &sources.display {
            Some(display) => {
                format!("DISPLAY is `{display}`, and no X server answers there or on this computer")
            }
            None => "no X server runs on this computer, and DISPLAY is not set".to_owned(),
        };
        Access::NoDisplay { why }
    }

    pub(in crate::screen) fn capture_display(
        &self,
        id: &str,
        region: Option<Rect>,
        _unjudged: bool,
    ) -> Result<Frame, ScreenError> {
        // Every window is told, of the very moment: anyone who judges can.
        let named;
        let id = if id == "primary" {
            named = self.primary()?;
            named.as_str()
        } else {
            id
        };
        let (display, monitor) =
            id.split_once('/').map_or((id, None), |(display, name)| (display, Some(name)));
        let (address, screen) = self.find(display).ok_or_else(|| self.unknown(id))?;
        let (id, monitor) = (id.to_owned(), monitor.map(str::to_owned));
        self.kept.with(&address, move |server| {
            known_screen(server, screen, &id)?;
            capture::display(server, screen, monitor.as_deref(), region)
        })
    }

    pub(in crate::screen) fn capture_window(
        &self,
        id: &str,
        region: Option<Rect>,
    ) -> Result<Frame, ScreenError> {
        let WindowPlace { address, display, screen, number } = self.find_window(id)?;
        self.kept.with(&address, move |server| {
            known_screen(server, screen, &display)?;
            capture::window(server, screen, number, region)
        })
    }

    pub(in crate::screen) fn watch(&self, id: &str) -> Result<ChangeWatch, ScreenError> {
        let (address, screen, window) = match self.find_window(id) {
            Ok(WindowPlace { address, screen, number, .. }) => (address, screen, Some(number)),
            Err(_) => {
                let display = self.screen_of(Some(id))?;
                let (address, screen) = self.find(&display).ok_or_else(|| self.unknown(id))?;
                (address, screen, None)
            }
        };
        let watch = DrawingWatch::open(&address, &self.kept, screen, window);
        let watch = watch.map_err(|error| error.told(&address.id))?;
        Ok(watch.map_or_else(ChangeWatch::of_silent, ChangeWatch::of_drawing))
    }

    pub(in crate::screen) fn change_window(
        &self,
        id: &str,
        change: WindowChange,
        judge: Judge,
        act: bool,
    ) -> Result<Window, ScreenError> {
        let WindowPlace { address, display, screen, number } = self.find_window(id)?;
        let id = id.to_owned();
        self.kept.with(&address, move |server| {
            known_screen(server, screen, &display)?;
            change::change(server, screen, &id, number, change, &judge, act)
        })
    }

    pub(in crate::screen) fn windows_beside(&self, id: &str) -> Result<Vec<Window>, ScreenError> {
        let WindowPlace { address, display, screen, .. } = self.find_window(id)?;
        self.kept.with(&address, move |server| {
            known_screen(server, screen, &display)?;
            let root = server.roots()[screen].root;
            let scene = scene::read(server, screen, scene::ask(server, root)?)?;
            Ok(scene.windows.into_iter().map(|placed| placed.window).collect())
        })
    }

    pub(in crate::screen) fn read_clipboard(
        &self,
        display: Option<&str>,
        wanted: Option<ClippingKind>,
        limits: ClippingLimits,
        judge: &Judge,
    ) -> Result<Clipping, ScreenError> {
        let address = self.server_of(display)?;
        clipboard::read(&address, &self.kept.sources, wanted, limits, judge)
            .map_err(|error| error.told(&address.id))
    }

    pub(in crate::screen) fn save_clipboard(
        &self,
        display: Option<&str>,
        limit: usize,
        judge: &Judge,
    ) -> Result<ClipboardContent, ScreenError> {
        let address = self.server_of(display)?;
        clipboard::save(&address, &self.kept.sources, limit, judge).map_err(|error| error.told(&address.id))
    }

    pub(in crate::screen) fn set_clipboard(
        &self,
        display: Option<&str>,
        content: Option<&Arc<ClipboardContent>>,
        instead_of: Option<&Arc<ClipboardContent>>,
    ) -> Result<(), ScreenError> {
        self.kept.set_clipboard(&self.server_of(display)?, content.cloned(), instead_of.cloned())
    }

    pub(in crate::screen) fn clipboard_use(
        &self,
        content: &Arc<ClipboardContent>,
        window: &str,
        pids: &[u32],
    ) -> Result<ClipboardUse, ScreenError> {
        let WindowPlace { address, number, .. } = self.find_window(window)?;
        self.kept.clipboard_use(&address, content, number, pids)
    }

    pub(in crate::screen) fn act_if(
        &self,
        display: &str,
        plan: InputPlan,
        judge: InputJudge,
        mode: InputMode,
    ) -> Result<InputDone, ScreenError> {
        let (address, screen) = self.find(display).ok_or_else(|| self.unknown(display))?;
        let (display, sources) = (display.to_owned(), self.kept.sources.clone());
        let has_begun = AtomicBool::new(false);
        self.kept.with(&address, move |server| {
            known_screen(server, screen, &display)?;
            let order = input::Order {
                plan: &plan,
                judge: &judge,
                mode: &mode,
                has_begun: &has_begun,
                sources: &sources,
            };
            input::act(server, screen, &order)
        })
    }

    pub(in crate::screen) fn release_input(&self, display: &str) -> Result<(), ScreenError> {
        let (address, _) = self.find(display).ok_or_else(|| self.unknown(display))?;
        self.kept.with(&address, input::release)
    }

    pub(in crate::screen) fn workspaces(&self, display: Option<&str>) -> Result<Workspaces, ScreenError> {
        self.on_screen(&self.screen_of(display)?, workspaces::read)
    }

    pub(in crate::screen) fn switch_workspace(&self, display: &str, number: u32) -> Result<(), ScreenError> {
        self.on_screen(display, move |server, screen, _| workspaces::switch(server, screen, number))
    }

    /// Has something asked of a screen.
    fn on_screen<T: Send + 'static>(
        &self,
        display: &str,
        ask: impl Fn(&Server, usize, &str) -> Result<T, ServerError> + Send + 'static,
    ) -> Result<T, ScreenError> {
        let (address, screen) = self.find(display).ok_or_else(|| self.unknown(display))?;
        let display = display.to_owned();
        self.kept.with(&address, move |server| {
            known_screen(server, screen, &display)?;
            ask(server, screen, &display)
        })
    }

    pub(in crate::screen) fn screen_of(&self, id: Option<&str>) -> Result<String, ScreenError> {
        match id {
            Some(id) if id != "primary" => {
                let display = id.split_once('/').map_or(id, |(display, _)| display);
                self.find(display).map(|_| display.to_owned()).ok_or_else(|| self.unknown(id))
            }
            _ => self.server_of(None).map(|address| address.id),
        }
    }

    /// Finds the server that a display, a screen or a monitor is of.
    fn server_of(&self, display: Option<&str>) -> Result<Address, ScreenError> {
        let id = match display {
            Some(display) if display != "primary" => display.to_owned(),
            _ => match self.primary_server() {
                Some(address) => return Ok(address),
                // It says why there is none.
                None => self.primary()?,
            },
        };
        let server = id.split_once('/').map_or(id.as_str(), |(server, _)| server);
        self.find(server).map(|(address, _)| address).ok_or_else(|| self.unknown(&id))
    }

    /// Finds the first server that answers and has a display of its own, without reading its windows.
    fn primary_server(&self) -> Option<Address> {
        let has_display = |address: &Address| {
            self.kept.with(address, |server| {
                server.connection.get_input_focus()?.reply()?;
                Ok(!server.abilities.part_of_wayland)
            })
        };
        address::servers(&self.kept.sources).into_iter().find(|address| has_display(address) == Ok(true))
    }

    /// Finds the display that a window's id names, and its number there.
    fn find_window(&self, id: &str) -> Result<WindowPlace, ScreenError> {
        let unknown = || match self.unknown(id) {
            ScreenError::UnknownDisplay(_) => ScreenError::UnknownWindow(id.to_owned()),
            error => error,
        };
        let (display, number) = id.rsplit_once("/0x").ok_or_else(unknown)?;
        let number = WindowNumber::from_str_radix(number, 16).map_err(|_| unknown())?;
        let (address, screen) = self.find(display).ok_or_else(unknown)?;
        Ok(WindowPlace { address, display: display.to_owned(), screen, number })
    }

    pub(in crate::screen) fn accessibility_bus(&self, display: &str) -> Result<Option<String>, ScreenError> {
        let (address, _) = self.find(display).ok_or_else(|| self.unknown(display))?;
        // A bus that a forwarded display names is one of another computer.
        if !matches!(address.place, ServerAddress::Socket(_)) {
            return Ok(None);
        }
        let display = display.to_owned();
        self.kept.with(&address, move |server| {
            let root =
                server.roots().first().ok_or_else(|| ScreenError::UnknownDisplay(display.clone()))?.root;
            let name = server.atoms.AT_SPI_BUS;
            let asked =
                server.connection.get_property(false, root, name, AtomEnum::ANY, 0, MAX_BUS_ADDRESS)?;
            Ok(String::from_utf8(asked.reply()?.value).ok().filter(|address| !address.is_empty()))
        })
    }

    pub(in crate::screen) fn has_window_manager(&self, display: &str) -> Result<bool, ScreenError> {
        let (address, screen) = self.find(display).ok_or_else(|| self.unknown(display))?;
        let display = display.to_owned();
        self.kept.with(&address, move |server| {
            known_screen(server, screen, &display)?;
            change::has_manager(server, server.roots()[screen].root)
        })
    }

    /// Returns for how long there was no input. A server within a Wayland session sees a part of it alone.
    pub(in crate::screen) fn idle_time(&self, display: &str) -> Result<Option<Duration>, ScreenError> {
        let (address, screen) = self.find(display).ok_or_else(|| self.unknown(display))?;
        let display = display.to_owned();
        self.kept.with(&address, move |server| {
            known_screen(server, screen, &display)?;
            let counts = server.connection.extension_information(screensaver::X11_EXTENSION_NAME)?.is_some();
            if !counts || server.abilities.part_of_wayland {
                return Ok(None);
            }
            let asked = server.connection.screensaver_query_info(server.roots()[screen].root)?;
            Ok(Some(Duration::from_millis(asked.reply()?.ms_since_user_input.into())))
        })
    }

    pub(in crate::screen) fn window_manager_answers(&self, display: &str) -> Result<bool, ScreenError> {
        let (address, _) = self.find(display).ok_or_else(|| self.unknown(display))?;
        self.kept.with(&address, change::manager_answers)
    }

    pub(in crate::screen) fn name_accessibility_bus(
        &self,
        display: &str,
        bus: &str,
    ) -> Result<(), ScreenError> {
        let (address, _) = self.find(display).ok_or_else(|| self.unknown(display))?;
        let (display, bus) = (display.to_owned(), bus.to_owned());
        self.kept.with(&address, move |server| {
            let root =
                server.roots().first().ok_or_else(|| ScreenError::UnknownDisplay(display.clone()))?.root;
            let (name, kind) = (server.atoms.AT_SPI_BUS, AtomEnum::STRING);
            server
                .connection
                .change_property8(PropMode::REPLACE, root, name, kind, bus.as_bytes())?
                .check()?;
            Ok(())
        })
    }

    fn primary(&self) -> Result<String, ScreenError> {
        let listing = self.list()?;
        let primary = listing.displays.into_iter().find(|display| display.primary);
        let none = || match listing.access {
            // There are windows of a Wayland session, but no display.
            Access::Granted => self.no_access(&listing.unreachable),
            access => access,
        };
        primary.map(|display| display.id).ok_or_else(|| ScreenError::NoAccess(none()))
    }

    /// Finds the server of `:0` or `:0.1`, and which of its screens is meant. Nothing is connected to that is not
    /// among the servers of this computer.
    pub(super) fn find(&self, display: &str) -> Option<(Address, usize)> {
        let servers = address::servers(&self.kept.sources);
        if let Some(server) = servers.iter().find(|server| server.id == display) {
            return Some((server.clone(), 0));
        }
        let (id, screen) = display.rsplit_once('.')?;
        let screen = screen.parse().ok().filter(|screen: &usize| *screen > 0)?;
        servers.into_iter().find(|server| server.id == id).map(|server| (server, screen))
    }

    /// Where there is no display at all, that is the better answer than that there is none of this name, or no such
    /// window.
    fn unknown(&self, id: &str) -> ScreenError {
        if address::servers(&self.kept.sources).is_empty() {
            ScreenError::NoAccess(self.no_access(&[]))
        } else {
            ScreenError::UnknownDisplay(id.to_owned())
        }
    }
}

fn known_screen(server: &Server, screen: usize, id: &str) -> Result<(), ServerError> {
    match server.roots().get(screen) {
        Some(_) => Ok(()),
        None => Err(ScreenError::UnknownDisplay(id.to_owned()).into()),
    }
}

/// Says of a server that does not answer why it cannot be read.
fn access_of(error: ScreenError) -> Access {
    match error {
        ScreenError::NoAccess(access) => access,
        error => Access::Denied {
            why: error.to_string(),
            setting: "nothing of this computer's settings: the display has to answer again".to_owned(),
        },
    }
}

/// Asks one server for all that it has.
fn holding(server: &mut Server) -> Result<ServerContents, ServerError> {
    let (mut displays, mut windows) = (Vec::new(), Vec::new());
    server.screens = server.read_shapes()?;
    let scale = scale(server)?;
    for screen in 0..server.roots().len() {
        let id = server.screen_id(screen);
        let shape = &server.screens[screen];
        let several = shape.monitors.len() > 1;
        let named = shape.monitors.first().map(|monitor| monitor.name.clone()).filter(|_| !several);
        let name = named.filter(|name| !name.is_empty()).unwrap_or_else(|| id.clone());
        displays.push(Display {
            id: id.clone(),
            name,
            primary: screen == 0 && !several,
            bounds: shape.bounds,
            scale,
        });
        if several {
            let first = shape.monitors.iter().position(|monitor| monitor.primary).unwrap_or(0);
            for (at, monitor) in shape.monitors.iter().enumerate() {
                displays.push(Display {
                    id: format!("{id}/{}", monitor.name),
                    name: monitor.name.clone(),
                    primary: screen == 0 && at == first,
                    bounds: monitor.place,
                    scale,
                });
            }
        }
        let root = server.roots()[screen].root;
        let scene = scene::read(server, screen, scene::ask(server, root)?)?;
        windows.extend(scene.windows.into_iter().map(|shown| shown.window));
    }
    if server.abilities.part_of_wayland {
        return Ok((Vec::new(), windows, Some(capture::wayland(&server.id))));
    }
    Ok((displays, windows, None))
}

/// Reads `Xft.dpi` of the server's settings: what programs are told to draw for.
pub(super) fn scale(server: &Server) -> Result<f64, ServerError> {
    let Some(root) = server.roots().first() else { return Ok(1.0) };
    let (property, kind) = (AtomEnum::RESOURCE_MANAGER, AtomEnum::STRING);
    let settings =
        server.connection.get_property(false, root.root, property, kind, 0, 16_384)?.reply()?.value;
    let settings = String::from_utf8_lossy(&settings);
    let dpi = settings.lines().find_map(|line| line.strip_prefix("Xft.dpi:")?.trim().parse::<f64>().ok());
    Ok(dpi.filter(|dpi| (24.0..=960.0).contains(dpi)).map_or(1.0, |dpi| dpi / 96.0))
}
