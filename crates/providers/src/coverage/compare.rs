//! What has changed between two states of the same folders.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use bailiwick_platform::fs::{FileId, FileKind, RelPath};

use super::Snapshot;
use super::node::{Entries, FolderState, Node, RootState, find, join};
use super::rules::{GitPart, git_part, is_git_pointer, objects_folder, protected_folder};

/// One path that has changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TreeChange {
    /// Which root it is beneath.
    pub root: usize,
    /// Its path beneath the root.
    pub path: RelPath,
    /// What was there; `None` for nothing.
    pub before: Option<Node>,
    /// What is there since; `None` for nothing.
    pub after: Option<Node>,
    /// Whether it shares its content with other names than before.
    pub relinks: bool,
}

/// What has changed.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Difference {
    /// What can be taken back, in the order of the paths.
    pub changes: Vec<TreeChange>,
    /// What has changed and cannot be taken back, by root and path.
    pub uncovered: BTreeSet<(usize, RelPath)>,
}

impl TreeChange {
    /// Returns whether only the facts beside the content have changed.
    pub(super) fn keeps_content(&self) -> bool {
        match (&self.before, &self.after) {
            (Some(before), Some(after)) => {
                before.stat.kind == FileKind::File
                    && after.stat.kind == FileKind::File
                    && !self.relinks
                    && before.has_content_of(after)
            }
            _ => false,
        }
    }

    /// Returns the change the other way round.
    #[must_use]
    pub fn reversed(&self) -> Self {
        let (before, after) = (self.after.clone(), self.before.clone());
        Self { before, after, path: self.path.clone(), ..*self }
    }
}

impl Difference {
    /// Compares the state before with the state after.
    pub fn between(before: &Snapshot, after: &Snapshot) -> Self {
        let mut difference = Self::default();
        for (at, old) in before.roots.iter().enumerate() {
            let new = after.roots.iter().find(|root| root.id == old.id);
            match new {
                Some(new) if old.is_complete && new.is_complete => difference.add_root(at, old, new),
                _ => drop(difference.uncovered.insert((at, RelPath::root()))),
            }
        }
        difference
    }

    /// Returns what cannot be taken back, without what is in a folder of which that is so.
    pub fn outermost_uncovered(&self) -> impl Iterator<Item = &(usize, RelPath)> {
        self.uncovered.iter().filter(|(root, path)| {
            let mut above = std::iter::successors(path.parent(), RelPath::parent);
            !above.any(|folder| !folder.is_root() && self.uncovered.contains(&(*root, folder)))
        })
    }

    fn add_root(&mut self, root: usize, old: &RootState, new: &RootState) {
        // What is shared is the same in both.
        let (old_groups, new_groups) = match are_shared(old, new) {
            true => (Groups::new(), Groups::new()),
            false => (groups(old), groups(new)),
        };
        let mut paths: BTreeSet<Vec<u8>> = BTreeSet::new();
        let mut relinked: HashSet<&[u8]> = HashSet::new();
        for (one, other) in [(old, new), (new, old)] {
            for (folder, FolderState { entries, .. }) in &one.folders {
                let others = other.folders.get(folder).map(|it| &it.entries);
                if others.is_some_and(|others| Arc::ptr_eq(entries, others)) {
                    continue;
                }
                let is_changed = |name: &[u8], node: &Node| {
                    others.and_then(|others| find(others, name)).is_none_or(|other| differs(node, other))
                };
                let changed = entries.iter().filter(|(name, node)| is_changed(name, node));
                paths.extend(changed.map(|(name, _)| join(folder, name)));
            }
        }
        for (one, other, state) in [(&old_groups, &new_groups, new), (&new_groups, &old_groups, old)] {
            for (path, group) in members(one) {
                if state.contains(path) && members_of(other, state, path) != Some(group) {
                    relinked.insert(path);
                }
            }
        }
        if old.top.map(|it| it.mode) != new.top.map(|it| it.mode) {
            self.uncovered.insert((root, RelPath::root()));
        }
        paths.extend(relinked.iter().map(|path| path.to_vec()));
        for path in &paths {
            let Ok(rel) = RelPath::parse(path) else { continue };
            let (before, after) = (old.get(path).cloned(), new.get(path).cloned());
            let relinks = relinked.contains(&path[..]);
            let change = TreeChange { root, path: rel, before, after, relinks };
            // What is, or was, below a folder that cannot be read is not known.
            if new.is_unread(path) || old.is_unread(path) {
                continue;
            }
            match self.judge(&change, old, new, &old_groups) {
                Verdict::Nothing => {}
                Verdict::Covered => self.changes.push(change),
                Verdict::Uncovered => drop(self.uncovered.insert((root, change.path))),
            }
        }
        let unread = new.unread.symmetric_difference(&old.unread);
        let left_out = old.left_out.iter().filter(|(path, before)| {
            new.left_out.get(*path).is_none_or(|after| {
                (after.id, after.changed_ns, after.modified_ns)
                    != (before.id, before.changed_ns, before.modified_ns)
            })
        });
        let new_left_out = new.left_out.keys().filter(|path| !old.left_out.contains_key(*path));
        for path in unread.chain(left_out.map(|(path, _)| path)).chain(new_left_out) {
            self.uncovered.extend(RelPath::parse(path).ok().map(|path| (root, path)));
        }
    }

