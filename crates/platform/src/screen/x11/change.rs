//! Changes of windows, by asking the window manager (EWMH).

use x11rb::connection::Connection as _;
use x11rb::protocol::xproto::{
    Atom, AtomEnum, ClientMessageEvent, ConnectionExt as _, CreateWindowAux, EventMask,
    Window as WindowNumber, WindowClass,
};

use super::error::ServerError;
use super::scene;
use super::server::Server;
use super::window_facts::{gone, numbers};
use crate::screen::{Judge, Rect, ScreenError, Window, WindowChange, WindowState};

/// A request of a tool that acts for the user, as opposed to one of the window's own program.
const SOURCE_PAGER: u32 = 2;
/// `StaticGravity`, with all four values given, in the first word of `_NET_MOVERESIZE_WINDOW`.
const PLACE_ALL: u32 = 10 | 0b1111 << 8 | SOURCE_PAGER << 12;
/// `IconicState`.
const ICONIC: u32 = 3;
/// `_NET_WM_STATE`: remove, add.
const REMOVE: u32 = 0;
const ADD: u32 = 1;
/// The longest list of what a window manager supports that is read, in units of four bytes.
const MAX_SUPPORTED: u32 = 4096;

/// Asks the window manager for a change of a window if the judge allows it; without `act` it stops before that. Returns the
/// window as it was at that instant.
pub(super) fn change(
    server: &mut Server,
    screen: usize,
    id: &str,
    number: WindowNumber,
    change: WindowChange,
    judge: &Judge,
    act: bool,
) -> Result<Window, ServerError> {
    let root = server.roots()[screen].root;
    require_manager(server, root)?;
    server.alone(|server| {
        let scene = scene::read(server, screen, scene::ask(server, root)?)?;
        let at = scene.windows.iter().position(|placed| placed.number == number);
        let windows: Vec<Window> = scene.windows.into_iter().map(|placed| placed.window).collect();
        let window = at.map(|at| windows[at].clone());
        let window = window.ok_or_else(|| ScreenError::UnknownWindow(id.to_owned()))?;
        if !judge(&windows) {
            return Err(ScreenError::Refused(id.to_owned()).into());
        }
        if window.unmanaged {
            let why = "it is a menu or another window that the window manager does not manage".to_owned();
            return Err(failed(server, why));
        }
        let message = message(server, root, number, change, &window)?;
        if let Some(message) = message.filter(|_| act) {
            let to = EventMask::SUBSTRUCTURE_REDIRECT | EventMask::SUBSTRUCTURE_NOTIFY;
            server.connection.send_event(false, root, to, message)?;
        }
        Ok(window)
    })
}

/// Returns what is sent to the window manager; nothing where there is nothing to do.
fn message(
    server: &Server,
    root: WindowNumber,
    number: WindowNumber,
    change: WindowChange,
    window: &Window,
) -> Result<Option<ClientMessageEvent>, ServerError> {
    let atoms = &server.atoms;
    let (vertical, horizontal) = (atoms._NET_WM_STATE_MAXIMIZED_VERT, atoms._NET_WM_STATE_MAXIMIZED_HORZ);
    let activate = (atoms._NET_ACTIVE_WINDOW, [SOURCE_PAGER, 0, 0, 0, 0]);
    let maximised = |how: u32| (atoms._NET_WM_STATE, [how, vertical, horizontal, SOURCE_PAGER, 0]);
    let (kind, words): (Atom, [u32; 5]) = match change {
        WindowChange::Focus => activate,
        WindowChange::Minimise => (atoms.WM_CHANGE_STATE, [ICONIC, 0, 0, 0, 0]),
        WindowChange::Maximise => maximised(ADD),
        WindowChange::Restore if window.state == WindowState::Minimised => activate,
        WindowChange::Restore if window.maximised => maximised(REMOVE),
        WindowChange::Restore => return Ok(None),
        WindowChange::Close => (atoms._NET_CLOSE_WINDOW, [0, SOURCE_PAGER, 0, 0, 0]),
        WindowChange::Workspace(number) => (atoms._NET_WM_DESKTOP, [number, SOURCE_PAGER, 0, 0, 0]),
        WindowChange::Place { .. } => {
            let place = change.place_of(window).unwrap_or(window.bounds);
            let geometry = server.connection.get_geometry(root)?.reply()?;
            let bounds = Rect::new(0, 0, geometry.width.into(), geometry.height.into());
            if !bounds.contains(&place) {
                return Err(ScreenError::Outside { region: place, bounds }.into());
            }
            // They are within the screen, whose size has sixteen bits.
            let [x, y] = [place.x, place.y].map(i32::cast_unsigned);
            (atoms._NET_MOVERESIZE_WINDOW, [PLACE_ALL, x, y, place.width, place.height])
        }
    };
    // What every window manager knows is not on its list.
    if kind != atoms.WM_CHANGE_STATE && !supported(server, root)?.contains(&kind) {
        return Err(failed(server, "its window manager does not support it".to_owned()));
    }
    Ok(Some(ClientMessageEvent::new(32, number, kind, words)))
}

