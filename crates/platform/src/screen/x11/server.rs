//! One connection to an X server: opening it, its facts, its memory, and having the server to oneself.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use x11rb::connection::{Connection as _, RequestConnection as _};
use x11rb::errors::ConnectError;
use x11rb::protocol::Event;
use x11rb::protocol::composite::{self, ConnectionExt as _};
use x11rb::protocol::randr::{self, ConnectionExt as _};
use x11rb::protocol::res::{self, ConnectionExt as _};
use x11rb::protocol::shm::{self, ConnectionExt as _};
use x11rb::protocol::xproto::{
    Atom, ConnectionExt as _, CreateWindowAux, EventMask, Screen, Window as WindowNumber, WindowClass,
};
use x11rb::rust_connection::RustConnection;

use super::address::{Address, ServerAddress};
use super::authority;
use super::banner::{Banner, Banners};
use super::error::ServerError;
use super::foresight::ScreenQueries;
use super::input::InputState;
use super::segment::{Lease, Pool, Segment};
use super::stream::TimedStream;
use crate::screen::{Access, Rect, ScreenError, Sources};

/// How long a server has for all the answers to one question.
pub(super) const PATIENCE: Duration = Duration::from_secs(5);

x11rb::atom_manager! {
    /// The numbers of names.
    pub(super) Atoms: AtomsCookie {
        _NET_CLIENT_LIST,
        _NET_CLIENT_LIST_STACKING,
        _NET_ACTIVE_WINDOW,
        _NET_WM_NAME,
        _NET_WM_PID,
        _NET_WM_STATE,
        _NET_WM_STATE_HIDDEN,
        _NET_WM_STATE_MAXIMIZED_VERT,
        _NET_WM_STATE_MAXIMIZED_HORZ,
        _NET_WM_DESKTOP,
        _NET_NUMBER_OF_DESKTOPS,
        _NET_CURRENT_DESKTOP,
        _NET_DESKTOP_NAMES,
        _NET_SUPPORTED,
        _NET_SUPPORTING_WM_CHECK,
        _NET_REQUEST_FRAME_EXTENTS,
        _NET_FRAME_EXTENTS,
        _NET_CLOSE_WINDOW,
        _NET_MOVERESIZE_WINDOW,
        WM_CHANGE_STATE,
        CLIPBOARD,
        TARGETS,
        TIMESTAMP,
        INCR,
        BAILIWICK_CLIPBOARD,
        UTF8_TEXT: b"text/plain;charset=utf-8",
        PLAIN_TEXT: b"text/plain",
        URI_LIST: b"text/uri-list",
        PNG: b"image/png",
        WM_STATE,
        UTF8_STRING,
        COMPOUND_TEXT,
        AT_SPI_BUS,
        _GTK_FRAME_EXTENTS,
    }
}

/// What a server can do, as it said.
#[derive(Debug, Clone, Copy)]
pub(super) struct Abilities {
    /// It writes pictures into memory that it is given.
    pub shared_memory: bool,
    /// It gives the picture of a window that is covered.
    pub composite: bool,
    /// It tells monitors.
    pub monitors: bool,
    /// It shows the processes of its clients.
    pub processes: bool,
    /// It shows the windows of X11 programs in a Wayland session, and nothing of its own.
    pub part_of_wayland: bool,
}

/// One connection.
#[derive(Debug)]
pub(super) struct Server {
    /// What says on the screen that pointer and keyboard are used; it is forgotten before the connection is closed.
    pub banner: Option<Banner>,
    /// Where that is known.
    pub banners: Banners,
    /// The display's id.
    pub id: String,
    /// The connection.
    pub connection: RustConnection<TimedStream>,
    /// Names.
    pub atoms: Atoms,
    /// What the server can do.
    pub abilities: Abilities,
    /// Where each screen and its monitors lay, when last asked.
    pub screens: Vec<ScreenShape>,
    pool: Arc<Pool>,
    /// For how long no other client may do anything.
    alone_for: Duration,
    /// Which questions it took to read each screen, by its root.
    foreseen: RefCell<BTreeMap<WindowNumber, ScreenQueries>>,
    /// What it has done to pointer and keyboard.
    pub input: InputState,
    /// A window that is never shown, about which the window manager was asked and has not answered yet.
    pub asked_about: Option<WindowNumber>,
}

