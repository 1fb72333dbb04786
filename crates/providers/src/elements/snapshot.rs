//! What was seen of a window at one moment: its elements with ids, in reading order.

use std::collections::{HashMap, HashSet};

use bailiwick_contract::id;
use bailiwick_platform::accessibility::{
    Ability, Element, ElementSource, ElementTree, Role, RuntimeId, State,
};
use bailiwick_platform::screen::{Rect, Window};

use super::identity::{Identity, chain, identify, is_out_of_view, shows};
use super::lines::{FIELD, quoted};
use super::scene::{SceneError, WindowScene};

/// What is left of a snapshot: enough to find its elements again. No value is in it.
#[derive(Debug, Clone)]
pub struct Snapshot {
    /// Its id, which nobody can guess.
    pub id: String,
    /// The id of the window.
    pub window: String,
    /// The process of the window.
    pub pid: Option<u32>,
    /// The element of each id.
    pub elements: HashMap<String, Identity>,
}

impl Snapshot {
    /// Creates the snapshot of elements of a window.
    pub fn new(window: &Window, elements: HashMap<String, Identity>) -> Self {
        let id = id::new_id().to_lowercase();
        // The end of an id is random, its beginning is a time.
        let id = format!("s_{}", &id[id.len() - 10..]);
        Self { id, window: window.id.clone(), pid: window.pid, elements }
    }
}

/// What was seen of one element.
#[derive(Debug, Clone)]
pub struct ListedElement {
    /// Its id in the snapshot.
    pub id: String,
    /// Its place in the tree.
    pub at: usize,
    /// What it is called, on its own or by the element that labels it.
    pub name: String,
    /// What it contains, ready to be shown; never of a secure field.
    pub value: Option<String>,
    /// Where it is.
    pub place: Option<Rect>,
}

/// Lines that differ by less than this, in pixels, are one to a reader.
const ROW: i32 = 10;

/// Which elements of a window are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum View {
    /// Those that show.
    Shown,
    /// Those, too, that show once the window is scrolled.
    Whole,
}

/// Lists what a reader of the window sees, in reading order, and gives each an id. No more than `most`; whether there are
/// more is returned too.
///
/// # Errors
/// What the program answers.
pub fn see(
    source: &dyn ElementSource,
    scene: &WindowScene,
    view: View,
    most: usize,
    is_wanted: &dyn Fn(&Element, &str) -> bool,
) -> Result<(Snapshot, Vec<ListedElement>, bool), SceneError> {
    let (tree, window) = (&scene.tree, &scene.window);
    let worth: Vec<usize> = (1..tree.elements.len()).filter(|at| is_worth_showing(tree, *at, view)).collect();
    let lists = lists_of_combos(tree);
    let asked: Vec<usize> = worth.iter().chain(&lists).copied().collect();
    let mut places = source.bounds(&window.display, tree, &asked)?;
    let has_size = |place: &Rect| place.width > 1 && place.height > 1;
    let of_lists = places.split_off(worth.len());
    // Some toolkits say of the items of a list that is closed that they show.
    let closed: HashSet<usize> = lists
        .into_iter()
        .zip(of_lists)
        .filter(|(_, place)| !place.is_some_and(|it| has_size(&it)))
        .map(|(at, _)| at)
        .collect();
    let scrolled = scrolled(tree);
    let mut placed: Vec<(usize, Option<Rect>)> = worth
        .into_iter()
        .zip(places)
        .map(|(at, place)| (at, place.filter(has_size)))
        .filter(|(at, _)| !chain(tree, *at).any(|it| closed.contains(&it)))
        // Many programs do not say where that is which is scrolled out of view.
        .filter(|(at, place)| {
            place.is_some()
                || tree.elements[*at].states.has(State::Unplaced)
                || (!shows(tree, *at) && chain(tree, *at).any(|it| scrolled.contains(&it)))
        })
        .collect();
    placed.sort_by_key(|(at, place)| (place.map_or((i32::MAX, 0), |it| (it.y.div_euclid(ROW), it.x)), *at));
    let names = names(source, window, tree, &placed)?;
    let mut listed: Vec<(usize, Option<Rect>, String)> =
        placed.into_iter().zip(names).map(|((at, place), name)| (at, place, name)).collect();
    // What labels a field is said with the field: some toolkits name the field so, too.
    let said: Vec<String> = listed
        .iter()
        .filter(|(at, _, name)| {
            let element = &tree.elements[*at];
            !name.is_empty() && (element.name.is_empty() || is_field(element))
        })
        .map(|(_, _, name)| name.clone())
        .collect();
    listed.retain(|(at, _, name)| {
        let element = &tree.elements[*at];
        let is_said = element.role == Role::Label && said.contains(name);
        !is_said && is_wanted(element, name)
    });
    let is_cut = listed.len() > most;
    listed.truncate(most);
    let values = values(source, window, tree, &listed)?;
    let mut counts: HashMap<char, usize> = HashMap::new();
    let mut elements = HashMap::new();
    let mut seen = Vec::new();
    for ((at, place, name), value) in listed.into_iter().zip(values) {
        let letter = tree.elements[at].role.letter();
        let count = counts.entry(letter).or_default();
        *count += 1;
        let id = format!("{letter}{count}");
        elements.insert(id.clone(), identify(tree, at));
        seen.push(ListedElement { id, at, name, value, place });
    }
    let snapshot = Snapshot::new(window, elements);
    Ok((snapshot, seen, is_cut))
}

