//! Taking a difference back: what is at each path now, what has to be done, and what is kept of it before.

use std::collections::{BTreeSet, HashSet};
use std::ffi::OsStr;
use std::io::{self, Read};
use std::ops::ControlFlow;

use sha2::{Digest, Sha256};

use bailiwick_contract::{Access, Cancel, Failure};
use bailiwick_platform::fs::{Attributes, Dir, FileError, FileKind, RelPath, WritableDir};
use bailiwick_policy::{WritablePath, file_failure};

use super::apply::OWNER_BITS;
use super::compare::{Difference, TreeChange};
use super::node::{Content, Node};
use super::record::{TreeRecord, encode, found_by_path, list_bytes, summary};
use super::rules::{GitPart, git_part_now, is_git_pointer, objects_folder, protected_folder};
use crate::file::is_temporary;
use crate::versions::{ChangeSource, TreeSummary, VersionStore};

/// The largest file that goes when a command is taken back: what it holds is kept first.
pub(super) const MAX_REMOVED_BYTES: u64 = 64 << 20;

/// A root in which something is taken back.
#[derive(Debug)]
pub struct RestoreRoot {
    /// Its path.
    pub path: WritablePath,
    /// The open folder.
    pub dir: WritableDir,
}

/// How a path stands to a change that is to be taken back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeState {
    /// It is as it was before the change.
    Done,
    /// It is as the change left it.
    Pending,
    /// It stays as it is: what Git runs, its objects, and files that are too large to be kept.
    Left,
    /// Something else was done with it.
    Conflict,
}

/// One path of a restoring.
#[derive(Debug, Clone)]
pub struct RestoreStep {
    /// The change that is taken back.
    pub change: TreeChange,
    /// How the path stands to it.
    pub state: ChangeState,
    /// What is at the path now.
    pub now: Option<Node>,
    /// Whether that is what the change left there.
    pub is_as_left: bool,
    /// Whether it has the content now that it gets.
    pub(super) has_content: bool,
}

/// Brings the folders of a scope from the state after a change to the state before it.
pub struct Restoration<'a> {
    pub(super) roots: &'a [RestoreRoot],
    pub(super) record: &'a TreeRecord,
    pub(super) cancel: &'a Cancel,
    /// What is done, in the order of the paths.
    pub steps: Vec<RestoreStep>,
}

impl<'a> Restoration<'a> {
    /// Looks at every path of a change. Call it with all locks held. `is_left` is whether an undo that was killed has left
    /// it so: folders may still be open to this user then.
    ///
    /// # Errors
    /// Those of a file; `cancelled`, `timeout`.
    pub fn plan(
        roots: &'a [RestoreRoot],
        record: &'a TreeRecord,
        is_left: bool,
        cancel: &'a Cancel,
    ) -> Result<Self, Failure> {
        let mut folders = FolderCache::default();
        let mut steps = Vec::with_capacity(record.difference.changes.len());
        let is_dir = |node: &Option<Node>| node.as_ref().is_some_and(|it| it.stat.kind == FileKind::Dir);
        let changes = record.difference.changes.iter();
        let come_back: HashSet<(usize, &RelPath)> =
            changes.filter(|it| is_dir(&it.before)).map(|it| (it.root, &it.path)).collect();
        // What the command made itself: no other commits need objects in it, and no other Git runs what is there.
        let made: HashSet<(usize, &[u8])> = record
            .difference
            .changes
            .iter()
            .filter(|it| it.before.is_none())
            .map(|it| (it.root, it.path.as_bytes()))
            .collect();
        for change in &record.difference.changes {
            cancel.check()?;
            let root = &roots[change.root];
            let failed = |error: FileError| file_failure(&error, &root.path);
            let dir = folders.above(change.root, &root.dir, &change.path).map_err(failed)?;
            let name = change.path.file_name().unwrap_or_default();
            let now = match dir {
                Some(dir) => look(dir, name).map_err(failed)?,
                None => None,
            };
            steps.push(RestoreStep {
                change: change.clone(),
                state: ChangeState::Done,
                now,
                is_as_left: false,
                has_content: false,
            });
            if let Some(step) = steps.last_mut() {
                step.judge(&root.dir, dir, name, &made).map_err(failed)?;
                if is_left && step.state == ChangeState::Conflict && step.is_left_open() {
                    step.state = ChangeState::Pending;
                }
                // It says only which bits a folder has.
                if step.state == ChangeState::Conflict && step.change.before == step.change.after {
                    step.state = ChangeState::Done;
                }
                // The folder that it was in is gone, and the command did not remove it.
                let has_folder = dir.is_some()
                    || change.path.parent().is_some_and(|above| come_back.contains(&(change.root, &above)));
                if step.state == ChangeState::Pending && change.before.is_some() && !has_folder {
                    step.state = ChangeState::Conflict;
                }
            }
        }
        let mut restoration = Self { roots, record, cancel, steps };
        restoration.look_into_folders()?;
        Ok(restoration)
    }

