//! All processes of this computer: found by scope and id, whichever service started them.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use bailiwick_contract::id::is_id;
use bailiwick_contract::{ErrorCode, Failure};
use bailiwick_platform::dirs::Dirs;
use bailiwick_platform::fs::{RetainedFolder, RetentionClock};
use bailiwick_platform::launch::Launcher;

use super::prune::LIMITS;
use super::{Facts, Process, folders};

/// The processes in Bailiwick's state folder. Several services may share it.
#[derive(Debug)]
pub struct Processes {
    pub(super) folder: PathBuf,
    pub(super) clock: RetentionClock,
    pub(super) launcher: Arc<Launcher>,
    known: Mutex<BTreeMap<String, FolderFacts>>,
    /// The scope of each process that is being started, by its id.
    pub(super) starting: Mutex<HashMap<String, String>>,
    /// Those that end with a connection, by its id.
    pub(super) connected: Mutex<HashMap<String, Vec<Arc<Process>>>>,
    pub(super) pruned: Mutex<Option<Instant>>,
    pub(super) retained: RetainedFolder,
}

/// What is known of a folder.
#[derive(Debug, Clone)]
pub(super) enum FolderFacts {
    Whole(Arc<Process>),
    /// Why its facts cannot be read. Nobody can tell which scope it belongs to.
    Damaged(String),
}

/// How many characters an id has.
const FULL_ID: usize = 26;
/// How many of its last characters are enough to name a process.
const SHORT_ID: usize = 6;

impl Processes {
    /// Returns the processes of an installation. Touches no disk and starts nothing.
    pub fn new(dirs: &Dirs, launcher: Arc<Launcher>) -> Self {
        Self {
            folder: dirs.state.join("processes"),
            clock: RetentionClock::below(&dirs.state),
            launcher,
            known: Mutex::default(),
            starting: Mutex::default(),
            connected: Mutex::default(),
            pruned: Mutex::default(),
            retained: RetainedFolder::new(dirs.state.join("processes"), LIMITS),
        }
    }

    /// Finds a process of a scope: by its id, or by the end of it where no other of the scope has the same.
    ///
    /// # Errors
    /// `process_not_found`, also for a process of another scope; `invalid_request` for an end that several have.
    pub fn find(&self, scope: &str, id: &str) -> Result<Arc<Process>, Failure> {
        if (SHORT_ID..FULL_ID).contains(&id.len()) {
            return self.find_by_end(scope, id);
        }
        let found = if is_id(id) { self.look_up(id) } else { None };
        match found {
            Some(FolderFacts::Whole(process)) if process.facts.scope == scope => Ok(process),
            _ => Err(not_found(scope, id)),
        }
    }

    fn find_by_end(&self, scope: &str, end: &str) -> Result<Arc<Process>, Failure> {
        let wanted = end.to_ascii_uppercase();
        let mut found = self.list(scope);
        found.retain(|process| process.facts.id.ends_with(&wanted));
        match found.as_slice() {
            [process] => Ok(Arc::clone(process)),
            [] => Err(not_found(scope, end)),
            several => {
                let ids: Vec<&str> = several.iter().map(|it| it.facts.id.as_str()).collect();
                Err(Failure::invalid("target", format!("{} processes have an id that ends so", ids.len()))
                    .hint(format!("Name one of {}.", ids.join(", "))))
            }
        }
    }

    /// Returns the processes of a scope, newest first.
    pub fn list(&self, scope: &str) -> Vec<Arc<Process>> {
        let mut list = self.all();
        list.retain(|process| process.facts.scope == scope);
        list
    }

    /// Returns the processes of a scope that may live. Those that are over are not looked at.
    pub(super) fn living(&self, scope: &str) -> io::Result<Vec<Arc<Process>>> {
        let ids = match folders::living(&self.folder) {
            Some(ids) => ids,
            None => self.find_living()?,
        };
        let mut living = Vec::new();
        for id in ids {
            match self.look_up(&id) {
                Some(FolderFacts::Whole(process)) if process.may_live() => {
                    if process.facts.scope == scope {
                        living.push(process);
                    }
                }
                _ => folders::note_over(&self.folder, &id),
            }
        }
        Ok(living)
    }

