//! Text that is on the clipboard, and what other programs ask of its owner.

use std::sync::Arc;
use std::time::{Duration, Instant};

use x11rb::connection::Connection as _;
use x11rb::protocol::Event;
use x11rb::protocol::xproto::{
    Atom, AtomEnum, ChangeWindowAttributesAux, ConnectionExt as _, CreateWindowAux, EventMask, PropMode,
    Property, SELECTION_NOTIFY_EVENT, SelectionNotifyEvent, SelectionRequestEvent, Timestamp,
    Window as WindowNumber, WindowClass,
};
use x11rb::wrapper::ConnectionExt as _;

use super::server::Server;
use super::trouble::Trouble;
use crate::screen::ScreenError;

/// More than this is sent in parts.
const WHOLE: usize = 128 * 1024;
const PART: usize = 64 * 1024;
/// So many others may be sent parts at a time, each for so long.
const MAX_TRANSFERS: usize = 16;
const TRANSFER: Duration = Duration::from_secs(30);

/// Text on the clipboard of a display.
#[derive(Debug)]
pub(super) struct Selection {
    text: Arc<str>,
    window: WindowNumber,
    since: Timestamp,
    transfers: Vec<Transfer>,
}

/// Text that goes to a program in parts.
#[derive(Debug)]
struct Transfer {
    to: WindowNumber,
    place: Atom,
    form: Atom,
    sent: usize,
    began: Instant,
}

impl Selection {
    /// Puts text on the clipboard.
    pub(super) fn own(server: &Server, text: Arc<str>) -> Result<Self, Trouble> {
        let connection = &server.connection;
        let root = server.roots().first().map_or(x11rb::NONE, |root| root.root);
        let window = connection.generate_id()?;
        let look = CreateWindowAux::new().event_mask(EventMask::PROPERTY_CHANGE);
        let class = WindowClass::INPUT_ONLY;
        connection.create_window(0, window, root, 0, 0, 1, 1, 0, class, 0, &look)?.check()?;
        // The server's clock is read off a change.
        let (name, kind) = (server.atoms.BAILIWICK_CLIPBOARD, AtomEnum::STRING);
        connection.change_property8(PropMode::APPEND, window, name, kind, b"")?;
        connection.flush()?;
        let since = loop {
            if let Event::PropertyNotify(event) = connection.wait_for_event()?
                && event.window == window
            {
                break event.time;
            }
        };
        connection.set_selection_owner(window, server.atoms.CLIPBOARD, since)?;
        if connection.get_selection_owner(server.atoms.CLIPBOARD)?.reply()?.owner != window {
            return Err(ScreenError::ClipboardChanged(server.id.clone()).into());
        }
        Ok(Self { text, window, since, transfers: Vec::new() })
    }

    /// Returns what it has.
    pub(super) fn text(&self) -> Arc<str> {
        Arc::clone(&self.text)
    }

    /// Takes it off the clipboard.
    pub(super) fn release(self, server: &Server) -> Result<(), Trouble> {
        Ok(server.connection.destroy_window(self.window)?.check()?)
    }

    /// Answers what others ask. Returns whether the clipboard is still ours.
    pub(super) fn serve(&mut self, server: &Server, event: &Event) -> Result<bool, Trouble> {
        self.transfers.retain(|transfer| transfer.began.elapsed() < TRANSFER);
        match event {
            Event::SelectionRequest(request) if request.owner == self.window => {
                let place = match self.answer(server, request) {
                    Ok(place) => place,
                    Err(error) if error.is_fatal() => return Err(error),
                    // Who asked is gone.
                    Err(_) => return Ok(true),
                };
                let notice = SelectionNotifyEvent {
                    response_type: SELECTION_NOTIFY_EVENT,
                    sequence: 0,
                    time: request.time,
                    requestor: request.requestor,
                    selection: request.selection,
                    target: request.target,
                    property: place,
                };
                server.connection.send_event(false, request.requestor, EventMask::NO_EVENT, notice)?;
            }
            Event::SelectionClear(event) if event.owner == self.window => return Ok(false),
            Event::PropertyNotify(event) if event.state == Property::DELETE => {
                let mut transfers = std::mem::take(&mut self.transfers);
                for transfer in &mut transfers {
                    if transfer.to == event.window && transfer.place == event.atom {
                        transfer.send(server, self.text.as_bytes())?;
                    }
                }
                transfers.retain(|transfer| transfer.sent <= self.text.len());
                self.transfers = transfers;
            }
            _ => {}
        }
        server.connection.flush()?;
        Ok(true)
    }

    /// Leaves what is asked for with who asks; returns where, which is nowhere for what there is not.
    fn answer(&mut self, server: &Server, request: &SelectionRequestEvent) -> Result<Atom, Trouble> {
        let (connection, atoms) = (&server.connection, &server.atoms);
        let place = if request.property == x11rb::NONE { request.target } else { request.property };
        let (to, mode) = (request.requestor, PropMode::REPLACE);
        let forms = [atoms.UTF8_STRING, atoms.UTF8_TEXT, atoms.PLAIN_TEXT];
        if request.target == atoms.TARGETS {
            let all = [&[atoms.TARGETS, atoms.TIMESTAMP], &forms[..]].concat();
            connection.change_property32(mode, to, place, AtomEnum::ATOM, &all)?.check()?;
        } else if request.target == atoms.TIMESTAMP {
            connection.change_property32(mode, to, place, AtomEnum::INTEGER, &[self.since])?.check()?;
        } else if !forms.contains(&request.target) {
            return Ok(x11rb::NONE);
        } else if self.text.len() <= WHOLE {
            connection.change_property8(mode, to, place, request.target, self.text.as_bytes())?.check()?;
        } else if self.transfers.len() >= MAX_TRANSFERS {
            return Ok(x11rb::NONE);
        } else {
            let look = ChangeWindowAttributesAux::new().event_mask(EventMask::PROPERTY_CHANGE);
            connection.change_window_attributes(to, &look)?.check()?;
            let bytes = u32::try_from(self.text.len()).unwrap_or(u32::MAX);
            connection.change_property32(mode, to, place, atoms.INCR, &[bytes])?.check()?;
            let (form, began) = (request.target, Instant::now());
            self.transfers.push(Transfer { to, place, form, sent: 0, began });
        }
        Ok(place)
    }
}

impl Transfer {
    /// Sends the next part; an empty one is the end.
    fn send(&mut self, server: &Server, text: &[u8]) -> Result<(), Trouble> {
        let rest = text.get(self.sent..).unwrap_or_default();
        let part = &rest[..rest.len().min(PART)];
        server.connection.change_property8(PropMode::REPLACE, self.to, self.place, self.form, part)?;
        // Beyond the end once the empty part has been sent.
        self.sent += part.len().max(usize::from(part.is_empty()));
        Ok(())
    }
}
