//! Reads which windows a screen has, in as few turns as there are answers to wait for.
//!
//! Anyone who judges windows by what they say relies on it: a window that shows pixels must be told of, by the name of
//! its own program and not of a frame around it, or there must be no answer at all.

use std::collections::{BTreeMap, BTreeSet};

use x11rb::connection::Connection as _;
use x11rb::protocol::res::QueryClientIdsReply;
use x11rb::protocol::xproto::{
    Atom, AtomEnum, ConnectionExt as _, GetInputFocusReply, GetPropertyReply, QueryTreeReply,
    Window as WindowNumber,
};

use super::error::ServerError;
use super::foresight::Questions;
use super::server::Server;
use super::window_facts::{Answer, WindowFacts, gone, numbers};
use crate::screen::ancestry::program_name;
use crate::screen::{Rect, ScreenError, Window, WindowState};

/// A screen with more windows than this is not looked at.
const MAX_WINDOWS: usize = 4096;
/// Up to so many children of the root, everything is asked of all of them at once; else only of those that show.
const FEW_WINDOWS: usize = 64;
/// A window is at most so many windows below the root.
const MAX_DEPTH: usize = 8;
/// A hidden window of a size below this, in pixels, is one that toolkits keep for themselves.
const SMALLEST_HIDDEN: u32 = 16;

/// The windows of a screen.
#[derive(Debug)]
pub(super) struct Scene {
    /// Windows that a person would call one, from the bottom of the pile to its top.
    pub windows: Vec<PlacedWindow>,
    /// What is on the screen, windows and what belongs to them, from the bottom to the top.
    pub pile: Vec<Layer>,
}

/// A window, and where the server has it.
#[derive(Debug)]
pub(super) struct PlacedWindow {
    /// What is told of it.
    pub window: Window,
    /// Its own number.
    pub number: WindowNumber,
    /// The child of the root that it is in: itself, or the window manager's frame.
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
pub(super) struct Requests<'a> {
    tree: Answer<'a, QueryTreeReply>,
    stacking: Answer<'a, GetPropertyReply>,
    clients: Answer<'a, GetPropertyReply>,
    active: Answer<'a, GetPropertyReply>,
    focus: Answer<'a, GetInputFocusReply>,
    questions: Questions<'a>,
}

/// Sends the first questions, without waiting.
pub(super) fn ask(server: &Server, root: WindowNumber) -> Result<Requests<'_>, ServerError> {
    let (connection, atoms) = (&server.connection, &server.atoms);
    let windows = |name: Atom| {
        let limit = u32::try_from(MAX_WINDOWS).unwrap_or(u32::MAX);
        connection.get_property(false, root, name, AtomEnum::WINDOW, 0, limit)
    };
    Ok(Requests {
        tree: connection.query_tree(root)?,
        stacking: windows(atoms._NET_CLIENT_LIST_STACKING)?,
        clients: windows(atoms._NET_CLIENT_LIST)?,
        active: windows(atoms._NET_ACTIVE_WINDOW)?,
        focus: connection.get_input_focus()?,
        questions: Questions::ask(server, root)?,
    })
}

