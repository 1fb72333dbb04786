//! What would get input: the window at a point as the server itself finds it, and what has the keyboard.

use std::collections::BTreeSet;

use x11rb::protocol::res::{ClientIdMask, ClientIdSpec, ConnectionExt as _};
use x11rb::protocol::xproto::{AtomEnum, ConnectionExt as _, Window as WindowNumber};

use super::super::error::ServerError;
use super::super::scene::{PlacedWindow, owner};
use super::super::server::Server;
use super::super::text;
use super::super::window_facts::gone;
use crate::screen::ancestry::program_name;
use crate::screen::{InnerProcess, Point, Receiver};

/// Windows are in one another at most so deep.
const MAX_DEPTH: usize = 32;
/// The keyboard goes to what is at the pointer (`PointerRoot`).
const AT_POINTER: WindowNumber = 1;

/// Returns what is at a point of a screen.
pub(super) fn at_point(
    server: &Server,
    root: WindowNumber,
    windows: &[PlacedWindow],
    point: Point,
) -> Result<Receiver, ServerError> {
    let (Ok(x), Ok(y)) = (i16::try_from(point.x), i16::try_from(point.y)) else {
        return Ok(Receiver::default());
    };
    let (mut chain, mut within) = (Vec::new(), root);
    for _ in 0..MAX_DEPTH {
        let asked = server.connection.translate_coordinates(root, within, x, y)?;
        let Some(found) = gone(asked.reply().map_err(ServerError::from))? else { break };
        if found.child == x11rb::NONE {
            break;
        }
        chain.push(found.child);
        within = found.child;
    }
    let Some(top) = chain.first() else { return Ok(Receiver { is_desktop: true, ..Receiver::default() }) };
    let in_frame = || windows.iter().enumerate().filter(|(_, placed)| placed.top == *top);
    let by_number = in_frame().find(|(_, placed)| chain.contains(&placed.number));
    // The title bar and the border belong to the window in the frame.
    let window = by_number.or_else(|| in_frame().next_back()).map(|(at, _)| at);
    let inner = inner(server, windows, window, &chain)?;
    Ok(Receiver { window, is_desktop: false, inner })
}

/// Returns what has the keyboard.
pub(super) fn focus(
    server: &Server,
    root: WindowNumber,
    windows: &[PlacedWindow],
    at_pointer: &Receiver,
) -> Result<Receiver, ServerError> {
    let focus = server.connection.get_input_focus()?.reply()?.focus;
    if focus == AT_POINTER {
        return Ok(at_pointer.clone());
    }
    if focus == x11rb::NONE || focus == root {
        return Ok(Receiver { is_desktop: true, ..Receiver::default() });
    }
    let (mut chain, mut at) = (vec![focus], focus);
    for _ in 0..MAX_DEPTH {
        let asked = server.connection.query_tree(at)?;
        let Some(tree) = gone(asked.reply().map_err(ServerError::from))? else { break };
        if tree.parent == root || tree.parent == x11rb::NONE {
            break;
        }
        chain.push(tree.parent);
        at = tree.parent;
    }
    let found = windows.iter().position(|placed| chain.contains(&placed.number));
    let window = found.or_else(|| windows.iter().position(|placed| placed.top == at));
    let mut receiver = Receiver { window, is_desktop: false, inner: inner(server, windows, window, &chain)? };
    // A window within it gets the keys where the pointer is in that.
    if window.is_some() && at_pointer.window == window {
        receiver.inner.extend(at_pointer.inner.iter().cloned());
    }
    Ok(receiver)
}

/// Returns the processes of windows of a chain that belong to another program than the window and its frame.
fn inner(
    server: &Server,
    windows: &[PlacedWindow],
    window: Option<usize>,
    chain: &[WindowNumber],
) -> Result<Vec<InnerProcess>, ServerError> {
    let placed = window.map(|at| &windows[at]);
    let own: BTreeSet<u32> =
        placed.iter().flat_map(|it| [it.number, it.top]).map(|number| owner(server, number)).collect();
    let others: BTreeSet<WindowNumber> =
        chain.iter().copied().filter(|number| !own.contains(&owner(server, *number))).collect();
    let mut found = Vec::new();
    for number in others {
        let asked =
            server.connection.get_property(false, number, AtomEnum::WM_CLASS, AtomEnum::ANY, 0, 64)?;
        let class = gone(asked.reply().map_err(ServerError::from))?.map(|it| it.value).unwrap_or_default();
        let app = text::class(&class);
        let pid = pid_of(server, owner(server, number))?;
        found.push(InnerProcess {
            pid,
            name: pid.and_then(program_name),
            app: (!app.is_empty()).then_some(app),
        });
    }
    Ok(found)
}

/// Returns the process of a client of the server, where the server shows it.
pub(in super::super) fn pid_of(server: &Server, client: u32) -> Result<Option<u32>, ServerError> {
    if !server.abilities.processes {
        return Ok(None);
    }
    let specs = [ClientIdSpec { client, mask: ClientIdMask::LOCAL_CLIENT_PID }];
    let asked = server.connection.res_query_client_ids(&specs)?;
    let ids = gone(asked.reply().map_err(ServerError::from))?.map(|reply| reply.ids).unwrap_or_default();
    Ok(ids.first().and_then(|id| id.value.first().copied()).filter(|pid| *pid > 0))
}
