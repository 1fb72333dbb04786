//! What the server and a window's program tell of one window: questions that are sent, answers that are read later.

use x11rb::cookie::Cookie;
use x11rb::protocol::xproto::{
    Atom, AtomEnum, ConnectionExt as _, GetGeometryReply, GetPropertyReply, GetWindowAttributesReply,
    MapState, TranslateCoordinatesReply, Window as WindowNumber, WindowClass,
};
use x11rb::rust_connection::RustConnection;

use super::error::ServerError;
use super::server::Server;
use super::stream::TimedStream;
use super::text::{self, Encoding};
use crate::screen::Rect;

/// An answer on its way.
pub(super) type Answer<'a, T> = Cookie<'a, RustConnection<TimedStream>, T>;

/// The longest property that is read, in units of four bytes.
const MAX_PROPERTY: u32 = 1024;

/// `_NET_WM_DESKTOP` of a window that is on all of them.
const ALL_WORKSPACES: u32 = u32::MAX;

/// `IconicState` of `WM_STATE`.
const ICONIC: u32 = 3;

/// Questions about one window, on their way.
pub(super) struct Requests<'a> {
    attributes: Answer<'a, GetWindowAttributesReply>,
    geometry: Answer<'a, GetGeometryReply>,
    origin: Answer<'a, TranslateCoordinatesReply>,
    name: Answer<'a, GetPropertyReply>,
    old_name: Answer<'a, GetPropertyReply>,
    class: Answer<'a, GetPropertyReply>,
    opened_for: Answer<'a, GetPropertyReply>,
    state: Answer<'a, GetPropertyReply>,
    old_state: Answer<'a, GetPropertyReply>,
    workspace: Answer<'a, GetPropertyReply>,
    pid: Answer<'a, GetPropertyReply>,
    shadow: Answer<'a, GetPropertyReply>,
}

/// What is told of one window.
#[derive(Debug, Clone)]
pub(super) struct WindowFacts {
    /// Its place within its parent, border included; on the screen, if that is the root.
    pub outer: Rect,
    /// How wide its border is.
    pub border: u32,
    /// Its inside, on the screen.
    pub inside: Rect,
    /// Whether it takes input only, and has no pixels.
    pub input_only: bool,
    /// Whether it wants no window manager.
    pub override_redirect: bool,
    /// Whether it is on the screen.
    pub viewable: bool,
    /// Its title; empty if none.
    pub title: String,
    /// The class of its program; empty if none.
    pub app: String,
    /// What its program calls this kind of its windows; empty if it says nothing.
    pub instance: String,
    /// The window that it was opened for.
    pub opened_for: Option<WindowNumber>,
    /// Whether a window manager says that it is minimised.
    pub minimised: bool,
    /// Whether a window manager says that it is maximised.
    pub maximised: bool,
    /// The workspace that a window manager says it is on; none if it is on all.
    pub workspace: Option<u32>,
    /// Whether it is said to be an icon, which means minimised or on another desktop.
    pub iconic: bool,
    /// Whether a window manager has taken care of it.
    pub managed: bool,
    /// The process that it claims to be of.
    pub pid: Option<u32>,
    /// Its inside, on the screen, without the shadow that its program draws around it.
    pub in_shadow: Rect,
}

impl WindowFacts {
    /// Returns whether it says nothing of a program: it may be a frame around a window that does.
    pub(super) fn is_bare(&self) -> bool {
        self.title.is_empty() && self.app.is_empty() && !self.managed
    }
}

/// Asks about a window, without waiting.
pub(super) fn ask(
    server: &Server,
    root: WindowNumber,
    number: WindowNumber,
) -> Result<Requests<'_>, ServerError> {
    let (connection, atoms) = (&server.connection, &server.atoms);
    let property = |name: Atom| connection.get_property(false, number, name, AtomEnum::ANY, 0, MAX_PROPERTY);
    Ok(Requests {
        attributes: connection.get_window_attributes(number)?,
        geometry: connection.get_geometry(number)?,
        origin: connection.translate_coordinates(number, root, 0, 0)?,
        name: property(atoms._NET_WM_NAME)?,
        old_name: property(AtomEnum::WM_NAME.into())?,
        class: property(AtomEnum::WM_CLASS.into())?,
        opened_for: property(AtomEnum::WM_TRANSIENT_FOR.into())?,
        state: property(atoms._NET_WM_STATE)?,
        old_state: property(atoms.WM_STATE)?,
        workspace: property(atoms._NET_WM_DESKTOP)?,
        pid: property(atoms._NET_WM_PID)?,
        shadow: property(atoms._GTK_FRAME_EXTENTS)?,
    })
}

