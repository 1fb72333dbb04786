//! The index of one root, in memory: files by path, their definitions, and the names.

use std::collections::BTreeMap;
use std::ops::Bound;

use crate::syntax::Language;
use bailiwick_platform::fs::RelPath;
use bailiwick_policy::PathRules;

use super::super::Definitions;
use super::entry::{Container, Entry, Outcome, Stamp, Symbol};
use super::names::Names;

/// How many files are held.
const MAX_FILES: usize = 500_000;
/// How many definitions are held.
const MAX_SYMBOLS: usize = 6_000_000;

/// The definitions of the files beneath one root.
#[derive(Debug, Default)]
pub(super) struct Table {
    pub names: Names,
    pub files: BTreeMap<Box<[u8]>, Entry>,
    symbols: usize,
    changes: usize,
}

/// What was read of a file.
pub(super) struct ReadFile {
    pub stamp: Stamp,
    pub language: Option<Language>,
    pub outcome: Outcome,
    pub several_names: bool,
    pub definitions: Definitions,
}

impl Table {
    /// Returns how many definitions there are.
    pub fn symbols(&self) -> usize {
        self.symbols
    }

    /// Returns how often a file was put into it or let go.
    pub fn changes(&self) -> usize {
        self.changes
    }

    /// Returns whether a file is held in this state, and notes that it was met.
    pub fn meet(&mut self, path: &[u8], stamp: &Stamp, look: u32) -> bool {
        match self.files.get_mut(path) {
            Some(entry) if entry.stamp == *stamp => {
                entry.seen = look;
                true
            }
            Some(_) | None => false,
        }
    }

    /// Holds a file, in place of what was held of it.
    pub fn put(&mut self, path: &[u8], read: ReadFile, look: u32) {
        self.remove(path);
        if self.files.len() >= MAX_FILES {
            return;
        }
        let ReadFile { stamp, language, mut outcome, several_names, definitions } = read;
        let symbols = match self.symbols_of(&definitions) {
            Some(symbols) if self.symbols + symbols.len() <= MAX_SYMBOLS => symbols,
            Some(_) | None => {
                outcome = Outcome::NoRoom;
                Box::default()
            }
        };
        self.insert(path.into(), Entry { stamp, language, outcome, several_names, seen: look, symbols });
    }

    /// Holds an entry whose names are known.
    pub fn insert(&mut self, path: Box<[u8]>, entry: Entry) {
        self.changes += 1;
        self.symbols += entry.symbols.len();
        if let Some(old) = self.files.insert(path, entry) {
            self.symbols -= old.symbols.len();
        }
    }

    /// Lets go of a file.
    pub fn remove(&mut self, path: &[u8]) {
        if let Some(old) = self.files.remove(path) {
            self.changes += 1;
            self.symbols -= old.symbols.len();
        }
    }

    /// Goes through the files beneath a folder, in the order of their paths; an empty folder is the root, and a file
    /// stands for itself.
    pub fn beneath(&self, folder: &[u8]) -> impl Iterator<Item = (&[u8], &Entry)> {
        let is_beneath = move |path: &[u8]| {
            folder.is_empty() || path.len() == folder.len() || path.get(folder.len()) == Some(&b'/')
        };
        self.files
            .range::<[u8], _>((Bound::Included(folder), Bound::Unbounded))
            .take_while(move |(path, _)| path.starts_with(folder))
            .filter(move |(path, _)| is_beneath(path))
            .map(|(path, entry)| (&**path, entry))
    }

    /// Lets go of every file beneath a folder for which `keep` does not speak.
    pub fn retain(&mut self, folder: &[u8], keep: impl Fn(&[u8], &Entry) -> bool) {
        let gone =
            self.beneath(folder).filter(|(path, entry)| !keep(path, entry)).map(|(path, _)| path.into());
        let gone: Vec<Box<[u8]>> = gone.collect();
        gone.iter().for_each(|path| self.remove(path));
    }

    /// Lets go of what a scope's rules close.
    pub fn judge(&mut self, rules: &PathRules) {
        self.retain(b"", |path, entry| {
            let open = RelPath::parse(path)
                .is_ok_and(|path| rules.rule_for_path(&path, bailiwick_contract::Access::Search).is_none());
            open && !(entry.several_names && rules.refuses_hard_links())
        });
    }

    /// Brings definitions into the table's terms; `None` if there is no room for their names.
    fn symbols_of(&mut self, definitions: &Definitions) -> Option<Box<[Symbol]>> {
        // A definition whose name is too long is left out; what is in it then is in the file.
        let mut places: Vec<Option<u32>> = Vec::with_capacity(definitions.list.len());
        let mut symbols = Vec::with_capacity(definitions.list.len());
        for definition in &definitions.list {
            if definition.name.is_empty() || definition.name.len() > super::names::MAX_NAME_BYTES {
                places.push(None);
                continue;
            }
            let container = definition.container.and_then(|at| places.get(at as usize).copied().flatten());
            let within = match (&definition.owner, container) {
                (Some(owner), _) => self.names.intern(owner).map_or(Container::File, Container::Named),
                (None, Some(at)) => Container::Definition(at),
                (None, None) => Container::File,
            };
            places.push(u32::try_from(symbols.len()).ok());
            symbols.push(Symbol {
                name: self.names.intern(&definition.name)?,
                line: definition.name_at.line,
                within,
                kind: definition.kind,
                declared_only: definition.declared_only,
            });
        }
        Some(symbols.into())
    }
}
