//! Walking a root: the facts of all that is below it, and the contents of files that have changed since the last time.

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::io::{self, Read};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Instant, SystemTime};

use sha2::{Digest, Sha256};

use bailiwick_contract::Cancel;
use bailiwick_platform::fs::{Attributes, Dir, FileError, FileId, FileKind, FolderWatch, RelPath, Stat};
use bailiwick_platform::machine::user_id;
use bailiwick_platform::names::OsStrExt;

use super::node::{Content, Entries, FolderState, FolderVersion, Node, RootState};
use super::rules::{is_git_layout, is_left_out};
use super::store::Pack;
use crate::file::is_temporary;
use crate::threads::for_each;

/// The largest file whose content is kept.
pub(super) const MAX_FILE_BYTES: u64 = 16 << 20;
/// How many entries of a root are covered at most.
const MAX_ENTRIES: usize = 200_000;
/// How far the clock of files may be behind that of programs, in nanoseconds.
const TICK_NS: i128 = 20_000_000;
const SECOND_NS: i128 = 1_000_000_000;
/// How far times are apart on file systems that keep whole seconds only.
const COARSE_NS: i128 = 2 * SECOND_NS;
/// The bits by which a program runs as another user.
const SET_ID_BITS: u32 = 0o6000;

/// What one walk is about.
pub(super) struct Walk<'a> {
    /// What was known of the root before.
    pub known: &'a RootState,
    /// The state before a command, by which what is left out is decided once the command has ended.
    pub before: Option<&'a RootState>,
    /// Paths that commands cannot change, since they are closed to them.
    pub closed: &'a HashSet<RelPath>,
    /// Folders that are not entered: other roots, which are walked on their own, and Bailiwick's own.
    pub not_entered: &'a (dyn Fn(FileId) -> bool + Sync),
    /// When to stop.
    pub cancel: &'a Cancel,
    /// When to stop at the latest.
    pub until: Instant,
}

/// What is in a folder.
struct FolderFacts {
    state: FolderState,
    /// The folders in it that are to be entered.
    folders: Vec<PendingFolder>,
    left_out: Vec<(Box<[u8]>, Stat)>,
    is_git_dir: bool,
}

/// What became of a folder that was to be entered.
enum FolderOutcome {
    Read(FolderFacts),
    /// It is gone, or something else by now.
    Gone,
    /// It cannot be read.
    Unread,
    /// There is too much below the root, or it takes too long.
    TooMuch,
}

/// A folder that is to be entered: its path, and whether it is within one of Git's own.
type PendingFolder = (RelPath, bool);

impl Walk<'_> {
    /// Walks a root, each level of folders on several threads. What is not complete says so.
    pub fn run(&self, root: &Dir, pack: &Pack) -> RootState {
        let mut state = RootState::new(root.id());
        state.top = root.facts().ok();
        state.folders.reserve(self.known.folders.len());
        let visitor = Visitor {
            walk: self,
            root,
            pack,
            shows_changes: FolderWatch::hears(root),
            began_ns: now_ns() - TICK_NS,
            count: AtomicUsize::new(0),
        };
        let mut gone = Vec::new();
        let mut level: Vec<PendingFolder> = vec![(RelPath::root(), false)];
        while !level.is_empty() {
            let visit = |at: usize| visitor.visit(&level[at].0, level[at].1);
            let Ok(visits) = for_each(level.len(), self.cancel, visit) else { return state };
            let mut below = Vec::new();
            for ((path, _), visit) in level.iter().zip(visits) {
                match visit {
                    Some(FolderOutcome::Read(facts)) => {
                        let path = path.as_bytes();
                        if facts.is_git_dir {
                            state.git_dirs.insert(path.into());
                        }
                        state.folders.insert(path.into(), facts.state);
                        state.left_out.extend(facts.left_out);
                        below.extend(facts.folders);
                    }
                    Some(FolderOutcome::Gone) => gone.push(path.clone()),
                    // Nothing is known below it.
                    Some(FolderOutcome::Unread) if path.is_root() => return state,
                    Some(FolderOutcome::Unread) => self.add_unread(&mut state, path.as_bytes()),
                    Some(FolderOutcome::TooMuch) | None => return state,
                }
            }
            level = below;
        }
        gone.iter().for_each(|path| state.remove(path.as_bytes()));
        state.is_complete = true;
        state
    }

    /// Takes what was known of a folder that cannot be read.
    fn add_unread(&self, state: &mut RootState, path: &[u8]) {
        let is_in =
            |it: &[u8]| it.strip_prefix(path).is_some_and(|rest| matches!(rest.first(), None | Some(b'/')));
        let known = self.before.unwrap_or(self.known).folders.iter();
        let known = known.filter(|(folder, _)| is_in(folder));
        state.folders.extend(known.map(|(folder, state)| (folder.clone(), state.clone())));
        state.unread.insert(path.into());
    }
}

