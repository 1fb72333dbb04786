//! Reads the clipboard of a display, by a connection of its own: an owner that hangs holds up nobody else.

use std::time::{Duration, Instant};

use x11rb::connection::{Connection as _, RequestConnection as _};
use x11rb::protocol::Event;
use x11rb::protocol::res::{ClientIdMask, ClientIdSpec, ConnectionExt as _};
use x11rb::protocol::xfixes::{self, ConnectionExt as _, SelectionEventMask};
use x11rb::protocol::xproto::{
    Atom, AtomEnum, ConnectionExt as _, GetPropertyReply, Property, Window as WindowNumber,
};

use super::address::Address;
use super::error::ServerError;
use super::scene;
use super::server::Server;
use super::window_facts::{gone, numbers};
use crate::screen::ancestry::program_name;
use crate::screen::{
    CLIPBOARD_OWNER, ClipboardContent, Clipping, ClippingKind, ClippingLimits, Judge, Rect, ScreenError,
    Sources, Window, WindowState,
};

/// How long an owner has for all of its content.
const PATIENCE: Duration = Duration::from_secs(5);
/// For how long other clients wait while the owner is judged.
const ALONE: Duration = Duration::from_secs(1);
/// An owner with more types than this is refused.
const MAX_TYPES: usize = 64;
/// What a type of a password manager is called by which it says that its content is a secret.
const SECRET: &str = "x-kde-passwordManagerHint";

/// Types that ask an owner for something else than its content, or for text in an old encoding.
const NO_CONTENT: &[&str] = &[
    "TARGETS",
    "TIMESTAMP",
    "MULTIPLE",
    "SAVE_TARGETS",
    "DELETE",
    "INSERT_PROPERTY",
    "INSERT_SELECTION",
    "TEXT",
    "COMPOUND_TEXT",
];

/// Reads everything that the clipboard has if the judge allows its owner. More than so many bytes are an error.
pub(super) fn save(
    address: &Address,
    sources: &Sources,
    limit: usize,
    judge: &Judge,
) -> Result<ClipboardContent, ServerError> {
    let read = read_with(address, sources, judge, |reader, server| reader.save(server, limit));
    Ok(read?.unwrap_or_default())
}

/// Reads the clipboard if the judge allows its owner, who is among the windows as [`CLIPBOARD_OWNER`]. Content of more bytes than
/// its kind may have is an error.
pub(super) fn read(
    address: &Address,
    sources: &Sources,
    wanted: Option<ClippingKind>,
    limits: ClippingLimits,
    judge: &Judge,
) -> Result<Clipping, ServerError> {
    let read = read_with(address, sources, judge, |reader, server| reader.read(server, wanted, limits));
    Ok(read?.unwrap_or_default())
}

/// Reads something of an owner that the judge allows; nothing if there is none.
fn read_with<T>(
    address: &Address,
    sources: &Sources,
    judge: &Judge,
    read: impl FnOnce(&Reader, &Server) -> Result<T, ServerError>,
) -> Result<Option<T>, ServerError> {
    let mut server = Server::open(address, sources)?;
    server.begin(Instant::now() + PATIENCE, ALONE);
    let reader = Reader::new(&server)?;
    let Some(()) = judge_owner(&mut server, judge)? else { return Ok(None) };
    let answer = read(&reader, &server).and_then(|answer| {
        // An owner that is new meanwhile has not been judged.
        server.connection.get_input_focus()?.reply()?;
        while let Some(event) = server.connection.poll_for_event()? {
            Reader::refuse_change(&server, &event)?;
        }
        Ok(answer)
    });
    match answer {
        Err(error) if error.is_timeout() => Err(ScreenError::ClipboardSilent(address.id.clone()).into()),
        answer => answer.map(Some),
    }
}

/// Has the judge look at the owner. Nothing if there is none.
fn judge_owner(server: &mut Server, judge: &Judge) -> Result<Option<()>, ServerError> {
    server.alone(|server| {
        let owner = server.connection.get_selection_owner(server.atoms.CLIPBOARD)?.reply()?.owner;
        if owner == x11rb::NONE {
            return Ok(None);
        }
        let mut windows = Vec::new();
        for screen in 0..server.roots().len() {
            let root = server.roots()[screen].root;
            let scene = scene::read(server, screen, scene::ask(server, root)?)?;
            windows.extend(scene.windows.into_iter().map(|placed| placed.window));
        }
        windows.push(owner_as_window(server, owner)?);
        match judge(&windows) {
            true => Ok(Some(())),
            false => Err(ScreenError::Refused(CLIPBOARD_OWNER.to_owned()).into()),
        }
    })
}

