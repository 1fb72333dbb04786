//! Trees that change between seeing and acting: never another element than the one that was seen.

use bailiwick_platform::accessibility::{Abilities, Element, States};

use super::*;

/// A window in which each thing that a user would mean has a key, whatever element shows it.
#[derive(Debug, Clone)]
struct World {
    /// The rows of a list: the element of each, and what it shows at the time.
    rows: Vec<(u32, Row)>,
    /// Whether the elements of all rows are in the list itself, as in many tables.
    is_flat: bool,
    /// Buttons beside the list.
    buttons: Vec<(u32, Button)>,
    next: u32,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Row {
    key: u32,
    title: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Button {
    key: u32,
    name: String,
    is_shown: bool,
}

/// What a user means: a button of a row, or one beside the list.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Meaning {
    OfRow(u32, &'static str),
    Beside(u32),
    Nothing,
}

const VERBS: [&str; 2] = ["Open", "Delete"];
const NAMES: [&str; 5] = ["Save", "Close", "OK", "Cancel", "Save"];

struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let high = usize::try_from(self.0 >> 33).expect("31 bits");
        high % bound.max(1)
    }
}

fn element(path: u32, parent: usize, role: Role, name: &str) -> Element {
    let states = States::default().with(State::Showing).with(State::Enabled);
    Element {
        id: RuntimeId { program: ":1.1".to_owned(), path: path.to_string() },
        parent: Some(parent),
        role,
        name: name.to_owned(),
        states,
        abilities: Abilities::default(),
    }
}

impl World {
    fn new(random: &mut Random) -> Self {
        let mut world =
            Self { rows: Vec::new(), is_flat: random.below(2) == 0, buttons: Vec::new(), next: 100 };
        for _ in 0..2 + random.below(9) {
            world.add_row();
        }
        for name in NAMES {
            let key = world.fresh();
            let path = world.fresh();
            world.buttons.push((path, Button { key, name: name.to_owned(), is_shown: true }));
        }
        world
    }

    fn fresh(&mut self) -> u32 {
        self.next += 10;
        self.next
    }

    fn add_row(&mut self) {
        let (path, key) = (self.fresh(), self.fresh());
        self.rows.push((path, Row { key, title: format!("Item {key}") }));
    }

    /// Returns the tree, and what each of its elements means.
    fn tree(&self) -> (ElementTree, Vec<Meaning>) {
        let mut window = element(1, 0, Role::Window, "Window");
        window.parent = None;
        let mut elements = vec![window, element(2, 0, Role::List, ""), element(3, 0, Role::Group, "")];
        let mut meanings = vec![Meaning::Nothing; 3];
        for (path, row) in &self.rows {
            let at = if self.is_flat { 1 } else { elements.len() };
            if !self.is_flat {
                elements.push(element(*path, 1, Role::ListItem, ""));
                meanings.push(Meaning::Nothing);
            }
            elements.push(element(path + 1, at, Role::Label, &row.title));
            meanings.push(Meaning::Nothing);
            for (offset, verb) in (2..).zip(VERBS) {
                elements.push(element(path + offset, at, Role::Button, verb));
                meanings.push(Meaning::OfRow(row.key, verb));
            }
        }
        for (path, button) in &self.buttons {
            let mut it = element(*path, 2, Role::Button, &button.name);
            if !button.is_shown {
                it.states = States::default().with(State::Enabled);
            }
            elements.push(it);
            meanings.push(Meaning::Beside(button.key));
        }
        (ElementTree { pid: 1, elements, complete: true }, meanings)
    }

