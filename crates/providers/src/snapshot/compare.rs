//! Comparing a folder with its snapshot.

use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;

use crate::search::{Skip, SkipCounts, Visitor, WalkedFile, walk};
use bailiwick_contract::{Cancel, Failure};
use bailiwick_platform::fs::{Dir, FileKind, RelPath, Stat};
use bailiwick_platform::names::OsStrExt;

use super::changes::{ChangeKind, Changes, FileChange};
use super::judge::{Judge, PathChange};
use super::renames;
use super::take::{Bounds, Entry, FILTER, Snapshot};

/// Names of files that say what is ignored.
const IGNORE_FILES: &[&[u8]] = &[b".gitignore", b".ignore"];

impl Snapshot {
    /// Returns what has changed since.
    ///
    /// # Errors
    /// As [`bailiwick_policy::PermittedPath::open_dir`], also where the folder is gone; `cancelled` and `timeout`.
    pub fn compare(&self, cancel: &Cancel) -> Result<Changes, Failure> {
        let (dir, _) = self.folder.open_dir()?;
        let bounds = Bounds::new(self.limits);
        let comparers = walk(&self.folder, dir, FILTER, cancel, || Comparer {
            judge: self.judge(),
            bounds: &bounds,
            seen: Vec::new(),
            found: Vec::new(),
            skipped: SkipCounts::default(),
        })?;
        let mut seen: HashSet<&[u8]> = HashSet::with_capacity(self.files.len());
        let mut found = Vec::new();
        let mut skipped = SkipCounts::default();
        for comparer in comparers {
            seen.extend(comparer.seen);
            found.extend(comparer.found);
            skipped.merge(&comparer.skipped);
        }
        self.look_for_missing(&seen, &bounds, cancel, &mut found)?;
        found.sort_by(|(a, _), (b, _)| a.cmp(b));
        self.leave_out_what_was_there(&mut found);
        let truncated = self.truncated || bounds.is_passed();
        Ok(self.changes(found, truncated, skipped))
    }