/// A screen of a server, and the monitors on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ScreenShape {
    /// How large it is.
    pub bounds: Rect,
    /// Its monitors.
    pub monitors: Vec<Monitor>,
}

/// A monitor of a screen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Monitor {
    /// The number of its name.
    pub atom: Atom,
    /// Its name.
    pub name: String,
    /// Whether a person has called it the first.
    pub primary: bool,
    /// Where it is on its screen.
    pub place: Rect,
}

impl Server {
    /// Connects, and asks what the server can do.
    pub(super) fn open(address: &Address, sources: &Sources) -> Result<Self, ServerError> {
        let deadline = Instant::now() + PATIENCE;
        let told = |error: ConnectError| refusal(error, address);
        let stream = TimedStream::connect(&address.place, deadline)
            .map_err(|error| told(ConnectError::IoError(error)))?;
        let cookie = authority::cookie(sources.authority.as_deref(), address);
        let (method, data) = cookie.map(|cookie| (cookie.method, cookie.data)).unwrap_or_default();
        let connection =
            RustConnection::connect_to_stream_with_auth_info(stream, 0, method, data).map_err(told)?;
        let local = matches!(address.place, ServerAddress::Socket(_));
        let (atoms, abilities) = introduce(&connection, local)?;
        let mut server = Self {
            banner: None,
            banners: Banners::default(),
            id: address.id.clone(),
            connection,
            atoms,
            abilities,
            screens: Vec::new(),
            pool: Arc::default(),
            alone_for: Duration::ZERO,
            foreseen: RefCell::default(),
            input: InputState::default(),
            asked_about: None,
        };
        server.screens = server.read_shapes()?;
        server.abilities.part_of_wayland |= server
            .screens
            .iter()
            .flat_map(|screen| &screen.monitors)
            .any(|monitor| monitor.name.starts_with("XWAYLAND"));
        Ok(server)
    }

    /// Creates a window that is never shown, whose properties are heard of.
    pub(super) fn create_hidden_window(&self) -> Result<WindowNumber, ServerError> {
        let root = self.roots().first().map_or(x11rb::NONE, |root| root.root);
        let window = self.connection.generate_id()?;
        let events = CreateWindowAux::new().event_mask(EventMask::PROPERTY_CHANGE);
        let class = WindowClass::INPUT_ONLY;
        self.connection.create_window(0, window, root, 0, 0, 1, 1, 0, class, 0, &events)?.check()?;
        Ok(window)
    }

    /// Begins a question, which the server has until then to answer; while it is asked, no other client of the server
    /// waits for longer than `alone_for`.
    pub(super) fn begin(&mut self, until: Instant, alone_for: Duration) {
        self.connection.stream().set_deadline(until);
        self.alone_for = alone_for;
    }

    /// Waits for the next event, until the time of the question is over: also where others keep coming.
    pub(super) fn next_event(&self) -> Result<Event, ServerError> {
        if self.connection.stream().remaining().is_zero() {
            return Err(ScreenError::Timeout(self.id.clone()).into());
        }
        Ok(self.connection.wait_for_event()?)
    }

    /// Returns the server's screens as the connection began with them.
    pub(super) fn roots(&self) -> &[Screen] {
        &self.connection.setup().roots
    }

    /// Returns the id of a screen: the display's own for the first.
    pub(super) fn screen_id(&self, screen: usize) -> String {
        if screen == 0 { self.id.clone() } else { format!("{}.{screen}", self.id) }
    }

    /// Returns when something is to be taken back that it has done to the display, if there is any.
    pub(super) fn due_in(&self) -> Option<Duration> {
        let is_held = !self.input.pressed.is_empty();
        let banner = self.banner.as_ref().map(|banner| banner.due_in(is_held));
        [self.input.due_in(), banner].into_iter().flatten().min()
    }

    /// Returns the questions that it took to read a screen the last time.
    pub(super) fn foreseen(&self, root: WindowNumber) -> ScreenQueries {
        self.foreseen.borrow().get(&root).cloned().unwrap_or_default()
    }