    /// Changes something, as programs do.
    fn change(&mut self, random: &mut Random) {
        let rows = self.rows.len();
        let (one, other) = (random.below(rows), random.below(rows));
        let (first, second) = (random.below(self.buttons.len()), random.below(self.buttons.len()));
        match random.below(11) {
            0 => self.add_row(),
            1 if rows > 1 => drop(self.rows.remove(one)),
            // The rows are sorted again, each with its elements.
            2 if rows > 1 => self.rows.swap(one, other),
            // The list is scrolled: the elements of a row show another.
            3 if rows > 1 => {
                let row = self.rows[one].1.clone();
                self.rows[one].1 = std::mem::replace(&mut self.rows[other].1, row);
            }
            // All rows move up into the elements of the row before.
            4 if rows > 1 => {
                for at in 1..rows {
                    self.rows[at - 1].1 = self.rows[at].1.clone();
                }
                self.rows.pop();
            }
            // Everything is made again, with other elements.
            5 => {
                for at in 0..rows {
                    self.rows[at].0 = self.fresh();
                }
            }
            6 if rows > 0 => self.rows[one].1.title = format!("Renamed {}", self.rows[one].1.key),
            7 => self.buttons.swap(first, second),
            8 => self.buttons[first].1.is_shown ^= true,
            9 => self.buttons[first].0 = self.fresh(),
            // A button becomes another: its meaning and its name change together.
            10 => {
                let key = self.fresh();
                let name = format!("New {key}");
                self.buttons[first].1 = Button { key, name, is_shown: true };
            }
            _ => {}
        }
    }
}

#[test]
fn ten_thousand_shuffled_trees_give_no_wrong_element() {
    let mut random = Random(27);
    let (mut found, mut refused) = (0, 0);
    for case in 0..10_000 {
        let mut world = World::new(&mut random);
        let (tree, meanings) = world.tree();
        let at = loop {
            let at = random.below(tree.elements.len());
            if meanings[at] != Meaning::Nothing && shows(&tree, at) {
                break at;
            }
        };
        let identity = identify(&tree, at);
        for _ in 0..1 + random.below(4) {
            world.change(&mut random);
        }
        let (now, now_meaning) = world.tree();
        match resolve(&now, &identity) {
            Some(place) => {
                assert_eq!(now_meaning[place], meanings[at], "case {case}: {identity:?} in {world:?}");
                assert!(shows(&now, place), "case {case}");
                found += 1;
            }
            None => refused += 1,
        }
    }
    // It would be no proof if everything were refused.
    assert!(found > 1_000 && refused > 500, "{found} found, {refused} refused");
}

#[test]
fn nothing_that_did_not_change_is_lost() {
    let mut random = Random(1);
    for _ in 0..200 {
        let (tree, meanings) = World::new(&mut random).tree();
        for at in (0..tree.elements.len()).filter(|at| meanings[*at] != Meaning::Nothing) {
            assert_eq!(resolve(&tree, &identify(&tree, at)), Some(at));
        }
    }
}

#[test]
fn what_is_made_again_or_says_something_else_is_not_it() {
    let save = identify(&tree_of(&[(10, "Save"), (11, "Close")]), 1);
    assert_eq!(resolve(&tree_of(&[(11, "Close"), (10, "Save")]), &save), Some(2));
    for now in [[(20, "Close"), (21, "Save")], [(10, "Save as"), (11, "Close")], [(20, "Save"), (21, "Save")]]
    {
        assert_eq!(resolve(&tree_of(&now), &save), None, "{now:?}");
    }
}

#[test]
fn in_a_flat_table_what_is_nearest_distinguishes_the_rows() {
    let table = |keys: &[u32]| {
        let mut world = World { rows: Vec::new(), is_flat: true, buttons: Vec::new(), next: 100 };
        for (path, key) in (1..).zip(keys) {
            world.rows.push((path * 10, Row { key: *key, title: format!("Item {key}") }));
        }
        world.tree()
    };
    let keys: Vec<u32> = (1..=40).collect();
    let (tree, meanings) = table(&keys);
    let at = meanings.iter().position(|it| *it == Meaning::OfRow(30, "Delete")).expect("it is there");
    let delete = identify(&tree, at);
    assert_eq!(resolve(&tree, &delete), Some(at));
    // The first rows are the same; the elements of two later ones show each other's.
    let mut sorted = keys.clone();
    sorted.swap(29, 30);
    let (now, _) = table(&sorted);
    assert_eq!(now.elements[at].id, delete.id);
    assert_eq!(resolve(&now, &delete), None);
    // A row at the end changes nothing.
    let (now, _) = table(&[&keys[..], &[41]].concat());
    assert_eq!(resolve(&now, &delete), Some(at));
}

fn tree_of(buttons: &[(u32, &str)]) -> ElementTree {
    let mut window = element(1, 0, Role::Window, "");
    window.parent = None;
    let buttons = buttons.iter().map(|(path, name)| element(*path, 0, Role::Button, name));
    ElementTree { pid: 1, elements: std::iter::once(window).chain(buttons).collect(), complete: true }
}