impl Requests<'_> {
    /// Waits for the answers; nothing, if the window is gone.
    pub(super) fn read(self, server: &Server) -> Result<Option<WindowFacts>, ServerError> {
        gone(self.read_all(server))
    }

    fn read_all(self, server: &Server) -> Result<WindowFacts, ServerError> {
        let (attributes, geometry) = (self.attributes.reply()?, self.geometry.reply()?);
        let origin = self.origin.reply()?;
        let (name, old_name) = (self.name.reply()?, self.old_name.reply()?);
        let (state, old_state) = (self.state.reply()?, self.old_state.reply()?);
        let (class, pid) = (self.class.reply()?, self.pid.reply()?);
        let (opened_for, workspace) = (self.opened_for.reply()?, self.workspace.reply()?);
        let shadow = numbers(&self.shadow.reply()?);
        let maximised =
            [server.atoms._NET_WM_STATE_MAXIMIZED_VERT, server.atoms._NET_WM_STATE_MAXIMIZED_HORZ];
        let (border, width, height) =
            (geometry.border_width.into(), geometry.width.into(), geometry.height.into());
        let (x, y) = (geometry.x.into(), geometry.y.into());
        let inside = Rect::new(origin.dst_x.into(), origin.dst_y.into(), width, height);
        Ok(WindowFacts {
            outer: Rect::new(x, y, width + 2 * border, height + 2 * border),
            border,
            inside,
            in_shadow: without(inside, &shadow),
            input_only: attributes.class == WindowClass::INPUT_ONLY,
            override_redirect: attributes.override_redirect,
            viewable: attributes.map_state == MapState::VIEWABLE,
            title: title(server, if name.value.is_empty() { &old_name } else { &name }),
            app: text::class(&class.value),
            instance: text::instance(&class.value),
            opened_for: numbers(&opened_for).first().copied().filter(|number| *number != x11rb::NONE),
            maximised: maximised.iter().all(|atom| numbers(&state).contains(atom)),
            workspace: numbers(&workspace).first().copied().filter(|number| *number != ALL_WORKSPACES),
            minimised: numbers(&state).contains(&server.atoms._NET_WM_STATE_HIDDEN),
            iconic: numbers(&old_state).first() == Some(&ICONIC),
            managed: !old_state.value.is_empty(),
            pid: numbers(&pid).first().copied().filter(|pid| *pid > 0),
        })
    }
}

/// Returns a place without what is around it: so much on the left, the right, above and below.
fn without(place: Rect, around: &[u32]) -> Rect {
    let [left, right, above, below] = *around else { return place };
    let inner = |length: u32, one: u32, other: u32| length.checked_sub(one.checked_add(other)?);
    let size = inner(place.width, left, right).zip(inner(place.height, above, below));
    let offset = i32::try_from(left).ok().zip(i32::try_from(above).ok());
    match (size, offset) {
        (Some((width, height)), Some((x, y))) => Rect::new(place.x + x, place.y + y, width, height),
        _ => place,
    }
}

/// Makes nothing of an answer about a window that is gone.
pub(super) fn gone<T>(answer: Result<T, ServerError>) -> Result<Option<T>, ServerError> {
    match answer {
        Ok(answer) => Ok(Some(answer)),
        Err(ServerError::Refused(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Reads a property of numbers; none if it is of another kind.
pub(super) fn numbers(property: &GetPropertyReply) -> Vec<u32> {
    property.value32().into_iter().flatten().collect()
}

fn title(server: &Server, property: &GetPropertyReply) -> String {
    let encoding = match property.type_ {
        kind if kind == Atom::from(AtomEnum::STRING) => Encoding::Latin1,
        kind if kind == server.atoms.COMPOUND_TEXT => Encoding::Compound,
        _ => Encoding::Utf8,
    };
    text::decode(&property.value, encoding)
}