    /// Remembers the questions that it took to read a screen.
    pub(super) fn foresee(&self, root: WindowNumber, questions: ScreenQueries) {
        self.foreseen.borrow_mut().insert(root, questions);
    }

    /// Asks how large the screens are, and where their monitors lie.
    pub(super) fn read_shapes(&self) -> Result<Vec<ScreenShape>, ServerError> {
        self.roots().iter().map(|root| self.ask_shape(root.root)?.read(self)).collect()
    }

    /// Asks for the shape of one screen, without waiting for it.
    pub(super) fn ask_shape(&self, root: WindowNumber) -> Result<ShapeCookie<'_>, ServerError> {
        let geometry = self.connection.get_geometry(root)?;
        let monitors = match self.abilities.monitors {
            true => Some(self.connection.randr_get_monitors(root, true)?),
            false => None,
        };
        Ok(ShapeCookie { geometry, monitors })
    }

    /// Gets memory for a picture; none where the server takes none.
    pub(super) fn lease(&mut self, bytes: u64) -> Result<Option<Lease>, ServerError> {
        if !self.abilities.shared_memory {
            return Ok(None);
        }
        let (segment, surplus) = self.pool.take(bytes);
        for segment in surplus {
            self.connection.shm_detach(segment.number)?;
        }
        let segment = match segment {
            Some(segment) => Some(segment),
            None => self.share_new(bytes)?,
        };
        Ok(segment.map(|segment| Lease::new(segment, Arc::clone(&self.pool))))
    }

    /// A server that refuses is not asked again.
    fn share_new(&mut self, bytes: u64) -> Result<Option<Segment>, ServerError> {
        let number = self.connection.generate_id()?;
        let Ok((segment, handle)) = Segment::new(number, bytes) else {
            self.abilities.shared_memory = false;
            return Ok(None);
        };
        match self.connection.shm_attach_fd(number, handle, false)?.check().map_err(ServerError::from) {
            Ok(()) => Ok(Some(segment)),
            Err(ServerError::Refused(_)) => {
                self.abilities.shared_memory = false;
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// Does something while no other client of the server can do anything: nothing moves, opens, or is drawn.
    ///
    /// It takes one or two milliseconds. Whatever comes of it, the others continue: by a request, or because the
    /// connection is given up, as it is where it takes longer than the others are to wait.
    pub(super) fn alone<T>(
        &mut self,
        act: impl FnOnce(&mut Self) -> Result<T, ServerError>,
    ) -> Result<T, ServerError> {
        self.connection.grab_server()?;
        // Answered once no other client has the server to itself any more.
        self.connection.get_input_focus()?.reply()?;
        let until = self.connection.stream().deadline();
        let alone_until = Instant::now() + self.alone_for;
        self.connection.stream().set_deadline(until.min(alone_until));
        let result = act(self);
        self.connection.stream().set_deadline(until);
        match result {
            Err(error) if error.is_timeout() && alone_until < until => Err(ServerError::TooLongAlone),
            Err(error) if error.is_fatal() => Err(error),
            result => {
                self.connection.ungrab_server()?;
                self.connection.flush()?;
                result
            }
        }
    }
}

/// An answer on its way.
pub(super) struct ShapeCookie<'a> {
    geometry:
        x11rb::cookie::Cookie<'a, RustConnection<TimedStream>, x11rb::protocol::xproto::GetGeometryReply>,
    monitors: Option<x11rb::cookie::Cookie<'a, RustConnection<TimedStream>, randr::GetMonitorsReply>>,
}

impl ShapeCookie<'_> {
    /// Waits for it. Names that are known are not asked for again: the number of a name never means another.
    pub(super) fn read(self, server: &Server) -> Result<ScreenShape, ServerError> {
        let geometry = self.geometry.reply()?;
        let bounds = Rect::new(0, 0, geometry.width.into(), geometry.height.into());
        let infos = match self.monitors {
            Some(cookie) => cookie.reply()?.monitors,
            None => Vec::new(),
        };
        let mut monitors = Vec::new();
        for info in infos {
            let place = Rect::new(info.x.into(), info.y.into(), info.width.into(), info.height.into());
            // A monitor may be said to reach beyond its screen for a moment, while screens are arranged.
            let Some(place) = place.intersection(&bounds) else { continue };
            let mut known = server.screens.iter().flat_map(|screen| &screen.monitors);
            let name = match known.find(|monitor| monitor.atom == info.name) {
                Some(monitor) => monitor.name.clone(),
                None => plain(&server.connection.get_atom_name(info.name)?.reply()?.name),
            };
            monitors.push(Monitor { atom: info.name, name, primary: info.primary, place });
        }
        Ok(ScreenShape { bounds, monitors })
    }
}

