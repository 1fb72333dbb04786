//! Content that is on the clipboard, and what other programs ask of its owner.

use std::sync::Arc;
use std::time::{Duration, Instant};

use x11rb::connection::Connection as _;
use x11rb::protocol::Event;
use x11rb::protocol::xproto::{
    Atom, AtomEnum, ChangeWindowAttributesAux, ConnectionExt as _, EventMask, PropMode, Property,
    SELECTION_NOTIFY_EVENT, SelectionNotifyEvent, SelectionRequestEvent, Timestamp, Window as WindowNumber,
};
use x11rb::wrapper::ConnectionExt as _;

use super::error::ServerError;
use super::input;
use super::server::Server;
use crate::screen::{ClipboardContent, ClipboardUse, ScreenError};

/// More than this is sent in parts.
const WHOLE: usize = 128 * 1024;
const PART: usize = 64 * 1024;
/// So many events are answered before anything else is done.
pub(super) const MAX_EVENTS: usize = 64;
/// So many others may be sent parts at a time, each for so long.
const MAX_TRANSFERS: usize = 16;
const TRANSFER: Duration = Duration::from_secs(30);
/// So many programs that ask are remembered.
const MAX_READERS: usize = 64;

/// Content on the clipboard of a display.
#[derive(Debug)]
pub(super) struct Selection {
    content: Arc<ClipboardContent>,
    /// Its forms, by the numbers of their names.
    forms: Vec<(Atom, Arc<[u8]>)>,
    window: WindowNumber,
    since: Timestamp,
    transfers: Vec<Transfer>,
    readers: Vec<Reader>,
}

/// A program that has asked for something.
#[derive(Debug)]
struct Reader {
    /// The first number of its resources.
    client: u32,
    pid: Option<u32>,
    /// Whether it has got content.
    has_fetched: bool,
    /// When it asked last, or got a part.
    at: Instant,
}

/// Content that goes to a program in parts.
#[derive(Debug)]
struct Transfer {
    to: WindowNumber,
    place: Atom,
    form: Atom,
    bytes: Arc<[u8]>,
    sent: usize,
    began: Instant,
}