    /// Finds what others have put into folders that are to go.
    fn look_into_folders(&mut self) -> Result<(), Failure> {
        let paths: HashSet<(usize, RelPath)> =
            self.steps.iter().map(|step| (step.change.root, step.change.path.clone())).collect();
        let mut conflicts = Vec::new();
        for step in &mut self.steps {
            let is_folder =
                |node: &Option<Node>| node.as_ref().is_some_and(|it| it.stat.kind == FileKind::Dir);
            if step.state != ChangeState::Pending || !is_folder(&step.now) || is_folder(&step.change.before) {
                continue;
            }
            let (root, at) = (&self.roots[step.change.root], step.change.root);
            let Ok(dir) = root.dir.open_dir_beneath(&step.change.path) else { continue };
            let read = dir.for_each_entry(|name, kind| {
                let path = step.change.path.child(name);
                // What a killed undo has left goes with the folder.
                if is_temporary(name) && kind == Some(FileKind::File) {
                    return ControlFlow::Continue(());
                }
                let uncovered = &self.record.difference.uncovered;
                if uncovered.contains(&(at, path.clone())) {
                    // A file cannot come back where a folder stays.
                    step.state = match step.change.before {
                        None => ChangeState::Left,
                        Some(_) => ChangeState::Conflict,
                    };
                } else if !paths.contains(&(at, path.clone())) {
                    conflicts.push((at, path));
                }
                ControlFlow::Continue(())
            });
            read.map_err(|error| file_failure(&error, &root.path))?;
        }
        for (root, path) in conflicts {
            let change = TreeChange { root, path, before: None, after: None, relinks: false };
            self.steps.push(RestoreStep {
                change,
                state: ChangeState::Conflict,
                now: None,
                is_as_left: false,
                has_content: false,
            });
        }
        // A folder stays where something in it stays.
        let left: BTreeSet<(usize, RelPath)> = self
            .steps
            .iter()
            .filter(|step| step.state == ChangeState::Left && step.now.is_some())
            .flat_map(|step| {
                let above = super::node::folders_above(step.change.path.as_bytes());
                above
                    .filter_map(|path| Some((step.change.root, RelPath::parse(path).ok()?)))
                    .collect::<Vec<_>>()
            })
            .collect();
        for step in &mut self.steps {
            if step.state == ChangeState::Pending
                && left.contains(&(step.change.root, step.change.path.clone()))
            {
                match &step.change.before {
                    None => step.state = ChangeState::Left,
                    Some(before) if before.stat.kind != FileKind::Dir => step.state = ChangeState::Conflict,
                    Some(_) => {}
                }
            }
        }
        Ok(())
    }

    /// Returns the paths that stand for something else than the change left, and than was there before it.
    pub fn conflicts(&self) -> impl Iterator<Item = &RestoreStep> {
        self.steps.iter().filter(|step| step.state == ChangeState::Conflict)
    }

    /// Returns what will be done.
    pub fn pending(&self) -> impl Iterator<Item = &RestoreStep> {
        self.steps.iter().filter(|step| step.state == ChangeState::Pending)
    }

    /// Returns what stays, and should not.
    pub fn left(&self) -> impl Iterator<Item = &RestoreStep> {
        self.steps.iter().filter(|step| step.state == ChangeState::Left)
    }

    /// Returns the paths that were not covered when the change was made.
    pub fn uncovered(&self) -> impl Iterator<Item = String> {
        self.record.difference.outermost_uncovered().map(|(root, path)| self.show(*root, path))
    }

    fn show(&self, root: usize, path: &RelPath) -> String {
        let root = &self.roots[root].path;
        match root.rules().rule_for_path(path, Access::Read) {
            Some(_) => "a closed file".to_owned(),
            None => root.show(path),
        }
    }

