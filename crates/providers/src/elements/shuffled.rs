//! Windows whose trees change as those of programs do, for tests.

use bailiwick_platform::accessibility::{
    Abilities, Element, ElementTree, Placement, Role, RuntimeId, State, States,
};

/// A window in which each thing that a user would mean has a key, whatever element shows it.
#[derive(Debug, Clone)]
pub(super) struct World {
    /// The rows of a list: the element of each, and what it shows at the time.
    pub rows: Vec<(u32, Row)>,
    /// Whether the elements of all rows are in the list itself, as in many tables.
    pub is_flat: bool,
    /// Buttons beside the list.
    pub buttons: Vec<(u32, Button)>,
    pub next: u32,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Row {
    pub key: u32,
    pub title: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Button {
    pub key: u32,
    name: String,
    is_shown: bool,
}

/// What a user means: a button of a row, or one beside the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Meaning {
    OfRow(u32, &'static str),
    Beside(u32),
    Nothing,
}

pub(super) const VERBS: [&str; 2] = ["Open", "Delete"];
const NAMES: [&str; 5] = ["Save", "Close", "OK", "Cancel", "Save"];

pub(super) struct Random(pub u64);

impl Random {
    pub fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let high = usize::try_from(self.0 >> 33).expect("31 bits");
        high % bound.max(1)
    }
}

pub(super) fn element(path: u32, parent: usize, role: Role, name: &str) -> Element {
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
    pub fn new(random: &mut Random) -> Self {
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
    pub fn tree(&self) -> (ElementTree, Vec<Meaning>) {
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
        (
            ElementTree {
                pid: 1,
                elements,
                complete: true,
                placement: Placement::DISPLAY,
                delay: std::time::Duration::ZERO,
            },
            meanings,
        )
    }

    /// Changes something, as programs do.
    pub fn change(&mut self, random: &mut Random) {
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
