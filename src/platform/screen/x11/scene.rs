//! Reads which windows a screen has, in as few turns as there are answers to wait for.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use x11rb::connection::Connection as _;
use x11rb::cookie::Cookie;
use x11rb::protocol::res::{ClientIdMask, ClientIdSpec, ConnectionExt as _};
use x11rb::protocol::xproto::{
    Atom, AtomEnum, ConnectionExt as _, GetGeometryReply, GetInputFocusReply, GetPropertyReply,
    GetWindowAttributesReply, MapState, QueryTreeReply, Window as WindowNumber, WindowClass,
};
use x11rb::rust_connection::RustConnection;

use super::server::Server;
use super::stream::TimedStream;
use super::text::{self, Encoding};
use super::trouble::Trouble;
use crate::platform::screen::{Rect, Window, WindowState};

type Connection = RustConnection<TimedStream>;
type Answer<'a, T> = Cookie<'a, Connection, T>;

/// More windows than this are not looked at.
const MAX_WINDOWS: usize = 4096;
/// A window lies at most so many windows below the root.
const MAX_DEPTH: usize = 8;
/// The longest property that is read, in units of four bytes.
const MAX_PROPERTY: u32 = 1024;
/// A hidden window of a size below this, in pixels, is one that toolkits keep for themselves.
const SMALLEST_HIDDEN: u32 = 16;

/// The windows of a screen.
#[derive(Debug)]
pub(super) struct Scene {
    /// Windows that a person would call one, from the bottom of the pile to its top.
    pub windows: Vec<Shown>,
    /// What lies on the screen, windows and what belongs to them, from the bottom to the top.
    pub pile: Vec<Layer>,
}

/// A window, and where the server has it.
#[derive(Debug)]
pub(super) struct Shown {
    /// What is told of it.
    pub window: Window,
    /// Its own number.
    pub number: WindowNumber,
    /// The child of the root that it lies in: itself, or the window manager's frame.
    pub top: WindowNumber,
}

/// A child of the root.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Layer {
    /// Its number.
    pub number: WindowNumber,
    /// Its place on the screen, border included.
    pub outer: Rect,
    /// How wide its border is.
    pub border: u32,
    /// Whether it is on the screen.
    pub viewable: bool,
}

/// The first questions about a screen, on their way.
pub(super) struct Asked<'a> {
    tree: Answer<'a, QueryTreeReply>,
    stacking: Answer<'a, GetPropertyReply>,
    clients: Answer<'a, GetPropertyReply>,
    active: Answer<'a, GetPropertyReply>,
    focus: Answer<'a, GetInputFocusReply>,
}

/// Sends the first questions, without waiting.
pub(super) fn ask(server: &Server, root: WindowNumber) -> Result<Asked<'_>, Trouble> {
    let (connection, atoms) = (&server.connection, &server.atoms);
    let windows = |name: Atom| {
        let limit = u32::try_from(MAX_WINDOWS).unwrap_or(u32::MAX);
        connection.get_property(false, root, name, AtomEnum::WINDOW, 0, limit)
    };
    Ok(Asked {
        tree: connection.query_tree(root)?,
        stacking: windows(atoms._NET_CLIENT_LIST_STACKING)?,
        clients: windows(atoms._NET_CLIENT_LIST)?,
        active: windows(atoms._NET_ACTIVE_WINDOW)?,
        focus: connection.get_input_focus()?,
    })
}

