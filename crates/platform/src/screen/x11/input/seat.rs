//! Who uses pointer and keyboard: the user, another program that has them to itself, or nobody.

use x11rb::protocol::sync::{ConnectionExt as _, Int64};
use x11rb::protocol::xproto::{ConnectionExt as _, GrabMode, GrabStatus, KeyButMask, Window as WindowNumber};

use super::super::error::ServerError;
use super::super::server::Server;
use crate::screen::{Point, ScreenError};

/// How often the clocks are read again until they agree.
const READINGS: usize = 6;
/// The bits of the state of buttons and modifiers in which nothing is held: Caps Lock, Num Lock and the layout.
const LOCKS: u16 = 0b0110_0000_0001_0010;
/// Where the layout is in it.
const GROUP_SHIFT: u16 = 13;

/// What is known of pointer and keyboard.
#[derive(Debug, Clone, Copy)]
pub(super) struct Seat {
    pub pointer: Point,
    pub is_held: bool,
    pub is_caps_lock: bool,
    /// The number of the layout that is in use.
    pub group: u8,
    pub idle_ms: Option<u64>,
    pub is_pointer_grabbed: bool,
    pub is_keyboard_grabbed: bool,
}

/// Reads it. Only a window that is not shown is used to find out who has pointer and keyboard: the server says first that another
/// has them, and gives them to nobody for such a window.
pub(super) fn read(server: &Server, root: WindowNumber, hidden: WindowNumber) -> Result<Seat, ServerError> {
    let connection = &server.connection;
    let mode = GrabMode::ASYNC;
    let keyboard = connection.grab_keyboard(false, hidden, x11rb::CURRENT_TIME, mode, mode)?;
    let events = x11rb::protocol::xproto::EventMask::NO_EVENT;
    let pointer = connection.grab_pointer(
        false,
        hidden,
        events,
        mode,
        mode,
        x11rb::NONE,
        x11rb::NONE,
        x11rb::CURRENT_TIME,
    )?;
    let at = connection.query_pointer(root)?;
    let (keyboard, pointer, at) = (keyboard.reply()?.status, pointer.reply()?.status, at.reply()?);
    let is_taken = |status: GrabStatus| matches!(status, GrabStatus::ALREADY_GRABBED | GrabStatus::FROZEN);
    let state = u16::from(at.mask);
    Ok(Seat {
        pointer: Point { x: at.root_x.into(), y: at.root_y.into() },
        // What this holds itself is in the state too.
        is_held: server.input.pressed.is_empty() && state & !LOCKS != 0,
        is_caps_lock: at.mask.contains(KeyButMask::LOCK),
        group: u8::try_from(state >> GROUP_SHIFT & 0b11).unwrap_or(0),
        idle_ms: idle(server)?,
        // A button that is down gives the pointer to the window in which it was pressed.
        is_pointer_grabbed: is_taken(pointer) && !server.input.holds_button(),
        is_keyboard_grabbed: is_taken(keyboard),
    })
}

/// Returns for how long nobody but this has used pointer and keyboard; `None` if nobody has since.
fn idle(server: &Server) -> Result<Option<u64>, ServerError> {
    let used = read_clocks(server)?;
    Ok(match server.input.last_ms {
        Some(own) if used.last_from <= own => None,
        _ => Some(u64::try_from(used.idle).unwrap_or(0)),
    })
}

/// Notes that this was the last to use pointer and keyboard.
pub(super) fn note_own(server: &mut Server) -> Result<(), ServerError> {
    server.input.last_ms = Some(read_clocks(server)?.last_to);
    Ok(())
}

/// When pointer and keyboard were used last, by the server's clock in milliseconds: from and to.
struct LastUse {
    last_from: i64,
    last_to: i64,
    idle: i64,
}

fn read_clocks(server: &Server) -> Result<LastUse, ServerError> {
    let missing = || -> ServerError {
        ScreenError::Failed {
            display: server.id.clone(),
            step: "the look at who uses it",
            why: "it has no clocks for that".to_owned(),
        }
        .into()
    };
    let (time, idle) = server.input.counters.ok_or_else(missing)?;
    let connection = &server.connection;
    let mut used = None;
    for _ in 0..READINGS {
        let before = connection.sync_query_counter(time)?;
        let unused = connection.sync_query_counter(idle)?;
        let after = connection.sync_query_counter(time)?;
        let value = |it: Int64| i64::from(it.hi) << 32 | i64::from(it.lo);
        let before = value(before.reply()?.counter_value);
        let unused = value(unused.reply()?.counter_value);
        let after = value(after.reply()?.counter_value);
        used = Some(LastUse { last_from: before - unused, last_to: after - unused, idle: unused });
        if before == after {
            break;
        }
    }
    used.ok_or_else(missing)
}

/// Finds the server's clocks.
pub(super) fn find_counters(server: &mut Server) -> Result<(), ServerError> {
    if server.input.counters.is_some() {
        return Ok(());
    }
    server.connection.sync_initialize(3, 1)?.reply()?;
    let all = server.connection.sync_list_system_counters()?.reply()?.counters;
    let find = |name: &[u8]| all.iter().find(|it| it.name == name).map(|it| it.counter);
    server.input.counters = find(b"SERVERTIME").zip(find(b"IDLETIME"));
    Ok(())
}