    fn judge(&self) -> Judge<'_> {
        Judge { snapshot: self, rules: self.folder.rules(), buffer: Vec::new() }
    }

    /// Looks for files that the walk did not meet: they are gone, or in a place where walks do not look any more.
    fn look_for_missing(
        &self,
        seen: &HashSet<&[u8]>,
        bounds: &Bounds,
        cancel: &Cancel,
        found: &mut Vec<(RelPath, PathChange)>,
    ) -> Result<(), Failure> {
        let missing = self.files.iter().filter(|(path, _)| !seen.contains(path.as_ref()));
        let mut missing: Vec<(&[u8], &Entry)> = missing.map(|(path, entry)| (path.as_ref(), entry)).collect();
        missing.sort_unstable_by_key(|(path, _)| *path);
        let mut judge = self.judge();
        let mut folder: Option<(&[u8], Option<Dir>)> = None;
        for (path, entry) in missing {
            cancel.check()?;
            if bounds.is_late() {
                break;
            }
            let (above, name) = match memchr::memrchr(b'/', path) {
                Some(slash) => (&path[..slash], OsStr::from_bytes(&path[slash + 1..])),
                None => (&path[..0], OsStr::from_bytes(path)),
            };
            if folder.as_ref().is_none_or(|(known, _)| *known != above) {
                folder = Some((above, self.open_below(above)));
            }
            let dir = folder.as_ref().and_then(|(_, dir)| dir.as_ref());
            let now = dir.and_then(|dir| Some((dir, dir.stat(name).ok().filter(is_told)?)));
            let judged = match now {
                Some((dir, stat)) => judge.present(dir, name, stat, Some(entry), false),
                None => Some(judge.gone(entry)),
            };
            if let (Some(judged), Ok(path)) = (judged, RelPath::parse(path)) {
                found.push((path, judged));
            }
        }
        Ok(())
    }

    /// Opens a folder of the snapshot, by its path beneath the root; `None` if it is no folder any more.
    fn open_below(&self, path: &[u8]) -> Option<Dir> {
        let (dir, _) = self.folder.open_dir().ok()?;
        let below = path.get(self.folder.rel().as_bytes().len()..)?;
        let below = below.strip_prefix(b"/").unwrap_or(below);
        if below.is_empty() {
            return Some(dir);
        }
        dir.open_dir_beneath(&RelPath::parse(below).ok()?).ok()
    }

    /// Leaves out files that look new, and were there: those that were ignored, and those that had no room.
    fn leave_out_what_was_there(&self, found: &mut Vec<(RelPath, PathChange)>) {
        let ignore_changed = found
            .iter()
            .any(|(path, _)| path.file_name().is_some_and(|name| IGNORE_FILES.contains(&name.as_bytes())));
        if !self.truncated && !ignore_changed {
            return;
        }
        let known: HashSet<_> = self.files.values().map(|entry| entry.stat.id).collect();
        found.retain_mut(|(_, judged)| {
            if judged.change != ChangeKind::Added || known.contains(&judged.stat.id) {
                return true;
            }
            if judged.stat.changed_ns < self.begun_ns {
                return false;
            }
            if self.truncated {
                // It may be new, or one that had no room and was modified.
                judged.change = ChangeKind::Modified;
                (judged.insertions, judged.deletions) = (None, None);
            }
            true
        });
    }

    fn changes(&self, found: Vec<(RelPath, PathChange)>, truncated: bool, skipped: SkipCounts) -> Changes {
        let renamed: HashMap<RelPath, RelPath> = renames::find(self, &found);
        let gone: HashSet<&RelPath> = renamed.values().collect();
        let mut changes = Changes { truncated, skipped, ..Changes::default() };
        for (rel, judged) in found {
            if judged.change == ChangeKind::Deleted && gone.contains(&rel) {
                continue;
            }
            let from = renamed.get(&rel);
            let mode_of = |from: &RelPath| self.files.get(from.as_bytes()).map(|entry| entry.stat.mode);
            let (insertions, deletions) = match from {
                Some(_) if !judged.binary && !judged.closed => (Some(0), Some(0)),
                _ => (judged.insertions, judged.deletions),
            };
            changes.insertions += insertions.unwrap_or(0);
            changes.deletions += deletions.unwrap_or(0);
            changes.uncounted += u64::from(insertions.is_none() && !judged.binary && !judged.closed);
            changes.files.push(FileChange {
                path: self.folder.show(&rel),
                from: from.map(|from| self.folder.show(from)),
                change: if from.is_some() { ChangeKind::Renamed } else { judged.change },
                insertions,
                deletions,
                binary: judged.binary,
                closed: judged.closed,
                mode_changed: match from {
                    Some(from) => mode_of(from) != Some(judged.stat.mode),
                    None => judged.mode_changed,
                },
                rel,
            });
        }
        changes
    }
}

/// Returns whether a snapshot has things of this kind.
fn is_told(stat: &Stat) -> bool {
    matches!(stat.kind, FileKind::File | FileKind::Symlink)
}

struct Comparer<'a> {
    judge: Judge<'a>,
    bounds: &'a Bounds,
    seen: Vec<&'a [u8]>,
    found: Vec<(RelPath, PathChange)>,
    skipped: SkipCounts,
}

impl Comparer<'_> {
    fn look(&mut self, entry: &WalkedFile<'_>, closed: bool) {
        if !self.bounds.take() {
            return;
        }
        let Some(stat) = entry.dir.stat(entry.name).ok().filter(is_told) else { return };
        let before = self.judge.snapshot.files.get_key_value(entry.path);
        if let Some((path, _)) = before {
            self.seen.push(path);
        }
        let before = before.map(|(_, before)| before);
        let judged = self.judge.present(entry.dir, entry.name, stat, before, closed);
        if let (Some(judged), Ok(path)) = (judged, RelPath::parse(entry.path)) {
            self.found.push((path, judged));
        }
    }
}

impl Visitor for Comparer<'_> {
    fn wants(&self, _: &[u8]) -> bool {
        !self.bounds.is_passed()
    }

    fn begin(&mut self, _: &[u8]) {}

    fn file(&mut self, file: &WalkedFile<'_>) {
        self.look(file, false);
    }

    fn folder(&mut self, _: &WalkedFile<'_>) {}

    fn skipped(&mut self, _: &[u8], reason: Skip) {
        self.skipped.add(reason);
    }

    fn skipped_entry(&mut self, entry: &WalkedFile<'_>, reason: Skip) {
        match reason {
            Skip::Closed => {
                self.look(entry, true);
                self.skipped.add(reason);
            }
            Skip::Link => self.look(entry, false),
            _ => self.skipped.add(reason),
        }
    }
}
