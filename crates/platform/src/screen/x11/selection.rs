//! Text that is on the clipboard, and what other programs ask of its owner.

use std::sync::Arc;
use std::time::{Duration, Instant};

use x11rb::connection::Connection as _;
use x11rb::protocol::Event;
use x11rb::protocol::xproto::{
    Atom, AtomEnum, ChangeWindowAttributesAux, ConnectionExt as _, EventMask, PropMode, Property,
    SELECTION_NOTIFY_EVENT, SelectionNotifyEvent, SelectionRequestEvent, Timestamp, Window as WindowNumber,
};
use x11rb::wrapper::ConnectionExt as _;

use super::server::Server;
use super::trouble::Trouble;
use crate::screen::ScreenError;

/// More than this is sent in parts.
const WHOLE: usize = 128 * 1024;
const PART: usize = 64 * 1024;
/// So many events are answered before anything else is done.
pub(super) const MAX_EVENTS: usize = 64;
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
    /// Puts text on the clipboard. What is asked of an earlier text meanwhile is answered with that.
    pub(super) fn own(server: &Server, text: Arc<str>, earlier: Option<&mut Self>) -> Result<Self, Trouble> {
        let window = server.create_hidden_window()?;
        let mut owned = Self { text, window, since: 0, transfers: Vec::new() };
        match owned.take(server, earlier) {
            Ok(()) => Ok(owned),
            Err(error) => {
                // A connection that is given up takes its windows along.
                if !error.is_fatal() {
                    owned.release(server)?;
                }
                Err(error)
            }
        }
    }

    fn take(&mut self, server: &Server, mut earlier: Option<&mut Self>) -> Result<(), Trouble> {
        let (connection, window) = (&server.connection, self.window);
        // The server's clock is read off a change.
        let (name, kind) = (server.atoms.BAILIWICK_CLIPBOARD, AtomEnum::STRING);
        connection.change_property8(PropMode::APPEND, window, name, kind, b"")?;
        connection.flush()?;
        self.since = loop {
            let event = server.next_event()?;
            if let Event::PropertyNotify(event) = &event
                && event.window == window
            {
                break event.time;
            }
            answer_in_turn(server, earlier.as_deref_mut(), &event)?;
        };
        connection.set_selection_owner(window, server.atoms.CLIPBOARD, self.since)?;
        if connection.get_selection_owner(server.atoms.CLIPBOARD)?.reply()?.owner != window {
            return Err(ScreenError::ClipboardChanged(server.id.clone()).into());
        }
        // What came before the text was replaced is here by now.
        for _ in 0..MAX_EVENTS {
            let Some(event) = connection.poll_for_event()? else { break };
            answer_in_turn(server, earlier.as_deref_mut(), &event)?;
            answer_in_turn(server, Some(&mut *self), &event)?;
        }
        Ok(())
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

/// Has a text that may be there answer what is asked of it. Anyone who asked and is gone is no failure.
fn answer_in_turn(server: &Server, text: Option<&mut Selection>, event: &Event) -> Result<(), Trouble> {
    match text.map_or(Ok(true), |text| text.serve(server, event)) {
        Err(error) if error.is_fatal() => Err(error),
        _ => Ok(()),
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