/// Asks for names and versions, all at once.
fn introduce(
    connection: &RustConnection<TimedStream>,
    local: bool,
) -> Result<(Atoms, Abilities), ServerError> {
    let names = [
        shm::X11_EXTENSION_NAME,
        composite::X11_EXTENSION_NAME,
        randr::X11_EXTENSION_NAME,
        res::X11_EXTENSION_NAME,
        WAYLAND_EXTENSION_NAME,
    ];
    for name in names {
        connection.prefetch_extension_information(name)?;
    }
    let atoms = Atoms::new(connection)?;
    let has = |name| -> Result<bool, ServerError> { Ok(connection.extension_information(name)?.is_some()) };
    let [shm, composite, randr, res, wayland] =
        [has(names[0])?, has(names[1])?, has(names[2])?, has(names[3])?, has(names[4])?];
    let shm = if shm { Some(connection.shm_query_version()?) } else { None };
    let composite = if composite { Some(connection.composite_query_version(0, 4)?) } else { None };
    let randr = if randr { Some(connection.randr_query_version(1, 5)?) } else { None };
    let res = if res { Some(connection.res_query_version(1, 2)?) } else { None };
    let mut abilities = Abilities {
        shared_memory: false,
        composite: false,
        monitors: false,
        processes: false,
        part_of_wayland: wayland,
    };
    if let Some(version) = shm {
        let version = version.reply()?;
        // Handles are passed since 1.2, and only through a socket of this computer.
        abilities.shared_memory = local && (version.major_version, version.minor_version) >= (1, 2);
    }
    if let Some(version) = composite {
        let version = version.reply()?;
        abilities.composite = (version.major_version, version.minor_version) >= (0, 2);
    }
    if let Some(version) = randr {
        let version = version.reply()?;
        abilities.monitors = (version.major_version, version.minor_version) >= (1, 5);
    }
    if let Some(version) = res {
        let version = version.reply()?;
        abilities.processes = (version.server_major, version.server_minor) >= (1, 2);
    }
    Ok((atoms.reply()?, abilities))
}

/// The extension by which an Xwayland says that it is one.
const WAYLAND_EXTENSION_NAME: &str = "XWAYLAND";

/// Returns what a refusal at the beginning means.
fn refusal(error: ConnectError, address: &Address) -> ServerError {
    let display = address.id.clone();
    let denied = |why: String| {
        let setting = format!(
            "let the service find the cookie of {display}: in a terminal of that session, see `echo $XAUTHORITY`, and \
             start the service with XAUTHORITY set to that file; or let this user in with `xhost +si:localuser:NAME`"
        );
        ServerError::Clear(ScreenError::NoAccess(Access::Denied { why, setting }))
    };
    match error {
        ConnectError::SetupFailed(refused) => denied(format!("{display}: {}", plain(&refused.reason))),
        ConnectError::SetupAuthenticate(refused) => denied(format!("{display}: {}", plain(&refused.reason))),
        ConnectError::IoError(error) => match error.kind() {
            io::ErrorKind::PermissionDenied => denied(error.to_string()),
            io::ErrorKind::TimedOut => ServerError::Clear(ScreenError::Timeout(display)),
            io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused => {
                let why = format!("no server answers for {display}");
                ServerError::Clear(ScreenError::NoAccess(Access::NoDisplay { why }))
            }
            _ => ServerError::Clear(ScreenError::Lost(display)),
        },
        _ => ServerError::Clear(ScreenError::Lost(display)),
    }
}

/// What a stranger's server said, fit to be shown.
fn plain(reason: &[u8]) -> String {
    super::text::decode(reason, super::text::Encoding::Utf8)
}