/// Returns the lists of combo boxes that are said to show and to be at a place.
fn lists_of_combos(tree: &ElementTree) -> Vec<usize> {
    let is_list = |at: &usize| {
        let element = &tree.elements[*at];
        element.role == Role::List
            && !element.states.has(State::Unplaced)
            && chain(tree, *at).skip(1).any(|outer| tree.elements[outer].role == Role::ComboBox)
    };
    (1..tree.elements.len()).filter(is_list).collect()
}

/// Returns what has scroll bars.
fn scrolled(tree: &ElementTree) -> HashSet<usize> {
    let bars =
        tree.elements.iter().filter(|it| it.role == Role::ScrollBar && it.abilities.has(Ability::Number));
    bars.filter_map(|bar| bar.parent).collect()
}

/// Returns whether an element says something or can be used.
fn is_worth_showing(tree: &ElementTree, at: usize, view: View) -> bool {
    let element = &tree.elements[at];
    let is_in_view = shows(tree, at) || (view == View::Whole && is_out_of_view(tree, at));
    if !is_in_view || !element.abilities.has(Ability::Place) {
        return false;
    }
    if element.role.is_container() || matches!(element.role, Role::ScrollBar | Role::Other) {
        return false;
    }
    let is_text = matches!(element.role, Role::Label | Role::Heading | Role::Image);
    // Some toolkits put the words of a button into the button again.
    let repeats = element.parent.is_some_and(|parent| {
        let parent = &tree.elements[parent];
        !parent.role.is_container() && parent.name == element.name
    });
    if is_text { !element.name.trim().is_empty() && !repeats } else { true }
}

/// Returns what elements are called: those without a name by what labels them.
fn names(
    source: &dyn ElementSource,
    window: &Window,
    tree: &ElementTree,
    placed: &[(usize, Option<Rect>)],
) -> Result<Vec<String>, SceneError> {
    let nameless: Vec<usize> =
        placed.iter().map(|(at, _)| *at).filter(|at| tree.elements[*at].name.trim().is_empty()).collect();
    let ids: Vec<RuntimeId> = nameless.iter().map(|at| tree.elements[*at].id.clone()).collect();
    let labels = if ids.is_empty() { Vec::new() } else { source.labels(&window.display, &ids)? };
    let of_id: HashMap<&RuntimeId, &Element> = tree.elements.iter().map(|it| (&it.id, it)).collect();
    let labels: HashMap<usize, String> = nameless
        .into_iter()
        .zip(labels)
        .filter_map(|(at, label)| Some((at, of_id.get(&label?)?.name.clone())))
        .collect();
    let name = |at: &usize| labels.get(at).unwrap_or(&tree.elements[*at].name).trim().to_owned();
    Ok(placed.iter().map(|(at, _)| name(at)).collect())
}

/// Reads what elements contain. A secure field is not asked.
fn values(
    source: &dyn ElementSource,
    window: &Window,
    tree: &ElementTree,
    listed: &[(usize, Option<Rect>, String)],
) -> Result<Vec<Option<String>>, SceneError> {
    let of = |is: &dyn Fn(&Element) -> bool| -> Vec<usize> {
        listed.iter().map(|(at, ..)| *at).filter(|at| is(&tree.elements[*at])).collect()
    };
    let ids =
        |all: &[usize]| -> Vec<RuntimeId> { all.iter().map(|at| tree.elements[*at].id.clone()).collect() };
    let (texts, numbers) = (of(&has_text), of(&has_number));
    let mut values: HashMap<usize, String> = HashMap::new();
    if !texts.is_empty() {
        let read = source.texts(&window.display, &ids(&texts), FIELD + 1)?;
        values.extend(texts.iter().zip(read).filter_map(|(at, text)| Some((*at, quoted(&text?)))));
    }
    if !numbers.is_empty() {
        let read = source.numbers(&window.display, &ids(&numbers))?;
        values.extend(numbers.iter().zip(read).filter_map(|(at, number)| Some((*at, number?.to_string()))));
    }
    Ok(listed.iter().map(|(at, ..)| values.remove(at)).collect())
}

/// Returns whether an element has a text that may be read: no secure field has.
pub fn has_text(element: &Element) -> bool {
    let is_field = element.role == Role::TextField
        || (element.role == Role::ComboBox && element.states.has(State::Editable));
    is_field && element.abilities.has(Ability::Text)
}

/// Returns whether an element is one that labels stand beside.
const fn is_field(element: &Element) -> bool {
    matches!(
        element.role,
        Role::TextField | Role::PasswordField | Role::ComboBox | Role::Slider | Role::SpinButton
    )
}

/// Returns whether an element has a number.
pub fn has_number(element: &Element) -> bool {
    matches!(element.role, Role::Slider | Role::SpinButton | Role::ProgressBar)
        && element.abilities.has(Ability::Number)
}