struct Visitor<'a> {
    walk: &'a Walk<'a>,
    root: &'a Dir,
    pack: &'a Pack,
    /// Whether the times of a folder show every change of its names: not where other computers make them.
    shows_changes: bool,
    began_ns: i128,
    /// How many entries were met.
    count: AtomicUsize,
}

impl Visitor<'_> {
    fn visit(&self, path: &RelPath, is_in_git_dir: bool) -> FolderOutcome {
        if Instant::now() >= self.walk.until {
            return FolderOutcome::TooMuch;
        }
        let opened = match path.is_root() {
            true => None,
            false => match self.root.open_dir_beneath(path) {
                Ok(dir) => Some(dir),
                Err(FileError::NotFound | FileError::NotADirectory | FileError::Symlink) => {
                    return FolderOutcome::Gone;
                }
                Err(_) => return FolderOutcome::Unread,
            },
        };
        let dir = opened.as_ref().unwrap_or(self.root);
        // Before its names are read: with one that comes meanwhile it is another version.
        let version = self.version_of(dir);
        let known = self.walk.known.folders.get(path.as_bytes());
        let is_same = version.is_some() && known.is_some_and(|known| known.version == version);
        let room = MAX_ENTRIES.saturating_sub(self.count.load(Ordering::Relaxed));
        let mut listed: Vec<OsString> = Vec::new();
        let mut is_listed = true;
        let mut names: Vec<&OsStr> = match known.filter(|_| is_same) {
            Some(known) => known.entries.iter().map(|(name, _)| OsStr::from_bytes(name)).collect(),
            None => {
                let read = dir.for_each_entry(|name, _| {
                    listed.push(name.to_owned());
                    if listed.len() > room { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
                });
                is_listed = read.is_ok();
                listed.iter().map(OsString::as_os_str).collect()
            }
        };
        if self.count.fetch_add(names.len(), Ordering::Relaxed) + names.len() > MAX_ENTRIES {
            return FolderOutcome::TooMuch;
        }
        if !is_listed {
            return FolderOutcome::Unread;
        }
        names.sort_unstable();
        let read = self.read(dir, path, &names, version, is_in_git_dir);
        read.map_or(FolderOutcome::Unread, FolderOutcome::Read)
    }

    /// Returns which version of a folder this is; `None` where a name that comes or goes might not make it another one.
    fn version_of(&self, dir: &Dir) -> Option<FolderVersion> {
        let facts = dir.facts().ok().filter(|facts| self.shows_changes && !is_fresh(facts, self.began_ns))?;
        let Stat { id, modified_ns, changed_ns, .. } = facts;
        Some(FolderVersion { id, modified_ns, changed_ns })
    }

    /// Looks at what is in a folder; `None` where the system does not say it of everything.
    fn read(
        &self,
        dir: &Dir,
        path: &RelPath,
        names: &[&OsStr],
        version: Option<FolderVersion>,
        is_in_git_dir: bool,
    ) -> Option<FolderFacts> {
        let is_git_dir = path.file_name() == Some(OsStr::new(".git"))
            || is_git_layout(|name| names.binary_search(&name).is_ok());
        let is_in_git_dir = is_in_git_dir || is_git_dir;
        let (mut folders, mut left_out) = (Vec::new(), Vec::new());
        let known = self.walk.known.folders.get(path.as_bytes());
        let mut entries = SharedEntries::new(known.map(|known| &known.entries));
        let mut buffer = Vec::new();
        for name in names {
            let stat = match dir.stat(name) {
                Ok(stat) => stat,
                Err(error) if is_unknown(&error) => return None,
                Err(_) => continue,
            };
            // How much a file takes on the disk is no part of a state.
            let stat = Stat { disk_bytes: 0, ..stat };
            if stat.kind == FileKind::File && is_temporary(name) {
                continue;
            }
            if !self.walk.closed.is_empty() && self.walk.closed.contains(&path.child(name)) {
                continue;
            }
            let known = entries.known(name.as_bytes());
            match stat.kind {
                FileKind::Dir => {
                    if (self.walk.not_entered)(stat.id) {
                        continue;
                    }
                    let child = path.child(name);
                    if stat.id.device != dir.id().device || self.leaves_out(&child, is_in_git_dir) {
                        left_out.push((child.as_bytes().into(), stat));
                        continue;
                    }
                    folders.push((child, is_in_git_dir));
                    entries.add(name.as_bytes(), Node::of(stat));
                }
                FileKind::Symlink => {
                    let link = match dir.read_link(name) {
                        Ok(link) => Some(link),
                        Err(error) if is_unknown(&error) => return None,
                        // It is gone, as a file or folder may be by now.
                        Err(_) => continue,
                    };
                    entries.add(name.as_bytes(), Node { link, ..Node::of(stat) });
                }
                FileKind::File if known.is_some_and(|known| self.is_as_known(known, &stat)) => entries.keep(),
                FileKind::File => {
                    let node = self.file(dir, name, known, stat, &mut buffer)?;
                    entries.add(name.as_bytes(), node);
                }
                FileKind::Fifo | FileKind::Socket | FileKind::Device | FileKind::Other => {
                    entries.add(name.as_bytes(), Node::of(stat));
                }
            }
        }
        let entries = entries.finish();
        let version = version.filter(|_| entries.len() == names.len());
        Some(FolderFacts { state: FolderState { entries, version }, folders, left_out, is_git_dir })
    }

    /// Returns whether a folder is left out. After a command, what was covered before it is covered still.
    fn leaves_out(&self, folder: &RelPath, is_in_git_dir: bool) -> bool {
        match self.walk.before {
            Some(before) if before.contains(folder.as_bytes()) => false,
            Some(before) if before.left_out.contains_key(folder.as_bytes()) => true,
            _ => is_left_out(self.root, folder, is_in_git_dir),
        }
    }

    /// Returns whether a file is as it was, with its content kept and room for it.
    fn is_as_known(&self, known: &Node, stat: &Stat) -> bool {
        known.stat == *stat && !known.is_fresh && known.content.is_some() && self.pack.take_room(stat.size)
    }

    /// Looks at a file that is not as it was, and keeps its content if it is not kept yet; `None` where the disk does not
    /// give it.
    fn file(
        &self,
        dir: &Dir,
        name: &OsStr,
        known: Option<&Node>,
        stat: Stat,
        buffer: &mut Vec<u8>,
    ) -> Option<Node> {
        let mut node = Node::of(stat);
        if stat.size > MAX_FILE_BYTES || stat.mode & SET_ID_BITS != 0 || stat.user != user_id() {
            return Some(node);
        }
        if !self.pack.take_room(stat.size) {
            return Some(node);
        }
        let opened = match dir.open_file(name) {
            Ok(opened) => opened,
            // One that its owner may not read is known by its facts.
            Err(error) => return (!is_disk_error(&error)).then_some(node),
        };
        node.stat = Stat { disk_bytes: 0, ..opened.stat };
        node.is_fresh = is_fresh(&opened.stat, self.began_ns);
        let attributes = match opened.file.attributes() {
            Ok(attributes) => attributes,
            Err(error) => return (!is_disk_error(&error)).then_some(node),
        };
        let Some(bytes) = read(&opened.file, opened.stat.size, buffer).ok()? else { return Some(node) };
        let sha256: [u8; 32] = Sha256::digest(bytes).into();
        let kept = known.and_then(|known| known.content.as_ref()).filter(|kept| kept.sha256 == sha256);
        node.content = match kept {
            Some(kept) => Some(kept.clone()),
            None => {
                self.pack.add(bytes).map(|at| Content { sha256, bytes: bytes.len() as u64, at: Some(at) })
            }
        };
        node.attributes = attributes;
        Some(node)
    }
}