impl Selection {
    /// Puts content on the clipboard. What is asked of an earlier one meanwhile is answered with that.
    pub(super) fn own(
        server: &Server,
        content: Arc<ClipboardContent>,
        earlier: Option<&mut Self>,
    ) -> Result<Self, ServerError> {
        let named: Vec<_> = content
            .forms
            .iter()
            .map(|(name, bytes)| Ok((server.connection.intern_atom(false, name.as_bytes())?, bytes)))
            .collect::<Result<_, ServerError>>()?;
        let forms = named
            .into_iter()
            .map(|(atom, bytes)| Ok((atom.reply()?.atom, Arc::clone(bytes))))
            .collect::<Result<_, ServerError>>()?;
        let window = server.create_hidden_window()?;
        let (transfers, readers) = (Vec::new(), Vec::new());
        let mut owned = Self { content, forms, window, since: 0, transfers, readers };
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

    fn take(&mut self, server: &Server, mut earlier: Option<&mut Self>) -> Result<(), ServerError> {
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
        // What came before the content was replaced is here by now.
        for _ in 0..MAX_EVENTS {
            let Some(event) = connection.poll_for_event()? else { break };
            answer_in_turn(server, earlier.as_deref_mut(), &event)?;
            answer_in_turn(server, Some(&mut *self), &event)?;
        }
        Ok(())
    }

    /// Returns what it has.
    pub(super) const fn content(&self) -> &Arc<ClipboardContent> {
        &self.content
    }

    /// Returns the window that owns the clipboard.
    pub(super) const fn window(&self) -> WindowNumber {
        self.window
    }

    /// Returns what a program has made of it, by the first number of its resources or by its processes.
    pub(super) fn use_by(&self, client: u32, pids: &[u32]) -> ClipboardUse {
        let is_meant = |it: &&Reader| it.client == client || it.pid.is_some_and(|pid| pids.contains(&pid));
        let all: Vec<&Reader> = self.readers.iter().filter(is_meant).collect();
        let last = all.iter().map(|it| it.at).max();
        match last.filter(|_| all.iter().any(|it| it.has_fetched)) {
            Some(last) => ClipboardUse::Fetched(last.elapsed()),
            None => ClipboardUse::Waiting,
        }
    }

    /// Notes that a program has asked, or has got content.
    fn note(&mut self, server: &Server, to: WindowNumber, has_fetched: bool) -> Result<(), ServerError> {
        let client = to & !server.connection.setup().resource_id_mask;
        let at = Instant::now();
        if let Some(known) = self.readers.iter_mut().find(|it| it.client == client) {
            known.at = at;
            known.has_fetched |= has_fetched;
        } else if self.readers.len() < MAX_READERS {
            let pid = input::pid_of(server, client)?;
            self.readers.push(Reader { client, pid, has_fetched, at });
        }
        Ok(())
    }

    /// Takes it off the clipboard.
    pub(super) fn release(self, server: &Server) -> Result<(), ServerError> {
        Ok(server.connection.destroy_window(self.window)?.check()?)
    }

    /// Answers what others ask. Returns whether the clipboard is still ours.
    pub(super) fn serve(&mut self, server: &Server, event: &Event) -> Result<bool, ServerError> {
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
                        transfer.send(server)?;
                        self.note(server, transfer.to, transfer.is_over())?;
                    }
                }
                transfers.retain(|transfer| !transfer.is_over());
                self.transfers = transfers;
            }
            _ => {}
        }
        server.connection.flush()?;
        Ok(true)
    }

    /// Leaves what is asked for with who asks; returns where, which is nowhere for what there is not.
    fn answer(&mut self, server: &Server, request: &SelectionRequestEvent) -> Result<Atom, ServerError> {
        let (connection, atoms) = (&server.connection, &server.atoms);
        let place = if request.property == x11rb::NONE { request.target } else { request.property };
        let (to, mode) = (request.requestor, PropMode::REPLACE);
        self.note(server, to, false)?;
        if request.target == atoms.TARGETS {
            let forms = self.forms.iter().map(|(form, _)| *form);
            let all: Vec<Atom> = [atoms.TARGETS, atoms.TIMESTAMP].into_iter().chain(forms).collect();
            connection.change_property32(mode, to, place, AtomEnum::ATOM, &all)?.check()?;
            return Ok(place);
        }
        if request.target == atoms.TIMESTAMP {
            connection.change_property32(mode, to, place, AtomEnum::INTEGER, &[self.since])?.check()?;
            return Ok(place);
        }
        let form = self.forms.iter().find(|(form, _)| *form == request.target);
        let Some(bytes) = form.map(|(_, bytes)| Arc::clone(bytes)) else { return Ok(x11rb::NONE) };
        if bytes.len() <= WHOLE {
            connection.change_property8(mode, to, place, request.target, &bytes)?.check()?;
            self.note(server, to, true)?;
        } else if self.transfers.len() >= MAX_TRANSFERS {
            return Ok(x11rb::NONE);
        } else {
            let look = ChangeWindowAttributesAux::new().event_mask(EventMask::PROPERTY_CHANGE);
            connection.change_window_attributes(to, &look)?.check()?;
            let size = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
            connection.change_property32(mode, to, place, atoms.INCR, &[size])?.check()?;
            let (form, began) = (request.target, Instant::now());
            self.transfers.push(Transfer { to, place, form, bytes, sent: 0, began });
        }
        Ok(place)
    }
}

/// Has content that may be there answer what is asked of it. Anyone who asked and is gone is no failure.
fn answer_in_turn(
    server: &Server,
    content: Option<&mut Selection>,
    event: &Event,
) -> Result<(), ServerError> {
    match content.map_or(Ok(true), |content| content.serve(server, event)) {
        Err(error) if error.is_fatal() => Err(error),
        _ => Ok(()),
    }
}

impl Transfer {
    /// Sends the next part; an empty one is the end.
    fn send(&mut self, server: &Server) -> Result<(), ServerError> {
        let rest = self.bytes.get(self.sent..).unwrap_or_default();
        let part = &rest[..rest.len().min(PART)];
        server.connection.change_property8(PropMode::REPLACE, self.to, self.place, self.form, part)?;
        // Beyond the end once the empty part has been sent.
        self.sent += part.len().max(usize::from(part.is_empty()));
        Ok(())
    }

    fn is_over(&self) -> bool {
        self.sent > self.bytes.len()
    }
}