/// Describes the owner as a window that belongs to its process and has no name of its own.
fn owner_as_window(server: &Server, owner: WindowNumber) -> Result<Window, ServerError> {
    let client = owner & !server.connection.setup().resource_id_mask;
    let mut pid = None;
    if server.abilities.processes {
        let spec = ClientIdSpec { client, mask: ClientIdMask::LOCAL_CLIENT_PID };
        let answer =
            gone(server.connection.res_query_client_ids(&[spec])?.reply().map_err(ServerError::from))?;
        let ids = answer.into_iter().flat_map(|answer| answer.ids);
        pid = ids.filter_map(|id| id.value.first().copied()).find(|pid| *pid > 0);
    }
    Ok(Window {
        pid,
        process: pid.and_then(program_name),
        state: WindowState::Hidden,
        mapped: false,
        unmanaged: true,
        ..Window::new(CLIPBOARD_OWNER, &server.id, Rect::new(0, 0, 0, 0))
    })
}

/// The window to which owners send.
struct Reader {
    window: WindowNumber,
}

impl Reader {
    /// Creates it, and asks to hear of every new owner from now on.
    fn new(server: &Server) -> Result<Self, ServerError> {
        let connection = &server.connection;
        let window = server.create_hidden_window()?;
        if connection.extension_information(xfixes::X11_EXTENSION_NAME)?.is_none() {
            let why =
                "its X server lacks the extension XFIXES, by which a change of owners is noticed".to_owned();
            return Err(ScreenError::Failed { display: server.id.clone(), step: "the clipboard", why }.into());
        }
        connection.xfixes_query_version(5, 0)?.reply()?;
        let all = SelectionEventMask::SET_SELECTION_OWNER
            | SelectionEventMask::SELECTION_WINDOW_DESTROY
            | SelectionEventMask::SELECTION_CLIENT_CLOSE;
        connection.xfixes_select_selection_input(window, server.atoms.CLIPBOARD, all)?.check()?;
        Ok(Self { window })
    }

    /// Returns the types that the owner offers, by number and name.
    fn offered(&self, server: &Server) -> Result<Vec<(Atom, String)>, ServerError> {
        let atoms = &server.atoms;
        let offered = self.convert(server, atoms.TARGETS, MAX_TYPES * 4).map_err(|error| match error {
            ServerError::Clear(ScreenError::ClipboardTooLarge { .. }) => {
                let why = format!("its owner offers more than {MAX_TYPES} types");
                ScreenError::Failed { display: server.id.clone(), step: "the clipboard", why }.into()
            }
            error => error,
        })?;
        let offered: Vec<Atom> = match offered {
            Some(answer) => {
                answer.value.as_chunks::<4>().0.iter().map(|it| u32::from_ne_bytes(*it)).collect()
            }
            // Who does not say what there is has text, if anything.
            None => vec![atoms.UTF8_STRING, AtomEnum::STRING.into()],
        };
        let names: Vec<_> =
            offered.iter().map(|atom| server.connection.get_atom_name(*atom)).collect::<Result<_, _>>()?;
        let mut types = Vec::new();
        for (atom, name) in offered.into_iter().zip(names) {
            let name = gone(name.reply().map_err(ServerError::from))?.map(|reply| reply.name);
            types.extend(name.map(|name| (atom, String::from_utf8_lossy(&name).into_owned())));
        }
        if types.iter().any(|(_, name)| name == SECRET) {
            return Err(ScreenError::Refused(CLIPBOARD_OWNER.to_owned()).into());
        }
        Ok(types)
    }

    fn save(&self, server: &Server, limit: usize) -> Result<ClipboardContent, ServerError> {
        let offered = self.offered(server)?;
        let has_png = offered.iter().any(|(form, _)| *form == server.atoms.PNG);
        let mut content = ClipboardContent::default();
        let mut left = limit;
        for (form, name) in offered {
            // Owners of pictures offer them in ten forms, each of which they make when they are asked.
            let is_other_picture = has_png && name.starts_with("image/") && form != server.atoms.PNG;
            if NO_CONTENT.contains(&name.as_str()) || is_other_picture {
                continue;
            }
            let read = self.convert(server, form, left).map_err(|error| match error {
                ServerError::Clear(ScreenError::ClipboardTooLarge { bytes, .. }) => {
                    ScreenError::ClipboardTooLarge { bytes: limit - left + bytes, limit }.into()
                }
                error => error,
            })?;
            if let Some(read) = read.filter(|read| read.format == 8) {
                left -= read.value.len();
                content.forms.push((name, read.value.into()));
            }
        }
        Ok(content)
    }