/// The entries of a folder as they come, in the order of names. As long as they are those that were known, they are
/// these.
struct SharedEntries<'a> {
    known: Option<&'a Arc<Entries>>,
    /// How many of the known ones have come, one after the other.
    same: usize,
    /// All that have come, once something else has.
    entries: Option<Entries>,
    /// Where the search for the name begins among the known ones.
    at: usize,
}

impl<'a> SharedEntries<'a> {
    const fn new(known: Option<&'a Arc<Entries>>) -> Self {
        Self { known, same: 0, entries: None, at: 0 }
    }

    /// Returns what was known of a name.
    fn known(&mut self, name: &[u8]) -> Option<&'a Node> {
        let known = self.known?;
        while known.get(self.at).is_some_and(|(it, _)| **it < *name) {
            self.at += 1;
        }
        known.get(self.at).filter(|(it, _)| **it == *name).map(|(_, node)| node)
    }

    /// Adds an entry.
    fn add(&mut self, name: &[u8], node: Node) {
        if self.known(name) == Some(&node) {
            return self.keep();
        }
        self.changed().push((name.into(), node));
    }

    /// Adds the entry that was asked for last, as it was known.
    fn keep(&mut self) {
        let Some(known) = self.known else { return };
        if self.entries.is_none() && self.same == self.at {
            self.same += 1;
        } else {
            let entry = known[self.at].clone();
            self.changed().push(entry);
        }
    }

    fn changed(&mut self) -> &mut Entries {
        let before = self.known.map_or(&[][..], |known| &known[..self.same]);
        self.entries.get_or_insert_with(|| before.to_vec())
    }

    fn finish(mut self) -> Arc<Entries> {
        match self.known {
            Some(known) if self.entries.is_none() && self.same == known.len() => Arc::clone(known),
            _ => Arc::new(std::mem::take(self.changed())),
        }
    }
}

