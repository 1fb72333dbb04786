//! Reading the elements of a window: all of its program's at once where the program keeps a cache of them, else one level
//! after the other.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::time::{sleep, timeout_at};

use super::bus::{Bus, ProgramError, Reference, of_each};
use super::frame::{self, Mark};
use super::gtk4;
use super::roles::{abilities, role, states};
use crate::accessibility::{
    AccessibilityError, Element, ElementTree, Placement, Role, RuntimeId, State, States,
};
use crate::screen::{Rect, Window};

/// How long all of a window may take.
pub(super) const WALK: Duration = Duration::from_secs(5);

/// More elements than this are not read.
const MOST: usize = 10_000;

/// A window's elements are at most so many levels deep.
const DEPTH: usize = 200;

/// The longest name, in characters.
const NAME: usize = 1_000;

/// Of children that are made only when they are asked for, no more are asked for.
const MOST_MADE: i32 = 300;

/// How long is waited between two questions to a program that has only just learnt that it is asked.
const SETTLING: Duration = Duration::from_millis(20);

/// How often such a program is asked.
const ATTEMPTS: usize = 5;

/// An element as `Cache.GetItems` lists it: itself, its program, its parent, its place in that, how many children,
/// interfaces, name, role, description, states.
type Item = (Reference, Reference, Reference, i32, i32, Vec<String>, String, u32, String, Vec<u32>);

/// An element that was read, and not put in its place yet.
#[derive(Debug)]
pub(super) struct UnplacedElement {
    pub(super) element: Element,
    place: i32,
    children: i32,
}

/// The elements of a program, by the element that they are in.
#[derive(Debug, Default)]
pub(super) struct ChildrenByParent {
    of: HashMap<String, Vec<UnplacedElement>>,
}

/// Reads the elements of a window.
pub(super) async fn tree(
    bus: Arc<Bus>,
    window: Window,
    mark: Mark,
) -> Result<ElementTree, AccessibilityError> {
    let read = tree_of(&bus, &window, mark).await;
    read.map_err(|error| match error {
        // The program has ended meanwhile: its window has no elements any more, or is about to go.
        AccessibilityError::Program(ProgramError::Gone) => AccessibilityError::NoElements(window.id),
        error => error,
    })
}

async fn tree_of(bus: &Arc<Bus>, window: &Window, mark: Mark) -> Result<ElementTree, AccessibilityError> {
    let deadline = Instant::now() + WALK - Duration::from_millis(250);
    let pid = window.pid.ok_or_else(|| AccessibilityError::NoElements(window.id.clone()))?;
    let program = frame::program(bus, pid).await?;
    let program = program.ok_or_else(|| AccessibilityError::NoElements(window.id.clone()))?;
    let root = RuntimeId { program: program.clone(), path: ROOT.to_owned() };
    let (children, is_gtk4) = tokio::join!(cached(bus, &program), bus.is_gtk4(&root));
    let mut children = children?;
    // Of Qt: it makes menus before they open, and says that they do not show.
    let has_cache = !children.of.is_empty();
    if !children.of.contains_key(ROOT) {
        let (tops, is_all) = level(bus, vec![root], &mut children, deadline).await?;
        if !is_all {
            return Err(AccessibilityError::Program(ProgramError::Unresponsive));
        }
        children.of.extend(tops);
    }
    let tops = children.of.remove(ROOT).unwrap_or_default();
    let top = frame::find(bus, tops, window, mark).await?;
    let place = frame::extents(bus, vec![top.element.id.clone()]).await.pop();
    let place = place.and_then(|it| it.ok().flatten());
    let placement = frame::placement(place, window, is_gtk4);
    let mut tree =
        ElementTree { pid, elements: Vec::new(), complete: true, placement, delay: Duration::ZERO };
    let is_read = |role: Role, states: States| {
        // What does not show may be left out: menus that are not open.
        states.has(if is_gtk4 { State::Visible } else { State::Showing })
            || !has_cache && matches!(role, Role::Menu | Role::MenuItem)
    };
    grow(bus, top, children, &mut tree, &is_read, deadline).await?;
    if is_gtk4 {
        gtk4::correct(bus, &mut tree, place, deadline).await?;
    } else if placement != Placement::DISPLAY {
        find_pages_in_pixels(bus, &mut tree, window, place, deadline).await;
    }
    Ok(tree)
}