/// Waits for the answers, and asks the rest. A window that is gone meanwhile is left out.
pub(super) fn read(server: &Server, screen: usize, asked: Asked<'_>) -> Result<Scene, Trouble> {
    let tree = asked.tree.reply()?;
    let root = tree.root;
    let tops: Vec<WindowNumber> = tree.children.into_iter().take(MAX_WINDOWS).collect();
    let mut clients = numbers(&asked.stacking.reply()?);
    let mut known: BTreeSet<WindowNumber> = clients.iter().copied().collect();
    clients.extend(numbers(&asked.clients.reply()?).into_iter().filter(|number| known.insert(*number)));
    clients.truncate(MAX_WINDOWS);
    // Without a window manager, what has the keyboard.
    let focus = asked.focus.reply()?.focus;
    let active = numbers(&asked.active.reply()?).first().copied().unwrap_or(focus);

    let shapes: Vec<_> = tops.iter().map(|number| ask_shape(server, *number)).collect::<Result<_, _>>()?;
    let parents = read_tops(server, root, &clients)?;
    let mut layers = Vec::new();
    let mut unmanaged = BTreeSet::new();
    for (number, shape) in tops.iter().zip(shapes) {
        let Some((attributes, geometry)) = gone(shape.read())? else { continue };
        // What the server itself has made, such as the sheet that a compositor paints on, is no window of anybody.
        if attributes.class == WindowClass::INPUT_ONLY || owner(server, *number) == 0 {
            continue;
        }
        if attributes.override_redirect {
            unmanaged.insert(*number);
        }
        layers.push(Layer {
            number: *number,
            outer: outer(&geometry),
            border: geometry.border_width.into(),
            viewable: attributes.map_state == MapState::VIEWABLE,
        });
    }
    // Windows that a window manager tells of, then children of the root that hold none of those.
    let mut chosen: Vec<(WindowNumber, usize)> = Vec::new();
    let managed: BTreeSet<WindowNumber> = parents.values().copied().collect();
    let place: BTreeMap<WindowNumber, usize> =
        layers.iter().enumerate().map(|(at, layer)| (layer.number, at)).collect();
    for client in &clients {
        if let Some(at) = parents.get(client).and_then(|top| place.get(top)) {
            chosen.push((*client, *at));
        }
    }
    for (at, layer) in layers.iter().enumerate().filter(|(_, layer)| !managed.contains(&layer.number)) {
        let large = layer.outer.width > SMALLEST_HIDDEN && layer.outer.height > SMALLEST_HIDDEN;
        if layer.viewable || (clients.is_empty() && large && !unmanaged.contains(&layer.number)) {
            chosen.push((layer.number, at));
        }
    }
    chosen.sort_by_key(|(_, at)| *at);
    let mut windows = describe(server, screen, root, &chosen, &layers, !clients.is_empty())?;
    for shown in &mut windows {
        shown.window.active = shown.number == active;
        shown.window.unmanaged = unmanaged.contains(&shown.number);
    }
    Ok(Scene { windows, pile: layers })
}

/// Gives the client that made something: the part of its number that the server gives out.
fn owner(server: &Server, number: WindowNumber) -> u32 {
    number & !server.connection.setup().resource_id_mask
}

fn outer(geometry: &GetGeometryReply) -> Rect {
    let border = u32::from(geometry.border_width) * 2;
    let (width, height) = (u32::from(geometry.width), u32::from(geometry.height));
    Rect::new(geometry.x.into(), geometry.y.into(), width + border, height + border)
}

