//! Which folders of a root are watched, and which must be checked again.
//!
//! A folder is watched before its entries are read, so that no change falls between. `.git/info/exclude`, which
//! is in no watched folder, is held against its facts. Files with several names can be changed by way of one
//! that is not watched: their folders are always looked at again.

use std::collections::{BTreeMap, HashMap};
use std::ffi::OsStr;

use bailiwick_platform::fs::{Dir, DrainResult, FolderEvent, FolderWatch, RelPath, WatchId};
use bailiwick_platform::names::OsStrExt;

use super::entry::Stamp;

/// How many folders one root has watched at most: each takes about a kilobyte of the system's memory.
const MAX_FOLDERS: usize = 32_768;

/// How much of a folder is checked again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Depth {
    /// Its files, and folders that were not there before.
    Entries,
    /// All beneath it.
    All,
}

/// What has changed since the last time.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    /// Not known: everything must be checked.
    pub everything: bool,
    /// Folders to look at again.
    pub folders: BTreeMap<Vec<u8>, Depth>,
    /// Folders that are gone, or that are others now.
    pub gone: Vec<Vec<u8>>,
}

/// The watches of one root.
#[derive(Debug, Default)]
pub(crate) struct RootWatches {
    /// `None` before the first look, and where changes cannot be heard of.
    watch: Option<FolderWatch>,
    /// Why changes cannot be heard of.
    deaf: bool,
    /// How many folders are watched at most: others of this user watch some, too.
    max_folders: usize,
    paths: HashMap<WatchId, Vec<u8>>,
    ids: BTreeMap<Vec<u8>, WatchId>,
    /// Folders of repositories, and the facts of what `.git/info/exclude` says.
    excludes: BTreeMap<Vec<u8>, Option<Stamp>>,
    devices: Vec<(u64, bool)>,
}

impl RootWatches {
    /// Returns whether every folder that was entered is watched.
    pub fn hears(&self) -> bool {
        self.watch.is_some() && !self.deaf
    }

    /// Begins to listen again, before a look at everything.
    pub fn renew(&mut self) {
        if !self.deaf {
            let watch = FolderWatch::new().ok();
            let max_folders = MAX_FOLDERS.min(FolderWatch::max_folders() / 4);
            *self = Self { deaf: watch.is_none(), watch, max_folders, ..Self::default() };
        }
    }

    /// Watches a folder whose entries are about to be read.
    pub fn enter(&mut self, path: &[u8], dir: &Dir) {
        let Some(watch) = self.watch.as_ref().filter(|_| !self.deaf) else { return };
        let device = dir.id().device;
        let hears = match self.devices.iter().find(|(known, _)| *known == device) {
            Some((_, hears)) => *hears,
            None => {
                let hears = FolderWatch::hears(dir);
                self.devices.push((device, hears));
                hears
            }
        };
        let id = if hears && self.paths.len() < self.max_folders { watch.add(dir).ok() } else { None };
        let Some(id) = id else { return self.stop() };
        if let Some(before) = self.paths.insert(id, path.to_vec())
            && before != path
            && self.ids.get(&before) == Some(&id)
        {
            self.ids.remove(&before);
        }
        if let Some(before) = self.ids.insert(path.to_vec(), id)
            && before != id
        {
            watch.remove(before);
            self.paths.remove(&before);
        }
        match exclude_of(dir) {
            Some(stamp) => drop(self.excludes.insert(path.to_vec(), stamp)),
            None => drop(self.excludes.remove(path)),
        }
    }

    /// Returns whether a folder is known.
    pub fn knows(&self, path: &[u8]) -> bool {
        self.ids.contains_key(path)
    }

    /// Listens to a folder, and all beneath it, no more.
    pub fn forget(&mut self, path: &[u8]) {
        let beneath = |other: &[u8]| {
            other.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest[0] == b'/' || path.is_empty())
        };
        let gone: Vec<Vec<u8>> = self
            .ids
            .range(path.to_vec()..)
            .map(|(other, _)| other)
            .take_while(|other| other.starts_with(path))
            .filter(|other| beneath(other))
            .cloned()
            .collect();
        for path in gone {
            self.excludes.remove(&path);
            let Some(id) = self.ids.remove(&path) else { continue };
            if self.paths.get(&id) == Some(&path) {
                self.paths.remove(&id);
                if let Some(watch) = &self.watch {
                    watch.remove(id);
                }
            }
        }
    }

    /// Gives up listening; everything is then looked at each time.
    pub fn stop(&mut self) {
        *self = Self { deaf: true, ..Self::default() };
    }

    /// Asks what has changed. `root` is the folder that all paths begin at.
    pub fn changes(&mut self, root: &Dir, is_source: impl Fn(&OsStr) -> bool) -> Changes {
        let mut changes = Changes::default();
        let Some(watch) = &self.watch else {
            return Changes { everything: true, ..changes };
        };
        let drained = watch.drain(|event| note(event, &self.paths, &is_source, &mut changes));
        changes.everything |= drained.is_err() || drained.is_ok_and(|drained| drained == DrainResult::Lost);
        for (path, before) in &self.excludes {
            let dir = RelPath::parse(path).ok().and_then(|path| root.open_dir_beneath(&path).ok());
            if dir.and_then(|dir| exclude_of(&dir)).flatten() != *before {
                changes.folders.insert(path.clone(), Depth::All);
            }
        }
        changes.gone.sort_unstable();
        changes.gone.dedup();
        for path in &changes.gone {
            self.forget(path);
        }
        changes
    }
}

/// Takes one event.
fn note(
    event: FolderEvent<'_>,
    paths: &HashMap<WatchId, Vec<u8>>,
    is_source: &impl Fn(&OsStr) -> bool,
    changes: &mut Changes,
) {
    let Some(folder) = paths.get(&event.folder) else { return };
    let name = event.name.as_bytes();
    let is_rules = matches!(name, b".gitignore" | b".ignore" | b".git");
    if event.is_folder && event.is_name && !is_rules {
        let mut path = folder.clone();
        if !path.is_empty() {
            path.push(b'/');
        }
        path.extend_from_slice(name);
        changes.gone.push(path);
    }
    let depth = match (is_rules, event.is_folder) {
        // What happens within `.git` is told as changes of it.
        (true, true) if !event.is_name => return,
        (true, _) => Depth::All,
        (false, true) => Depth::Entries,
        (false, false) if is_source(event.name) => Depth::Entries,
        (false, false) => return,
    };
    let known = changes.folders.entry(folder.clone()).or_insert(depth);
    *known = (*known).max(depth);
}

/// Returns the facts of a repository's `.git/info/exclude`; the outer `None` means that it is no repository.
fn exclude_of(dir: &Dir) -> Option<Option<Stamp>> {
    let git = dir.stat(OsStr::new(".git")).ok()?;
    if git.kind != bailiwick_platform::fs::FileKind::Dir {
        return Some(None);
    }
    let info = dir.open_dir(OsStr::new(".git")).and_then(|git| git.open_dir(OsStr::new("info")));
    let stat = info.and_then(|info| info.stat(OsStr::new("exclude")));
    Some(stat.ok().map(|stat| Stamp::of(&stat)))
}