/// Finds the pages that count in pixels of the display in a window that does not: they are not within the window as it counts.
async fn find_pages_in_pixels(
    bus: &Arc<Bus>,
    tree: &mut ElementTree,
    window: &Window,
    told: Option<Rect>,
    deadline: Instant,
) {
    let pages = tree.elements.iter().enumerate().filter(|(_, it)| it.role == Role::Document);
    let (pages, ids): (Vec<usize>, Vec<RuntimeId>) = pages.map(|(at, it)| (at, it.id.clone())).unzip();
    let Some(places) = in_time(deadline, frame::extents(bus, ids)).await else {
        tree.complete = false;
        return;
    };
    for (page, place) in pages.into_iter().zip(places) {
        let place = place.ok().flatten().unwrap_or_default();
        let is_in = |outer: Rect| outer.contains(&place);
        if !told.is_some_and(is_in) && is_in(window.frame) {
            tree.elements[page].states = tree.elements[page].states.with(State::InPixels);
        }
    }
    for at in 1..tree.elements.len() {
        let parent = tree.elements[at].parent.map(|parent| tree.elements[parent].states);
        if parent.is_some_and(|states| states.has(State::InPixels)) {
            tree.elements[at].states = tree.elements[at].states.with(State::InPixels);
        }
    }
}

/// The path of a program's own element.
pub(super) const ROOT: &str = "/org/a11y/atspi/accessible/root";

/// Asks a program for its cache. Nothing, if it keeps none.
async fn cached(bus: &Bus, program: &str) -> Result<ChildrenByParent, AccessibilityError> {
    for attempt in 0..ATTEMPTS {
        let asked = bus
            .connection
            .call::<_, Vec<Item>>(program, "/org/a11y/atspi/cache", "org.a11y.atspi.Cache", "GetItems", &())
            .await;
        match asked {
            Ok(items) if items.len() > MOST => break,
            Ok(items) => return Ok(by_parent(program, items)),
            // It keeps one only since the bus has reported that somebody asks.
            Err(ProgramError::Unable) if attempt + 1 < ATTEMPTS => sleep(SETTLING).await,
            Err(ProgramError::Unable | ProgramError::Refused(_)) => break,
            Err(error) => return Err(error.into()),
        }
    }
    Ok(ChildrenByParent::default())
}

/// Sorts what a program lists. An element of another program, or one that is said to be in one, is not the program's.
fn by_parent(program: &str, items: Vec<Item>) -> ChildrenByParent {
    let mut children = ChildrenByParent::default();
    for item in items {
        if item.0.0 == program && item.2.0 == program {
            let parent = item.2.1.to_string();
            children.of.entry(parent).or_default().push(loose(item));
        }
    }
    children
}

fn loose(item: Item) -> UnplacedElement {
    let ((program, path), _, _, place, children, interfaces, name, number, _, words) = item;
    let element = Element {
        id: RuntimeId { program, path: path.to_string() },
        parent: None,
        role: role(number),
        name: cut(&name),
        states: states(&words),
        abilities: abilities(interfaces.iter().map(String::as_str)),
    };
    UnplacedElement { element, place, children }
}

fn cut(name: &str) -> String {
    name.chars().take(NAME).collect()
}