/// Makes nothing of an answer about a window that is gone.
fn gone<T>(answer: Result<T, Trouble>) -> Result<Option<T>, Trouble> {
    match answer {
        Ok(answer) => Ok(Some(answer)),
        Err(Trouble::Refused(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

fn numbers(property: &GetPropertyReply) -> Vec<u32> {
    property.value32().into_iter().flatten().collect()
}

struct ShapeAnswer<'a> {
    attributes: Answer<'a, GetWindowAttributesReply>,
    geometry: Answer<'a, GetGeometryReply>,
}

fn ask_shape(server: &Server, number: WindowNumber) -> Result<ShapeAnswer<'_>, Trouble> {
    Ok(ShapeAnswer {
        attributes: server.connection.get_window_attributes(number)?,
        geometry: server.connection.get_geometry(number)?,
    })
}

impl ShapeAnswer<'_> {
    fn read(self) -> Result<(GetWindowAttributesReply, GetGeometryReply), Trouble> {
        let attributes = self.attributes.reply().map_err(Trouble::from);
        let geometry = self.geometry.reply().map_err(Trouble::from);
        Ok((attributes?, geometry?))
    }
}

/// Finds the child of the root that each window lies in.
fn read_tops(
    server: &Server,
    root: WindowNumber,
    clients: &[WindowNumber],
) -> Result<BTreeMap<WindowNumber, WindowNumber>, Trouble> {
    let mut tops = BTreeMap::new();
    let mut climbing: Vec<(WindowNumber, WindowNumber)> = clients.iter().map(|it| (*it, *it)).collect();
    for _ in 0..MAX_DEPTH {
        if climbing.is_empty() {
            break;
        }
        let asked: Vec<_> =
            climbing.iter().map(|(_, at)| server.connection.query_tree(*at)).collect::<Result<_, _>>()?;
        let mut higher = Vec::new();
        for ((client, at), answer) in climbing.into_iter().zip(asked) {
            let Some(tree) = gone(answer.reply().map_err(Trouble::from))? else { continue };
            if tree.parent == root {
                tops.insert(client, at);
            } else if tree.parent != x11rb::NONE {
                higher.push((client, tree.parent));
            }
        }
        climbing = higher;
    }
    Ok(tops)
}

struct Description<'a> {
    shape: ShapeAnswer<'a>,
    origin: Answer<'a, x11rb::protocol::xproto::TranslateCoordinatesReply>,
    name: Answer<'a, GetPropertyReply>,
    old_name: Answer<'a, GetPropertyReply>,
    class: Answer<'a, GetPropertyReply>,
    state: Answer<'a, GetPropertyReply>,
    old_state: Answer<'a, GetPropertyReply>,
    pid: Answer<'a, GetPropertyReply>,
}

fn ask_description(
    server: &Server,
    root: WindowNumber,
    number: WindowNumber,
) -> Result<Description<'_>, Trouble> {
    let (connection, atoms) = (&server.connection, &server.atoms);
    let property = |name: Atom| connection.get_property(false, number, name, AtomEnum::ANY, 0, MAX_PROPERTY);
    Ok(Description {
        shape: ask_shape(server, number)?,
        origin: connection.translate_coordinates(number, root, 0, 0)?,
        name: property(atoms._NET_WM_NAME)?,
        old_name: property(AtomEnum::WM_NAME.into())?,
        class: property(AtomEnum::WM_CLASS.into())?,
        state: property(atoms._NET_WM_STATE)?,
        old_state: property(atoms.WM_STATE)?,
        pid: property(atoms._NET_WM_PID)?,
    })
}

/// What programs say of a window.
struct Told {
    shape: (GetWindowAttributesReply, GetGeometryReply),
    origin: (i32, i32),
    title: String,
    app: String,
    minimised: bool,
    iconic: bool,
    pid: Option<u32>,
}

impl Description<'_> {
    /// Every answer is taken, also when one says that the window is gone.
    fn read(self, server: &Server) -> Result<Told, Trouble> {
        let shape = self.shape.read();
        let origin = self.origin.reply().map_err(Trouble::from);
        let [name, old_name, class, state, old_state, pid] =
            [self.name, self.old_name, self.class, self.state, self.old_state, self.pid]
                .map(|answer| answer.reply().map_err(Trouble::from));
        let (name, old_name, state) = (name?, old_name?, state?);
        let title = if name.value.is_empty() { title(server, &old_name) } else { title(server, &name) };
        let origin = origin?;
        Ok(Told {
            shape: shape?,
            origin: (origin.dst_x.into(), origin.dst_y.into()),
            title,
            app: text::class(&class?.value),
            minimised: numbers(&state).contains(&server.atoms._NET_WM_STATE_HIDDEN),
            iconic: numbers(&old_state?).first() == Some(&ICONIC),
            pid: numbers(&pid?).first().copied().filter(|pid| *pid > 0),
        })
    }
}