/// Waits for the answers, and asks the rest. A window that is gone meanwhile is left out.
pub(super) fn read(server: &Server, screen: usize, asked: Requests<'_>) -> Result<Scene, ServerError> {
    let tree = asked.tree.reply()?;
    let (root, mut tops) = (tree.root, tree.children);
    // What this shows itself is nobody's window.
    tops.retain(|top| !server.banner.as_ref().is_some_and(|banner| banner.is_window(*top)));
    let mut questions = asked.questions;
    // What a window manager says there is, be it nothing.
    let lists = [asked.stacking.reply()?, asked.clients.reply()?];
    let has_manager = lists.iter().any(|list| list.type_ != x11rb::NONE);
    let mut listed: Vec<WindowNumber> = lists.iter().flat_map(numbers).collect();
    let mut once = BTreeSet::new();
    listed.retain(|number| once.insert(*number));
    // Without one, what has the keyboard is active.
    let focus = asked.focus.reply()?.focus;
    let active = numbers(&asked.active.reply()?).first().copied().unwrap_or(focus);
    if tops.len() + listed.len() > MAX_WINDOWS {
        return Err(too_many(server));
    }

    let parents = ask_parents(&mut questions, &listed)?;
    let pids = questions.pids(tops.iter().chain(&listed).map(|number| owner(server, *number)).collect())?;
    let few = tops.len() <= FEW_WINDOWS;
    let mut known = BTreeMap::new();
    tell(server, &mut questions, listed.iter().chain(tops.iter().filter(|_| few)), &mut known)?;
    let mut held = read_tops(&mut questions, root, &tops, parents)?;
    let pids = read_pids(pids)?;
    if !few {
        let showing = showing(server, &tops)?;
        let frames: BTreeSet<WindowNumber> = held.values().copied().collect();
        let wanted = tops.iter().filter(|top| showing.contains(*top) || frames.contains(*top));
        tell(server, &mut questions, wanted, &mut known)?;
    }

    let pile = pile(server, &tops, &known);
    let frames: BTreeSet<WindowNumber> = held.values().copied().collect();
    let bare = pile.iter().filter(|layer| layer.viewable && !frames.contains(&layer.number));
    let bare = bare.filter(|layer| known.get(&layer.number).is_some_and(WindowFacts::is_bare));
    let bare = bare.map(|layer| layer.number).collect();
    held.extend(inner_clients(server, &mut questions, bare, &mut known)?);
    questions.remember();

    let mut windows = Vec::new();
    let mut processes = BTreeMap::new();
    for (number, at) in choose(&held, &pile, &known, has_manager) {
        let (Some(told), Some(layer)) = (known.get(&number), pile.get(at)) else { continue };
        let (Some(state), display) = (state(told, has_manager), server.screen_id(screen)) else {
            continue;
        };
        let pid =
            if server.abilities.processes { pids.get(&owner(server, number)).copied() } else { told.pid };
        let owner = told.opened_for.filter(|other| *other != root);
        let window = Window {
            id: format!("{display}/{number:#x}"),
            owner: owner.map(|other| format!("{display}/{other:#x}")),
            display,
            title: told.title.clone(),
            app: told.app.clone(),
            instance: told.instance.clone(),
            pid,
            process: pid.and_then(|pid| processes.entry(pid).or_insert_with(|| program_name(pid)).clone()),
            bounds: told.inside,
            frame: layer.outer,
            in_shadow: told.in_shadow,
            state,
            mapped: layer.viewable && told.viewable,
            active: number == active,
            maximised: told.maximised,
            workspace: told.workspace,
            unmanaged: told.override_redirect,
            stacking: u32::try_from(at).unwrap_or(u32::MAX),
        };
        windows.push(PlacedWindow { window, number, top: layer.number });
    }
    Ok(Scene { windows, pile })
}

fn too_many(server: &Server) -> ServerError {
    let why = format!("there are more than {MAX_WINDOWS} windows");
    ScreenError::Failed { display: server.id.clone(), step: "the list of its windows", why }.into()
}

/// Asks all about windows that nothing is known of yet.
fn tell<'a>(
    server: &Server,
    questions: &mut Questions<'_>,
    numbers: impl Iterator<Item = &'a WindowNumber>,
    known: &mut BTreeMap<WindowNumber, WindowFacts>,
) -> Result<(), ServerError> {
    let new: BTreeSet<WindowNumber> = numbers.copied().filter(|number| !known.contains_key(number)).collect();
    let asked: Vec<_> = new.iter().map(|number| questions.tell(*number)).collect::<Result<_, _>>()?;
    for (number, asked) in new.into_iter().zip(asked) {
        if let Some(told) = asked.read(server)? {
            known.insert(number, told);
        }
    }
    Ok(())
}

fn showing(server: &Server, tops: &[WindowNumber]) -> Result<BTreeSet<WindowNumber>, ServerError> {
    let asked: Vec<_> =
        tops.iter().map(|top| server.connection.get_window_attributes(*top)).collect::<Result<_, _>>()?;
    let mut showing = BTreeSet::new();
    for (top, answer) in tops.iter().zip(asked) {
        let attributes = gone(answer.reply().map_err(ServerError::from))?;
        if attributes.is_some_and(|it| it.map_state == x11rb::protocol::xproto::MapState::VIEWABLE) {
            showing.insert(*top);
        }
    }
    Ok(showing)
}

/// Returns the client that made something: the part of its number that the server gives out.
pub(super) fn owner(server: &Server, number: WindowNumber) -> u32 {
    number & !server.connection.setup().resource_id_mask
}

/// What is on the screen. What the server itself has made, such as the sheet that a compositor paints on, is no
/// window of anybody; what takes input only has no pixels.
fn pile(server: &Server, tops: &[WindowNumber], known: &BTreeMap<WindowNumber, WindowFacts>) -> Vec<Layer> {
    tops.iter()
        .filter(|number| owner(server, **number) != 0)
        .filter_map(|number| Some((*number, known.get(number)?)))
        .filter(|(_, told)| !told.input_only)
        .map(|(number, told)| Layer {
            number,
            outer: told.outer,
            border: told.border,
            viewable: told.viewable,
        })
        .collect()
}