    /// Shows the path of a step, as results name it; what is closed to clients has no name.
    pub fn shown(&self, step: &RestoreStep) -> String {
        self.show(step.change.root, &step.change.path)
    }

    /// Returns whether the content of a step's path is closed to clients.
    pub fn is_closed(&self, step: &RestoreStep) -> bool {
        let rules = self.roots[step.change.root].path.rules();
        rules.rule_for_path(&step.change.path, Access::Read).is_some()
    }

    /// Returns the contents of a step's file: as it is now, and as it will be. `None` where there is none, or it is none of
    /// at most so many bytes.
    pub fn contents(&self, step: &RestoreStep, most: u64) -> (Option<Vec<u8>>, Option<Vec<u8>>) {
        let root = &self.roots[step.change.root];
        let now = step.now.as_ref().filter(|now| now.stat.kind == FileKind::File && now.stat.size <= most);
        let now = now.and_then(|now| {
            let parent = step.change.path.parent()?;
            let opened =
                root.dir.open_dir_beneath(&parent).ok()?.open_file(step.change.path.file_name()?).ok()?;
            let mut bytes = Vec::new();
            opened.file.take(now.stat.size + 1).read_to_end(&mut bytes).ok()?;
            Some(bytes)
        });
        let before = step.change.before.as_ref().and_then(|before| before.content.as_ref());
        let before = before.filter(|content| content.bytes <= most);
        (now, before.and_then(|content| self.record.content(content).ok().flatten()))
    }

    /// Keeps what the restoring changes, so that it can be taken back. It is on disk then.
    ///
    /// # Errors
    /// Those of the file system, `FileTooLarge` for more than is kept in all.
    pub fn keep(&mut self, store: &VersionStore, source: ChangeSource<'_>) -> io::Result<String> {
        let mut difference = Difference::default();
        let of_now = |step: &RestoreStep| match (&step.now, step.has_content) {
            (Some(now), false) if now.stat.kind == FileKind::File => now.stat.size,
            _ => 0,
        };
        let bytes = self.pending().map(of_now).sum::<u64>();
        difference.changes = self.pending().map(|step| step.change.reversed()).collect();
        let mut draft = store.begin_tree(source.scope, 2 * list_bytes(&difference) + bytes)?;
        let mut folders = FolderCache::default();
        let mut changes = Vec::with_capacity(difference.changes.len());
        for step in self.steps.iter_mut().filter(|step| step.state == ChangeState::Pending) {
            let kept = step.keep_now(&self.roots[step.change.root], &mut folders, &mut draft);
            match kept {
                Ok(before) => {
                    let mut after = step.change.before.clone();
                    if let Some(content) = after.as_mut().and_then(|after| after.content.as_mut()) {
                        content.at = None;
                    }
                    let (path, relinks) = (step.change.path.clone(), step.change.relinks);
                    changes.push(TreeChange { root: step.change.root, path, before, after, relinks });
                }
                Err(error) => {
                    draft.discard();
                    return Err(error);
                }
            }
        }
        // An undo opens folders to this user for a while: taking it back needs to know how they were.
        let changed: HashSet<(usize, RelPath)> =
            changes.iter().map(|it| (it.root, it.path.clone())).collect();
        for (key, stat) in self.closed_folders() {
            if !changed.contains(&key) {
                let (root, path) = key;
                let node = Some(Node::of(stat));
                changes.push(TreeChange { root, path, before: node.clone(), after: node, relinks: false });
            }
        }
        changes.sort_by(|one, next| (one.root, &one.path).cmp(&(next.root, &next.path)));
        difference.changes = changes;
        let summary = summary(&difference.changes, TreeSummary::default());
        let shown = |root: usize, path: &RelPath| self.roots[root].path.show(path);
        let files = found_by_path(&difference.changes, &shown);
        draft.finish(source, summary, files, &encode(&self.record.roots, &difference))
    }
}

impl RestoreStep {
    /// Returns whether the path is a folder that is as it was before the change or after it, but open to this user.
    fn is_left_open(&self) -> bool {
        let folders = [&self.now, &self.change.before, &self.change.after];
        let [Some(now), Some(before), Some(after)] = folders.map(Option::as_ref) else { return false };
        let are_folders = [now, before, after].iter().all(|it| it.stat.kind == FileKind::Dir);
        are_folders && [before, after].iter().any(|it| now.stat.mode == it.stat.mode | OWNER_BITS)
    }

