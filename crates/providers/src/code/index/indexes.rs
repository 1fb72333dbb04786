//! The indexes of one service: made at the first question, let go when nobody has asked for a while.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use sha2::{Digest, Sha256};

use crate::parser::ParserPool;
use crate::search::Globs;
use bailiwick_contract::{Cancel, Failure, hex};
use bailiwick_policy::PermittedPath;

use super::super::Kind;
use super::hit::SymbolHit;
use super::look::lock;
use super::question::{Match, SymbolQuery, WantedName};
use super::root::{IndexStatus, RootIndex};

/// How long an index stays in memory that nobody asks.
const HELD_FOR: Duration = Duration::from_secs(300);
/// How often that is checked.
const PAUSE: Duration = Duration::from_secs(15);
/// How long a question waits for files to be read before it answers from what is known.
const PATIENCE: Duration = Duration::from_secs(10);
/// How many candidates are read from their files at a time.
const AT_A_TIME: usize = 100;
/// How many names are told that are like one that was not found.
const MAX_NEAREST: usize = 5;

/// The indexes of one service.
pub struct SymbolIndexes {
    folder: PathBuf,
    parsers: Arc<ParserPool>,
    open: Arc<Mutex<OpenIndexes>>,
}

#[derive(Default)]
struct OpenIndexes {
    indexes: Vec<Arc<RootIndex>>,
    /// Its end wakes the thread that lets indexes go.
    caretaker: Option<Sender<()>>,
}

/// What an index answers.
#[derive(Debug)]
pub struct Answer {
    /// The definitions, best first, as their files have them now, each with its place in the whole order.
    pub shown: Vec<(usize, SymbolHit)>,
    /// How many names fit in all, as the index has them.
    pub total: usize,
    /// How many results come before the next one that was not looked at; `None` if there are none.
    pub next: Option<usize>,
    /// What the answer rests on.
    pub standing: IndexStatus,
}

/// The definitions of a name.
#[derive(Debug)]
pub struct NameDefinitions {
    /// The first of them, a type before its members and a body before a declaration.
    pub shown: Vec<SymbolHit>,
    /// How many there are in all, as the index has them.
    pub total: usize,
    /// Where there are none: names that are like it.
    pub nearest: Vec<String>,
    /// What the answer rests on.
    pub standing: IndexStatus,
}

impl SymbolIndexes {
    /// Finds the indexes in Bailiwick's state folder. Nothing is read or made before the first question.
    pub fn below(state: &Path, parsers: Arc<ParserPool>) -> Self {
        Self { folder: state.join("code"), parsers, open: Arc::default() }
    }

    /// Answers a question about a folder, and all beneath it, from the index of its root.
    ///
    /// Waits 10 seconds at most for files to be read; reading then continues, and the answer says that it is not
    /// complete.
    ///
    /// # Errors
    /// As [`PermittedPath::open_dir`] for the root; `cancelled`, `timeout`.
    pub fn ask(
        &self,
        scope: &str,
        folder: &PermittedPath,
        query: &SymbolQuery,
        cancel: &Cancel,
    ) -> Result<Answer, Failure> {
        let mut root = folder.clone();
        while let Some(above) = root.parent() {
            root = above;
        }
        let dir = root.open_dir_itself()?;
        let index = self.index(scope, dir.id());
        // Letters in order are no text to look for.
        let first = if query.matching == Match::Fuzzy { "" } else { &query.name.name };
        let mut standing = index.refresh(&root, &dir, first, PATIENCE, cancel)?;
        let mut page = index.find(folder.rel().as_bytes(), query);
        let mut complete = standing.complete || (standing.named && !page.fuzzy);
        if !complete && standing.named {
            // The text itself is nowhere: only all names tell which are like it. What was compared stays so, also where
            // the rest of that look was over by now.
            let all = index.refresh(&root, &dir, "", PATIENCE, cancel)?;
            standing = IndexStatus { checked: standing.checked, ..all };
            page = index.find(folder.rel().as_bytes(), query);
            complete = standing.complete;
        }
        standing.complete = complete;
        let (mut shown, mut looked_at) = (Vec::new(), 0);
        for part in page.candidates.chunks(AT_A_TIME) {
            let part_shown =
                index.sources.show(&root, part, &self.parsers, cancel)?.into_iter().zip(looked_at..);
            shown.extend(part_shown.filter_map(|(it, at)| Some((query.offset + at, it?))));
            looked_at += part.len();
        }
        let next = query.offset + looked_at;
        Ok(Answer { shown, total: page.total, next: (next < page.total).then_some(next), standing })
    }