/// Reads the children of elements, by their parents; those that the cache has are taken from there. Returns whether those
/// are all: no more are read than a window may have, and none after the deadline.
async fn level(
    bus: &Arc<Bus>,
    parents: Vec<RuntimeId>,
    cache: &mut ChildrenByParent,
    deadline: Instant,
) -> Result<(HashMap<String, Vec<UnplacedElement>>, bool), AccessibilityError> {
    let lists = of_each(parents, |parent| {
        let bus = Arc::clone(bus);
        async move {
            let asked = bus.ask::<_, Vec<Reference>>(&parent, "Accessible", "GetChildren", &());
            let list = in_time(deadline, asked).await;
            (parent, list)
        }
    })
    .await;
    let (mut wanted, mut is_all) = (Vec::new(), true);
    let mut children: HashMap<String, Vec<UnplacedElement>> = HashMap::new();
    for (parent, list) in lists {
        match list {
            None => is_all = false,
            Some(Ok(list)) if list.is_empty() => {}
            Some(Ok(list)) => {
                let cached = cache.of.remove(&parent.path).unwrap_or_default();
                let mut cached: HashMap<String, UnplacedElement> =
                    cached.into_iter().map(|it| (it.element.id.path.clone(), it)).collect();
                for (place, (program, path)) in list.into_iter().enumerate() {
                    if wanted.len() >= MOST {
                        is_all = false;
                        break;
                    }
                    // An element of another program, such as a page in a process of its own, is not the window's.
                    if program != parent.program {
                        continue;
                    }
                    let place = i32::try_from(place).unwrap_or(i32::MAX);
                    match cached.remove(path.as_str()) {
                        Some(known) => children
                            .entry(parent.path.clone())
                            .or_default()
                            .push(UnplacedElement { place, ..known }),
                        None => {
                            let id = RuntimeId { program, path: path.to_string() };
                            wanted.push((parent.path.clone(), place, id));
                        }
                    }
                }
            }
            Some(Err(ProgramError::Gone | ProgramError::NoReply | ProgramError::Unable)) => {}
            Some(Err(error)) => return Err(error.into()),
        }
    }
    let read = of_each(wanted, |(parent, place, id)| {
        let bus = Arc::clone(bus);
        async move { (parent, in_time(deadline, one(&bus, id, place)).await) }
    })
    .await;
    for (parent, element) in read {
        match element {
            None => is_all = false,
            Some(Ok(element)) => children.entry(parent).or_default().push(element),
            Some(Err(ProgramError::Gone | ProgramError::NoReply | ProgramError::Unable)) => {}
            Some(Err(error)) => return Err(error.into()),
        }
    }
    Ok((children, is_all))
}

/// Waits for an answer until a moment. After it nothing is asked.
pub(super) async fn in_time<T>(deadline: Instant, asked: impl Future<Output = T>) -> Option<T> {
    if Instant::now() >= deadline {
        return None;
    }
    timeout_at(deadline.into(), asked).await.ok()
}

/// Reads one element.
async fn one(bus: &Bus, id: RuntimeId, place: i32) -> Result<UnplacedElement, ProgramError> {
    let (name, number, words, interfaces, children) = tokio::join!(
        bus.property::<String>(&id, "Accessible", "Name"),
        bus.ask::<_, u32>(&id, "Accessible", "GetRole", &()),
        bus.ask::<_, Vec<u32>>(&id, "Accessible", "GetState", &()),
        bus.ask::<_, Vec<String>>(&id, "Accessible", "GetInterfaces", &()),
        bus.property::<i32>(&id, "Accessible", "ChildCount"),
    );
    let element = Element {
        parent: None,
        role: role(number?),
        name: cut(&name?),
        states: states(&words?),
        abilities: abilities(interfaces?.iter().map(String::as_str)),
        id,
    };
    Ok(UnplacedElement { element, place, children: children? })
}

/// Puts the elements of a window in their places, the window first, and reads those that the cache has left out.
async fn grow(
    bus: &Arc<Bus>,
    top: UnplacedElement,
    mut children: ChildrenByParent,
    tree: &mut ElementTree,
    is_read: &(dyn Fn(Role, States) -> bool + Sync),
    deadline: Instant,
) -> Result<(), AccessibilityError> {
    let mut known: HashSet<String> = HashSet::from([top.element.id.path.clone()]);
    let mut round = vec![(0_usize, top.children, top.element.states)];
    tree.elements.push(top.element);
    for _ in 0..DEPTH {
        if round.is_empty() {
            return Ok(());
        }
        count_made(bus, tree, &mut round, deadline).await?;
        let path = |tree: &ElementTree, at: usize| tree.elements[at].id.path.clone();
        let missing: Vec<RuntimeId> = round
            .iter()
            .filter(|(at, count, states)| {
                let cached = children.of.get(&path(tree, *at)).map_or(&[][..], Vec::as_slice);
                let there = cached.len();
                let is_short = *count < 0 || usize::try_from(*count).is_ok_and(|count| count > there);
                // Of some of those that do not show a cache has no order.
                let element = &tree.elements[*at];
                // The items of a combo box can be selected while it is closed.
                let is_in_combo =
                    element.parent.is_some_and(|outer| tree.elements[outer].role == Role::ComboBox);
                let is_wanted = is_in_combo || is_read(element.role, *states);
                let is_read = is_short && is_wanted || has_no_order(cached);
                is_read && !is_too_large(*count, *states)
            })
            .map(|(at, ..)| tree.elements[*at].id.clone())
            .collect();
        if !missing.is_empty() {
            let (read, is_all) = level(bus, missing, &mut children, deadline).await?;
            children.of.extend(read);
            tree.complete &= is_all;
        }
        let mut next = Vec::new();
        for (at, count, states) in round {
            if is_too_large(count, states) {
                tree.complete = false;
            }
            let mut inner = children.of.remove(&path(tree, at)).unwrap_or_default();
            inner.sort_by_key(|it| it.place);
            for child in inner {
                if tree.elements.len() >= MOST {
                    tree.complete = false;
                    return Ok(());
                }
                // A program that lists an element twice, or one in itself, is not followed.
                if !known.insert(child.element.id.path.clone()) {
                    continue;
                }
                next.push((tree.elements.len(), child.children, child.element.states));
                tree.elements.push(Element { parent: Some(at), ..child.element });
            }
        }
        round = next;
    }
    tree.complete &= round.is_empty();
    Ok(())
}