    /// Finds out how the path stands to the change.
    fn judge(
        &mut self,
        root: &Dir,
        dir: Option<&WritableDir>,
        name: &OsStr,
        made: &HashSet<(usize, &[u8])>,
    ) -> Result<(), FileError> {
        let is_at = |node: &Option<Node>, times: Times| -> Result<bool, FileError> {
            match (&self.now, node, dir) {
                (None, None, _) => Ok(true),
                (Some(now), Some(node), Some(dir)) => is_node(dir, name, now, node, times),
                _ => Ok(false),
            }
        };
        let change = &self.change;
        let mut is_as_left = false;
        self.state = if is_at(&change.before, Times::Same)? && !change.relinks {
            ChangeState::Done
        } else if is_at(&change.after, Times::Any)? {
            is_as_left = true;
            self.has_content = change.keeps_content();
            ChangeState::Pending
        } else if is_at(&change.before, Times::Any)? {
            self.has_content = !change.relinks;
            ChangeState::Pending
        } else {
            ChangeState::Conflict
        };
        self.is_as_left = is_as_left;
        if self.state == ChangeState::Conflict || self.state == ChangeState::Done {
            return Ok(());
        }
        let kind_now = self.now.as_ref().map(|now| now.stat.kind);
        let kind_then = change.before.as_ref().map(|before| before.stat.kind);
        let part = |kind: Option<FileKind>| {
            kind.map_or(GitPart::Ordinary, |kind| git_part_now(root, &change.path, kind))
        };
        let parts = (part(kind_now), part(kind_then));
        let is_large = self.now.as_ref().is_some_and(|now| {
            now.stat.kind == FileKind::File && now.stat.size > MAX_REMOVED_BYTES && !self.has_content
        });
        let is_made = |folder: Option<&[u8]>| folder.is_some_and(|it| made.contains(&(change.root, it)));
        let is_pointer = kind_now.is_some_and(|kind| is_git_pointer(change.path.as_bytes(), kind));
        let stays = match kind_then {
            // What Git runs is never written, and goes only with a repository that the command made.
            Some(_) => parts.1 == GitPart::Protected || parts.0 == GitPart::Protected,
            None => match parts.0 {
                GitPart::Ordinary => false,
                GitPart::Objects => !is_made(objects_folder(change.path.as_bytes())),
                GitPart::Protected => !is_pointer && !is_made(protected_folder(change.path.as_bytes())),
            },
        };
        if stays || is_large {
            self.state = ChangeState::Left;
        }
        Ok(())
    }

    /// Keeps what is there now.
    fn keep_now(
        &self,
        root: &RestoreRoot,
        folders: &mut FolderCache,
        draft: &mut crate::versions::TreeDraft,
    ) -> io::Result<Option<Node>> {
        let Some(mut now) = self.now.clone() else { return Ok(None) };
        if now.stat.kind != FileKind::File {
            return Ok(Some(now));
        }
        if self.has_content {
            let known = [&self.change.before, &self.change.after].into_iter().flatten();
            let known = known.filter_map(|node| node.content.as_ref()).next();
            now.content = known.map(|content| Content { at: None, ..content.clone() });
            now.attributes = self.change.after.as_ref().map(|it| it.attributes.clone()).unwrap_or_default();
            return Ok(Some(now));
        }
        let gone = || io::Error::other("a file was changed meanwhile");
        let dir = folders.above(self.change.root, &root.dir, &self.change.path).map_err(io::Error::other)?;
        let name = self.change.path.file_name().unwrap_or_default();
        let mut opened = dir.ok_or_else(gone)?.open_file(name).map_err(io::Error::other)?;
        if opened.stat.id != now.stat.id {
            return Err(gone());
        }
        now.attributes = opened.file.attributes().map_err(io::Error::other)?;
        let (mut hash, mut bytes, mut at) = (Sha256::new(), 0, None);
        let mut chunk = vec![0; 1 << 18];
        loop {
            let read = opened.file.read(&mut chunk)?;
            let begins_at = draft.add(&chunk[..read])?;
            at.get_or_insert(begins_at);
            hash.update(&chunk[..read]);
            bytes += read as u64;
            if bytes > now.stat.size {
                return Err(gone());
            }
            if read == 0 {
                break;
            }
        }
        if bytes != now.stat.size {
            return Err(gone());
        }
        now.content = Some(Content { sha256: hash.finalize().into(), bytes, at });
        Ok(Some(now))
    }
}