    /// Looks once at all processes for those that live: an earlier version may have started some.
    fn find_living(&self) -> io::Result<Vec<String>> {
        folders::note_none_living(&self.folder)?;
        let all = self.all();
        let ids = all.iter().filter(|process| process.may_live()).map(|process| process.facts.id.clone());
        let ids: Vec<String> = ids.collect();
        ids.iter().try_for_each(|id| folders::note_living(&self.folder, id))?;
        Ok(ids)
    }

    /// Returns the processes of every scope, newest first: for the user and for pruning.
    pub fn all(&self) -> Vec<Arc<Process>> {
        let known = self.refresh();
        let whole = known.values().rev().filter_map(|known| match known {
            FolderFacts::Whole(process) => Some(Arc::clone(process)),
            FolderFacts::Damaged(_) => None,
        });
        whole.collect()
    }

    /// Returns the ids of the folders whose facts could not be read, with the reason, as of the last listing.
    pub fn damaged(&self) -> Vec<(String, String)> {
        let known = self.known();
        let damaged = known.iter().filter_map(|(id, known)| match known {
            FolderFacts::Whole(_) => None,
            FolderFacts::Damaged(why) => Some((id.clone(), why.clone())),
        });
        damaged.collect()
    }

    /// Notes a process that was just made.
    pub(super) fn add(&self, facts: Facts, folder: PathBuf) -> Arc<Process> {
        let id = facts.id.clone();
        let process = Arc::new(Process::new(facts, folder));
        self.known().insert(id, FolderFacts::Whole(Arc::clone(&process)));
        process
    }

    /// Forgets a process whose folder is about to be removed, with its temporary files.
    pub(super) fn remove(&self, id: &str) {
        let removed = self.known().remove(id);
        folders::note_over(&self.folder, id);
        if let Some(FolderFacts::Whole(process)) = removed
            && let Some(temporary) = &process.facts.temporary
        {
            folders::remove_temporary(temporary);
        }
    }

    pub(super) fn look_up(&self, id: &str) -> Option<FolderFacts> {
        let folder = self.folder.join(id);
        if !folders::is_there(&folder) {
            self.known().remove(id);
            return None;
        }
        let mut known = self.known();
        Some(known.entry(id.to_owned()).or_insert_with(|| FolderFacts::read(folder)).clone())
    }

    /// Looks which folders there are: other services make and remove some too.
    fn refresh(&self) -> MutexGuard<'_, BTreeMap<String, FolderFacts>> {
        // Locked first: what is added meanwhile must not be forgotten.
        let mut known = self.known();
        let ids = folders::ids(&self.folder);
        let mut before = std::mem::take(&mut *known);
        for id in ids {
            let entry = before.remove(&id).unwrap_or_else(|| FolderFacts::read(self.folder.join(&id)));
            known.insert(id, entry);
        }
        known
    }

    fn known(&self) -> MutexGuard<'_, BTreeMap<String, FolderFacts>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl FolderFacts {
    fn read(folder: PathBuf) -> Self {
        match Facts::read(&folder) {
            Ok(facts) => Self::Whole(Arc::new(Process::new(facts, folder))),
            Err(why) => Self::Damaged(why),
        }
    }
}

/// Says that a scope has no process of this id.
pub fn not_found(scope: &str, id: &str) -> Failure {
    let id: String = id.chars().filter(|it| !it.is_control()).take(40).collect();
    Failure::new(ErrorCode::ProcessNotFound, format!("scope `{scope}` has no process `{id}`"))
        .hint("process.list gives the ids; what has ended is kept for 24 hours.")
}