    fn judge(&self, change: &TreeChange, old: &RootState, new: &RootState, old_groups: &Groups) -> Verdict {
        let path = change.path.as_bytes();
        let is_pointer = [&change.before, &change.after]
            .into_iter()
            .flatten()
            .any(|node| is_git_pointer(path, node.stat.kind));
        let part = if is_pointer { GitPart::Protected } else { git_part(path, [old, new]) };
        let Some(before) = &change.before else {
            // Objects that were added stay, but for those of a repository that is new itself.
            let is_new = |folder: Option<&[u8]>| folder.is_some_and(|folder| !old.contains(folder));
            let is_folder = change.after.as_ref().is_some_and(|after| after.stat.kind == FileKind::Dir);
            return match part {
                GitPart::Objects if !is_new(objects_folder(path)) => Verdict::Nothing,
                // Placeholders of missing files, too: another command may run now.
                GitPart::Protected if !is_pointer && !is_new(protected_folder(path)) => match is_folder {
                    true => Verdict::Nothing,
                    false => Verdict::Uncovered,
                },
                GitPart::Objects | GitPart::Protected | GitPart::Ordinary => Verdict::Covered,
            };
        };
        match part {
            GitPart::Protected => return Verdict::Uncovered,
            // Folders of objects that are made or go, and what is the same but for its facts.
            GitPart::Objects if change.after.as_ref().is_some_and(|after| after.has_content_of(before)) => {
                return Verdict::Nothing;
            }
            GitPart::Objects | GitPart::Ordinary => {}
        }
        match before.stat.kind {
            FileKind::Dir | FileKind::Symlink => Verdict::Covered,
            FileKind::File => {
                // Names outside would not be names of the same file any more.
                let names = old_groups.get(&before.stat.id).map_or(1, |names| names.len() as u64);
                let has_names_elsewhere = before.stat.links > names && !change.keeps_content();
                match before.content.is_some() && !has_names_elsewhere {
                    true => Verdict::Covered,
                    false => Verdict::Uncovered,
                }
            }
            FileKind::Fifo | FileKind::Socket | FileKind::Device | FileKind::Other => Verdict::Uncovered,
        }
    }
}

/// What is done about a path that has changed.
enum Verdict {
    Nothing,
    Covered,
    Uncovered,
}

/// The paths of each file that has several below a root.
type Groups = HashMap<FileId, BTreeSet<Vec<u8>>>;

/// Returns whether two states share all that is in their folders.
fn are_shared(one: &RootState, other: &RootState) -> bool {
    let others = &other.folders;
    let is_shared = |folder: &[u8], entries: &Arc<Entries>| {
        others.get(folder).is_some_and(|other| Arc::ptr_eq(entries, &other.entries))
    };
    one.folders.len() == others.len() && one.folders.iter().all(|(folder, it)| is_shared(folder, &it.entries))
}

/// Returns the names of each file that has several below a root.
fn groups(root: &RootState) -> Groups {
    let mut groups = Groups::new();
    for (folder, name, node) in root.nodes().filter(|(_, _, node)| node.is_shared()) {
        groups.entry(node.stat.id).or_default().insert(join(folder, name));
    }
    groups.retain(|_, names| names.len() > 1);
    groups
}

fn members(groups: &Groups) -> impl Iterator<Item = (&[u8], &BTreeSet<Vec<u8>>)> {
    groups.values().flat_map(|names| names.iter().map(move |path| (&path[..], names)))
}

/// Returns the names that a path shares its content with, itself included, in another state.
fn members_of<'a>(groups: &'a Groups, state: &RootState, path: &[u8]) -> Option<&'a BTreeSet<Vec<u8>>> {
    groups.get(&state.get(path)?.stat.id)
}

/// Returns whether what is at a path has changed, apart from which names share its content.
fn differs(before: &Node, after: &Node) -> bool {
    if before.stat.kind != after.stat.kind {
        return true;
    }
    match before.stat.kind {
        FileKind::File => {
            before.stat.mode != after.stat.mode
                || before.stat.modified_ns != after.stat.modified_ns
                || !before.has_content_of(after)
                || (before.content.is_some()
                    && after.content.is_some()
                    && sorted(&before.attributes) != sorted(&after.attributes))
        }
        FileKind::Symlink => before.link != after.link,
        FileKind::Dir => before.stat.mode != after.stat.mode,
        FileKind::Fifo | FileKind::Socket | FileKind::Device | FileKind::Other => {
            before.stat.id != after.stat.id || before.stat.mode != after.stat.mode
        }
    }
}

fn sorted(attributes: &[(Vec<u8>, Vec<u8>)]) -> BTreeMap<&[u8], &[u8]> {
    attributes.iter().map(|(name, value)| (&name[..], &value[..])).collect()
}