/// Chooses what counts as a window, each with its place in the pile: what the children of the root hold, and those
/// that hold nothing. One that is hidden counts only where no window manager is about to put it into a frame, which makes it
/// another child of the root.
fn choose(
    held: &BTreeMap<WindowNumber, WindowNumber>,
    pile: &[Layer],
    known: &BTreeMap<WindowNumber, WindowFacts>,
    has_manager: bool,
) -> Vec<(WindowNumber, usize)> {
    let mut chosen = Vec::new();
    for (at, layer) in pile.iter().enumerate() {
        let before = chosen.len();
        chosen.extend(held.iter().filter(|(_, top)| **top == layer.number).map(|(number, _)| (*number, at)));
        if chosen.len() > before {
            continue;
        }
        let large = layer.outer.width > SMALLEST_HIDDEN && layer.outer.height > SMALLEST_HIDDEN;
        let unmanaged = known.get(&layer.number).is_some_and(|told| told.override_redirect);
        if layer.viewable || (!has_manager && large && !unmanaged) {
            chosen.push((layer.number, at));
        }
    }
    chosen
}

/// Returns whether a window can be seen; nothing for a hidden one without a name, which is a toolkit's own.
fn state(told: &WindowFacts, has_manager: bool) -> Option<WindowState> {
    let state = if told.minimised || (told.iconic && !has_manager) {
        WindowState::Minimised
    } else if told.viewable {
        WindowState::Visible
    } else {
        WindowState::Hidden
    };
    let named = !told.title.is_empty() || !told.app.is_empty();
    (named || state == WindowState::Visible).then_some(state)
}

type ParentQueries<'a> = Vec<(WindowNumber, WindowNumber, Answer<'a, QueryTreeReply>)>;

fn ask_parents<'a>(
    questions: &mut Questions<'a>,
    listed: &[WindowNumber],
) -> Result<ParentQueries<'a>, ServerError> {
    listed.iter().map(|number| Ok((*number, *number, questions.tree(*number)?))).collect()
}

/// Finds the child of the root that each window is in.
fn read_tops<'a>(
    questions: &mut Questions<'a>,
    root: WindowNumber,
    tops: &[WindowNumber],
    mut climbing: ParentQueries<'a>,
) -> Result<BTreeMap<WindowNumber, WindowNumber>, ServerError> {
    let tops: BTreeSet<WindowNumber> = tops.iter().copied().collect();
    let mut held = BTreeMap::new();
    for _ in 0..MAX_DEPTH {
        let mut higher = Vec::new();
        for (number, at, answer) in climbing {
            let Some(tree) = gone(answer.reply().map_err(ServerError::from))? else { continue };
            if tree.parent == root {
                held.insert(number, at);
            } else if tops.contains(&tree.parent) {
                held.insert(number, tree.parent);
            } else if tree.parent != x11rb::NONE {
                higher.push((number, tree.parent, questions.tree(tree.parent)?));
            }
        }
        climbing = higher;
        if climbing.is_empty() {
            break;
        }
    }
    Ok(held)
}

/// Finds windows of programs within frames of a window manager that lists none: those with a name or a state.
fn inner_clients(
    server: &Server,
    questions: &mut Questions<'_>,
    tops: Vec<WindowNumber>,
    known: &mut BTreeMap<WindowNumber, WindowFacts>,
) -> Result<BTreeMap<WindowNumber, WindowNumber>, ServerError> {
    let mut held = BTreeMap::new();
    let mut level: Vec<(WindowNumber, WindowNumber)> = tops.iter().map(|top| (*top, *top)).collect();
    for _ in 0..MAX_DEPTH {
        let asked: Vec<_> = level.iter().map(|(at, _)| questions.tree(*at)).collect::<Result<_, _>>()?;
        let mut children = Vec::new();
        for ((_, top), answer) in level.iter().zip(asked) {
            let tree = gone(answer.reply().map_err(ServerError::from))?;
            children.extend(tree.into_iter().flat_map(|tree| tree.children).map(|child| (child, *top)));
        }
        if children.is_empty() {
            break;
        }
        if known.len() + children.len() > MAX_WINDOWS {
            return Err(too_many(server));
        }
        tell(server, questions, children.iter().map(|(child, _)| child), known)?;
        let (bare, named): (Vec<_>, Vec<_>) =
            children.into_iter().partition(|(child, _)| known.get(child).is_none_or(WindowFacts::is_bare));
        held.extend(named);
        level = bare;
    }
    Ok(held)
}

/// Reads which processes the server's clients are: it has it from the system, not from them.
fn read_pids(answer: Option<Answer<'_, QueryClientIdsReply>>) -> Result<BTreeMap<u32, u32>, ServerError> {
    let Some(answer) = answer else { return Ok(BTreeMap::new()) };
    let ids = gone(answer.reply().map_err(ServerError::from))?.map(|reply| reply.ids).unwrap_or_default();
    Ok(ids
        .into_iter()
        .filter_map(|id| Some((id.spec.client, id.value.first().copied().filter(|pid| *pid > 0)?)))
        .collect())
}