/// `IconicState` of `WM_STATE`.
const ICONIC: u32 = 3;

fn title(server: &Server, property: &GetPropertyReply) -> String {
    let encoding = match property.type_ {
        kind if kind == Atom::from(AtomEnum::STRING) => Encoding::Latin1,
        kind if kind == server.atoms.COMPOUND_TEXT => Encoding::Compound,
        _ => Encoding::Utf8,
    };
    text::decode(&property.value, encoding)
}

fn describe(
    server: &Server,
    screen: usize,
    root: WindowNumber,
    chosen: &[(WindowNumber, usize)],
    layers: &[Layer],
    has_manager: bool,
) -> Result<Vec<Shown>, Trouble> {
    let asked: Vec<_> =
        chosen.iter().map(|(number, _)| ask_description(server, root, *number)).collect::<Result<_, _>>()?;
    let pids = read_pids(server, chosen)?;
    let mut windows = Vec::with_capacity(chosen.len());
    for ((number, at), answer) in chosen.iter().zip(asked) {
        let (Some(told), Some(layer)) = (gone(answer.read(server))?, layers.get(*at)) else { continue };
        let (attributes, geometry) = &told.shape;
        let state = if told.minimised || (told.iconic && !has_manager) {
            WindowState::Minimised
        } else if attributes.map_state == MapState::VIEWABLE {
            WindowState::Visible
        } else {
            WindowState::Hidden
        };
        // A hidden window with neither name nor class is a toolkit's own.
        if state != WindowState::Visible && told.title.is_empty() && told.app.is_empty() {
            continue;
        }
        let display = server.screen_id(screen);
        let pid =
            if server.abilities.processes { pids.get(&owner(server, *number)).copied() } else { told.pid };
        let (x, y) = told.origin;
        windows.push(Shown {
            window: Window {
                id: format!("{display}/{number:#x}"),
                display,
                title: told.title,
                app: told.app,
                pid,
                process: pid.and_then(process_name),
                bounds: Rect::new(x, y, geometry.width.into(), geometry.height.into()),
                frame: layer.outer,
                state,
                active: false,
                unmanaged: false,
                stacking: u32::try_from(*at).unwrap_or(u32::MAX),
            },
            number: *number,
            top: layer.number,
        });
    }
    Ok(windows)
}

/// Asks the server which processes its clients are: it has it from the system, not from them.
fn read_pids(server: &Server, chosen: &[(WindowNumber, usize)]) -> Result<BTreeMap<u32, u32>, Trouble> {
    if !server.abilities.processes || chosen.is_empty() {
        return Ok(BTreeMap::new());
    }
    let owners: BTreeSet<u32> = chosen.iter().map(|(number, _)| owner(server, *number)).collect();
    let specs: Vec<ClientIdSpec> = owners
        .into_iter()
        .map(|client| ClientIdSpec { client, mask: ClientIdMask::LOCAL_CLIENT_PID })
        .collect();
    let answer = server.connection.res_query_client_ids(&specs)?.reply().map_err(Trouble::from);
    let ids = gone(answer)?.map(|reply| reply.ids).unwrap_or_default();
    Ok(ids
        .into_iter()
        .filter_map(|id| Some((id.spec.client, id.value.first().copied().filter(|pid| *pid > 0)?)))
        .collect())
}

/// Gives the name of a process's program file; its short name where the file may not be seen.
fn process_name(pid: u32) -> Option<String> {
    let program = fs::read_link(format!("/proc/{pid}/exe")).ok();
    let name =
        program.as_deref().and_then(|path| path.file_name()).map(|name| name.to_string_lossy().into_owned());
    let name = name.or_else(|| fs::read_to_string(format!("/proc/{pid}/comm")).ok())?;
    let name = text::decode(name.trim_end_matches(" (deleted)").as_bytes(), Encoding::Utf8);
    (!name.is_empty()).then_some(name)
}