pub(super) fn supported(server: &Server, root: WindowNumber) -> Result<Vec<u32>, ServerError> {
    let name = server.atoms._NET_SUPPORTED;
    let asked = server.connection.get_property(false, root, name, AtomEnum::ATOM, 0, MAX_SUPPORTED)?;
    Ok(numbers(&asked.reply()?))
}

/// A window manager that runs has a window that says so of itself; one that has ended leaves the word on the root alone.
pub(super) fn has_manager(server: &Server, root: WindowNumber) -> Result<bool, ServerError> {
    let read = |window: WindowNumber| -> Result<Option<u32>, ServerError> {
        let name = server.atoms._NET_SUPPORTING_WM_CHECK;
        let asked = server.connection.get_property(false, window, name, AtomEnum::WINDOW, 0, 1)?;
        let answer = gone(asked.reply().map_err(ServerError::from))?;
        Ok(answer.and_then(|answer| numbers(&answer).first().copied()))
    };
    match read(root)? {
        Some(window) => Ok(read(window)? == Some(window)),
        None => Ok(false),
    }
}

/// Returns whether the window manager handles what it is sent; if it has not shown that yet, asks for a sign of it.
///
/// A window manager that starts may read requests and handle them only when something else comes in, as openbox does:
/// a window stays hidden then. So it is asked again and again.
pub(super) fn manager_answers(server: &mut Server) -> Result<bool, ServerError> {
    let Some((root, visual)) = server.roots().first().map(|root| (root.root, root.root_visual)) else {
        return Ok(false);
    };
    let window = match server.asked_about {
        Some(window) => window,
        None => {
            let (window, class) = (server.connection.generate_id()?, WindowClass::INPUT_OUTPUT);
            let facts = CreateWindowAux::new();
            server
                .connection
                .create_window(0, window, root, 0, 0, 1, 1, 0, class, visual, &facts)?
                .check()?;
            server.asked_about = Some(window);
            window
        }
    };
    let (extents, question) = (server.atoms._NET_FRAME_EXTENTS, server.atoms._NET_REQUEST_FRAME_EXTENTS);
    let answer = server.connection.get_property(false, window, extents, AtomEnum::CARDINAL, 0, 4)?.reply()?;
    if answer.value_len > 0 {
        server.asked_about = None;
        server.connection.destroy_window(window)?.check()?;
        return Ok(true);
    }
    let to = EventMask::SUBSTRUCTURE_REDIRECT | EventMask::SUBSTRUCTURE_NOTIFY;
    let message = ClientMessageEvent::new(32, window, question, [0; 5]);
    server.connection.send_event(false, root, to, message)?.check()?;
    Ok(false)
}

pub(super) fn require_manager(server: &Server, root: WindowNumber) -> Result<(), ServerError> {
    match has_manager(server, root)? {
        true => Ok(()),
        false => Err(ScreenError::NoWindowManager(server.id.clone()).into()),
    }
}

pub(super) fn failed(server: &Server, why: String) -> ServerError {
    ScreenError::Failed { display: server.id.clone(), step: "the change of the window", why }.into()
}