    fn read(
        &self,
        server: &Server,
        wanted: Option<ClippingKind>,
        limits: ClippingLimits,
    ) -> Result<Clipping, ServerError> {
        let atoms = &server.atoms;
        let offered = self.offered(server)?;
        let latin: Atom = AtomEnum::STRING.into();
        let forms = [
            (ClippingKind::Files, atoms.URI_LIST),
            (ClippingKind::Text, atoms.UTF8_STRING),
            (ClippingKind::Text, atoms.UTF8_TEXT),
            (ClippingKind::Text, latin),
            (ClippingKind::Image, atoms.PNG),
        ];
        let mut content = None;
        for (kind, form) in forms {
            if content.is_some()
                || wanted.is_some_and(|wanted| wanted != kind)
                || offered.iter().all(|(it, _)| *it != form)
            {
                continue;
            }
            content = self.convert(server, form, limits.of(kind))?.map(|answer| {
                let (of, bytes) = (answer.type_, answer.value);
                let is_latin = kind == ClippingKind::Text && of == latin;
                let as_text = || bytes.iter().map(|byte| char::from(*byte)).collect::<String>().into_bytes();
                (kind, if is_latin { as_text() } else { bytes })
            });
        }
        let types = offered.iter().map(|(_, name)| crate::screen::plain::plain(name)).collect();
        Ok(Clipping { types, content })
    }

    /// Asks the owner for its content in one form; none if it refuses.
    fn convert(
        &self,
        server: &Server,
        form: Atom,
        limit: usize,
    ) -> Result<Option<GetPropertyReply>, ServerError> {
        let (connection, atoms) = (&server.connection, &server.atoms);
        let place = atoms.BAILIWICK_CLIPBOARD;
        connection.convert_selection(self.window, atoms.CLIPBOARD, form, place, x11rb::CURRENT_TIME)?;
        connection.flush()?;
        let property = loop {
            let event = server.next_event()?;
            Self::refuse_change(server, &event)?;
            if let Event::SelectionNotify(event) = event
                && event.requestor == self.window
                && event.target == form
            {
                break event.property;
            }
        };
        if property == x11rb::NONE {
            return Ok(None);
        }
        let first = self.take(server, limit)?;
        if first.type_ != atoms.INCR {
            return Ok(Some(first));
        }
        if let Some(bytes) = numbers(&first).first().map(|bytes| *bytes as usize).filter(|it| *it > limit) {
            return Err(ScreenError::ClipboardTooLarge { bytes, limit }.into());
        }
        let mut content = Vec::new();
        loop {
            let event = server.next_event()?;
            Self::refuse_change(server, &event)?;
            let is_new = matches!(&event, Event::PropertyNotify(event)
                if event.window == self.window && event.atom == place && event.state == Property::NEW_VALUE);
            if !is_new {
                continue;
            }
            let part = self.take(server, limit.saturating_sub(content.len()))?;
            if part.value.is_empty() {
                return Ok(Some(GetPropertyReply { value: content, ..part }));
            }
            content.extend(part.value);
        }
    }

    /// Takes what the owner has left, and has it continue.
    fn take(&self, server: &Server, limit: usize) -> Result<GetPropertyReply, ServerError> {
        let place = server.atoms.BAILIWICK_CLIPBOARD;
        let words = u32::try_from(limit / 4 + 1).unwrap_or(u32::MAX);
        let asked = server.connection.get_property(true, self.window, place, AtomEnum::ANY, 0, words)?;
        let taken = asked.reply()?;
        let bytes = taken.value.len() + taken.bytes_after as usize;
        if bytes > limit && taken.type_ != server.atoms.INCR {
            return Err(ScreenError::ClipboardTooLarge { bytes, limit }.into());
        }
        Ok(taken)
    }

    fn refuse_change(server: &Server, event: &Event) -> Result<(), ServerError> {
        match event {
            Event::XfixesSelectionNotify(_) => Err(ScreenError::ClipboardChanged(server.id.clone()).into()),
            _ => Ok(()),
        }
    }
}