/// Asks how many children the elements of a round have that make them only when they are asked for: a cache does not say.
async fn count_made(
    bus: &Arc<Bus>,
    tree: &ElementTree,
    round: &mut [(usize, i32, States)],
    deadline: Instant,
) -> Result<(), AccessibilityError> {
    let unknown: Vec<usize> = (0..round.len())
        .filter(|it| round[*it].1 < 0 && round[*it].2.has(State::ManagesDescendants))
        .collect();
    let ids = unknown.iter().map(|it| tree.elements[round[*it].0].id.clone()).collect();
    let counts = of_each(ids, |id| {
        let bus = Arc::clone(bus);
        async move { in_time(deadline, bus.property::<i32>(&id, "Accessible", "ChildCount")).await }
    })
    .await;
    for (it, count) in unknown.into_iter().zip(counts) {
        match count {
            Some(Ok(count)) => round[it].1 = count,
            // It stays unknown, and its children unread.
            None | Some(Err(ProgramError::Gone | ProgramError::NoReply | ProgramError::Unable)) => {}
            Some(Err(error)) => return Err(error.into()),
        }
    }
    Ok(())
}

/// Returns whether two of these elements say that they are at one place.
fn has_no_order(elements: &[UnplacedElement]) -> bool {
    let mut places = HashSet::new();
    !elements.iter().all(|it| places.insert(it.place))
}

/// Returns whether an element makes its children only when they are asked for, and has too many to ask.
fn is_too_large(count: i32, states: States) -> bool {
    states.has(State::ManagesDescendants) && !(0..=MOST_MADE).contains(&count)
}

impl UnplacedElement {
    /// Returns whether it can be a window.
    pub(super) fn is_window(&self) -> bool {
        matches!(self.element.role, Role::Window | Role::Dialog)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(program: &str, path: &str, parent: (&str, &str)) -> Item {
        let reference = |program: &str, path: &str| -> Reference {
            (program.to_owned(), path.try_into().expect("a path"))
        };
        let (element, parent) = (reference(program, path), reference(parent.0, parent.1));
        let application = reference(program, ROOT);
        (element, application, parent, 0, 0, Vec::new(), "Pay".to_owned(), 43, String::new(), Vec::new())
    }

    #[tokio::test]
    async fn after_the_deadline_nothing_is_asked_and_no_answer_is_waited_for() {
        let silent = std::future::pending::<()>();
        assert_eq!(in_time(Instant::now() + Duration::from_millis(1), silent).await, None);
        let asked = async { panic!("it is asked after the deadline") };
        assert_eq!(in_time::<()>(Instant::now(), asked).await, None);
        assert_eq!(in_time(Instant::now() + WALK, async { 1 }).await, Some(1));
    }

    #[test]
    fn what_a_program_lists_of_another_is_not_its_own() {
        let items = vec![
            item(":1.5", "/own", (":1.5", ROOT)),
            item(":1.9", "/stolen", (":1.5", ROOT)),
            item(":1.9", "/stolen", (":1.5", "/own")),
            item(":1.5", "/planted", (":1.9", ROOT)),
        ];
        let children = by_parent(":1.5", items);
        let listed: Vec<&str> =
            children.of.values().flatten().map(|it| it.element.id.path.as_str()).collect();
        assert_eq!(listed, ["/own"]);
        assert!(children.of.contains_key(ROOT));
    }
}