/// Reads a file whole; `None` if it has another size by now.
fn read(mut file: impl Read, size: u64, buffer: &mut Vec<u8>) -> io::Result<Option<&[u8]>> {
    buffer.clear();
    file.by_ref().take(size + 1).read_to_end(buffer)?;
    Ok((buffer.len() as u64 == size).then_some(&buffer[..]))
}

/// Returns whether something is there of which the system does not say what it is.
const fn is_unknown(error: &FileError) -> bool {
    matches!(error, FileError::Denied) || is_disk_error(error)
}

const fn is_disk_error(error: &FileError) -> bool {
    matches!(error, FileError::Io(_) | FileError::NoSpace)
}

/// Returns whether something was changed so shortly before that its times would not show a further change. FAT sets only one
/// of them where a name goes, and keeps that one to two seconds.
pub(super) fn is_fresh(facts: &Stat, began_ns: i128) -> bool {
    let step_ns = |time_ns: i128| if time_ns % SECOND_NS == 0 { COARSE_NS } else { 0 };
    [facts.changed_ns, facts.modified_ns].into_iter().any(|time_ns| time_ns + step_ns(time_ns) >= began_ns)
}

fn now_ns() -> i128 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    i128::try_from(since.as_nanos()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_changed_shortly_before_is_fresh_also_where_times_are_whole_seconds() {
        const NOW: i128 = 1_000 * SECOND_NS + 500_000_000;
        let changed = |modified_ns: i128, changed_ns: i128| {
            let id = FileId { device: 1, inode: 2 };
            let (kind, mode, user, group) = (FileKind::Dir, 0o755, 0, 0);
            let facts = Stat {
                kind,
                id,
                size: 0,
                disk_bytes: 0,
                mode,
                user,
                group,
                links: 1,
                modified_ns,
                changed_ns,
            };
            is_fresh(&facts, NOW)
        };
        assert!(changed(NOW - 1, NOW), "in this tick");
        assert!(!changed(NOW - 1, NOW - 1), "before it");
        assert!(changed(NOW - 1, NOW + SECOND_NS), "by a clock that was put back since");
        assert!(
            changed(999 * SECOND_NS, NOW - COARSE_NS + 1),
            "names that go from FAT change its times by two seconds"
        );
        assert!(changed(998 * SECOND_NS + 1, 999 * SECOND_NS), "a second may be all that is kept");
        assert!(!changed(998 * SECOND_NS, 998 * SECOND_NS));
    }
}