    /// Finds the definitions of a name, `Type.name` or `Type::name` beneath a folder, or in a file.
    ///
    /// # Errors
    /// As [`SymbolIndexes::ask`].
    pub fn find_definitions(
        &self,
        scope: &str,
        folder: &PermittedPath,
        name: &WantedName,
        kinds: &[Kind],
        max: usize,
        cancel: &Cancel,
    ) -> Result<NameDefinitions, Failure> {
        let mut query = SymbolQuery {
            name: name.clone(),
            matching: Match::Exact,
            kinds: kinds.to_vec(),
            languages: Vec::new(),
            globs: Globs::compile("input.name", &[], false, b"")?,
            offset: 0,
            keep: max,
        };
        let answer = self.ask(scope, folder, &query, cancel)?;
        let mut nearest: Vec<String> = Vec::new();
        if answer.shown.is_empty() {
            // Perhaps it is in something else, or spelt in another way.
            query.name.container = None;
            query.matching = Match::Fuzzy;
            query.keep = MAX_NEAREST * 4;
            for (_, like) in self.ask(scope, folder, &query, cancel)?.shown {
                let mut name = like.name;
                if let Some(container) = like.container {
                    name = format!("{container}.{name}");
                }
                if nearest.len() < MAX_NEAREST && !nearest.contains(&name) {
                    nearest.push(name);
                }
            }
        }
        let shown = answer.shown.into_iter().map(|(_, shown)| shown).collect();
        Ok(NameDefinitions { shown, total: answer.total, nearest, standing: answer.standing })
    }

    fn index(&self, scope: &str, id: bailiwick_platform::fs::FileId) -> Arc<RootIndex> {
        let mut hash = Sha256::new();
        hash.update(id.device.to_le_bytes());
        hash.update(id.inode.to_le_bytes());
        hash.update(scope);
        let key = hex(&hash.finalize()[..16]);
        let mut open = lock(&self.open);
        if let Some(index) = open.indexes.iter().find(|index| index.key == key) {
            return Arc::clone(index);
        }
        let path = self.folder.join(&key);
        let index = Arc::new(RootIndex::new(key, id, path, Arc::clone(&self.parsers)));
        open.indexes.push(Arc::clone(&index));
        if open.caretaker.is_none() {
            let (sender, receiver) = channel();
            let indexes = Arc::downgrade(&self.open);
            let started = std::thread::Builder::new()
                .name("code-indexes".to_owned())
                .spawn(move || take_care(&indexes, &receiver));
            // Without it, indexes stay in memory.
            open.caretaker = started.is_ok().then_some(sender);
        }
        index
    }
}

impl Drop for SymbolIndexes {
    fn drop(&mut self) {
        let mut open = lock(&self.open);
        open.caretaker = None;
        open.indexes.iter().for_each(|index| index.stop());
    }
}

/// Lets go of indexes that nobody asks, and ends with the last one.
fn take_care(open: &Weak<Mutex<OpenIndexes>>, end: &Receiver<()>) {
    while end.recv_timeout(PAUSE) == Err(RecvTimeoutError::Timeout) {
        let Some(open) = open.upgrade() else { return };
        let indexes = lock(&open).indexes.clone();
        for index in indexes {
            let idle = index.is_idle(HELD_FOR);
            index.write(idle);
            if idle {
                let mut open = lock(&open);
                // Asked again meanwhile, or held by a question that has just come.
                open.indexes.retain(|other| {
                    !Arc::ptr_eq(other, &index) || Arc::strong_count(other) > 2 || !index.is_idle(HELD_FOR)
                });
            }
        }
        let mut open = lock(&open);
        if open.indexes.is_empty() {
            open.caretaker = None;
            return;
        }
    }
}