/// Whether two states of a file are the same if only the time of the last change differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Times {
    Same,
    Any,
}

/// Returns whether what has a name is as it was at another moment.
fn is_node(dir: &Dir, name: &OsStr, now: &Node, then: &Node, times: Times) -> Result<bool, FileError> {
    if now.stat.kind != then.stat.kind {
        return Ok(false);
    }
    let has_mode = now.stat.mode == then.stat.mode;
    match now.stat.kind {
        FileKind::Dir => Ok(has_mode),
        FileKind::Symlink => Ok(now.link == then.link),
        FileKind::File => {
            if !has_mode || now.stat.size != then.stat.size {
                return Ok(false);
            }
            let has_time = now.stat.modified_ns == then.stat.modified_ns;
            let is_untouched = has_time && now.stat.id == then.stat.id;
            match &then.content {
                Some(_) if times == Times::Same && !has_time => Ok(false),
                Some(_) if is_untouched && now.stat.changed_ns == then.stat.changed_ns && !then.is_fresh => {
                    Ok(true)
                }
                Some(content) => match holds(dir, name, content) {
                    // Who may not read it knows it by its facts.
                    Err(FileError::Denied) => Ok(is_untouched),
                    Ok(true) if times == Times::Same => has_attributes(dir, name, &then.attributes),
                    has_content => has_content,
                },
                None => Ok(is_untouched),
            }
        }
        FileKind::Fifo | FileKind::Socket | FileKind::Device | FileKind::Other => {
            Ok(has_mode && now.stat.id == then.stat.id)
        }
    }
}

/// Returns whether a file has all of these attributes. It may have others.
fn has_attributes(dir: &Dir, name: &OsStr, then: &[(Vec<u8>, Vec<u8>)]) -> Result<bool, FileError> {
    if then.is_empty() {
        return Ok(true);
    }
    let now = dir.open_file(name)?.file.attributes()?;
    Ok(then.iter().all(|it| now.contains(it)))
}

/// Returns whether a file holds a content.
pub(super) fn holds(dir: &Dir, name: &OsStr, content: &Content) -> Result<bool, FileError> {
    let mut opened = match dir.open_file(name) {
        Ok(opened) => opened,
        Err(FileError::NotFound) => return Ok(false),
        Err(error) => return Err(error),
    };
    let mut hash = Sha256::new();
    let mut chunk = vec![0; 1 << 17];
    let mut bytes = 0;
    loop {
        let read = opened.file.read(&mut chunk).map_err(FileError::Io)?;
        if read == 0 {
            return Ok(bytes == content.bytes && <[u8; 32]>::from(hash.finalize()) == content.sha256);
        }
        bytes += read as u64;
        if bytes > content.bytes {
            return Ok(false);
        }
        hash.update(&chunk[..read]);
    }
}

/// Returns what has a name; `None` for nothing.
pub(super) fn look(dir: &Dir, name: &OsStr) -> Result<Option<Node>, FileError> {
    let stat = match dir.stat(name) {
        Ok(stat) => stat,
        Err(FileError::NotFound) => return Ok(None),
        Err(error) => return Err(error),
    };
    let mut node = Node::of(stat);
    if stat.kind == FileKind::Symlink {
        node.link = Some(dir.read_link(name)?);
    }
    Ok(Some(node))
}

/// The folder that was opened last: paths come in their order.
#[derive(Debug, Default)]
pub(super) struct FolderCache {
    last: Option<(usize, RelPath, Option<WritableDir>)>,
}

impl FolderCache {
    /// Opens the folder that holds a path; `None` if it is not there, or not a folder. No link is followed.
    pub fn above(
        &mut self,
        root: usize,
        dir: &WritableDir,
        path: &RelPath,
    ) -> Result<Option<&WritableDir>, FileError> {
        let folder = path.parent().ok_or(FileError::Outside)?;
        if self.last.as_ref().is_none_or(|(known, path, _)| *known != root || *path != folder) {
            let opened = match dir.open_dir_beneath(&folder) {
                Ok(opened) => Some(opened),
                Err(FileError::NotFound | FileError::NotADirectory | FileError::Symlink) => None,
                Err(error) => return Err(error),
            };
            self.last = Some((root, folder, opened));
        }
        Ok(self.last.as_ref().and_then(|(_, _, opened)| opened.as_ref()))
    }

    /// Forgets the folder: names above it change.
    pub fn clear(&mut self) {
        self.last = None;
    }
}
