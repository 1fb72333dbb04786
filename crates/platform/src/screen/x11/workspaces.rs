//! The workspaces of a display, by asking the window manager (EWMH).

use x11rb::protocol::xproto::{
    Atom, AtomEnum, ClientMessageEvent, ConnectionExt as _, EventMask, GetPropertyReply,
    Window as WindowNumber,
};

use super::change::{failed, require_manager, supported};
use super::error::ServerError;
use super::server::Server;
use super::text::{self, Encoding};
use super::window_facts::numbers;
use crate::screen::Workspaces;

/// The longest list of names that is read, in units of four bytes.
const MAX_NAMES: u32 = 4096;
/// More workspaces than these are not listed.
const MOST: usize = 100;

/// Reads the workspaces of a screen.
pub(super) fn read(server: &Server, screen: usize, display: &str) -> Result<Workspaces, ServerError> {
    let root = server.roots()[screen].root;
    require_manager(server, root)?;
    let atoms = &server.atoms;
    let number = |name: Atom| -> Result<Option<u32>, ServerError> {
        Ok(numbers(&property(server, root, name, 1)?).first().copied())
    };
    let count = number(atoms._NET_NUMBER_OF_DESKTOPS)?.unwrap_or_default();
    let current = number(atoms._NET_CURRENT_DESKTOP)?;
    let (Some(current), 1..) = (current, count) else {
        return Err(failed(server, "its window manager has no workspaces".to_owned()));
    };
    let names = property(server, root, atoms._NET_DESKTOP_NAMES, MAX_NAMES)?.value;
    let names = names.split(|byte| *byte == 0).map(|name| text::decode(name, Encoding::Utf8));
    let count = usize::try_from(count).unwrap_or(MOST).min(MOST);
    let names = names.chain(std::iter::repeat(String::new())).take(count).collect();
    Ok(Workspaces { display: display.to_owned(), names, current })
}

/// Asks the window manager to show a workspace.
pub(super) fn switch(server: &Server, screen: usize, number: u32) -> Result<(), ServerError> {
    let root = server.roots()[screen].root;
    require_manager(server, root)?;
    let kind = server.atoms._NET_CURRENT_DESKTOP;
    if !supported(server, root)?.contains(&kind) {
        return Err(failed(server, "its window manager does not support it".to_owned()));
    }
    let message = ClientMessageEvent::new(32, root, kind, [number, x11rb::CURRENT_TIME, 0, 0, 0]);
    let to = EventMask::SUBSTRUCTURE_REDIRECT | EventMask::SUBSTRUCTURE_NOTIFY;
    server.connection.send_event(false, root, to, message)?.check()?;
    Ok(())
}

fn property(
    server: &Server,
    root: WindowNumber,
    name: Atom,
    most: u32,
) -> Result<GetPropertyReply, ServerError> {
    Ok(server.connection.get_property(false, root, name, AtomEnum::ANY, 0, most)?.reply()?)
}
