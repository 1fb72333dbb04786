//! What has a path at one moment.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use bailiwick_platform::fs::{AttributeList, FileId, FileKind, Stat};
use sha2::{Digest, Sha256};

/// A content that is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Content {
    /// Its SHA-256.
    pub sha256: [u8; 32],
    /// Its size.
    pub bytes: u64,
    /// Where it is among the kept contents; `None` where only its hash is known.
    pub at: Option<u64>,
}

impl Content {
    /// Returns whether bytes are this content.
    pub fn is(&self, bytes: &[u8]) -> bool {
        <[u8; 32]>::from(Sha256::digest(bytes)) == self.sha256
    }
}

/// A file, folder, link or special file, as it was at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// Its facts.
    pub stat: Stat,
    /// Where it leads, if it is a link.
    pub link: Option<Vec<u8>>,
    /// What is in it, if it is a file whose content is kept.
    pub content: Option<Content>,
    /// The extended attributes of a file whose content is kept.
    pub attributes: AttributeList,
    /// Whether it was changed so shortly before that its times would not show a further change.
    pub is_fresh: bool,
}

/// What is in one folder, by names, in their order.
pub(super) type Entries = Vec<(Box<[u8]>, Node)>;

/// A folder, as it was at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FolderState {
    /// What is in it. States share what is the same in both.
    pub entries: Arc<Entries>,
    /// Its version when its names were read; `None` where some of them are not among the entries, or where its times
    /// would not show that one has come or gone.
    pub version: Option<FolderVersion>,
}

/// What changes whenever a name comes into a folder, or goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FolderVersion {
    /// The folder.
    pub id: FileId,
    /// When its names were changed last.
    pub modified_ns: i128,
    /// When its names or facts were changed last.
    pub changed_ns: i128,
}

/// A root folder with all that is below it, as it was at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RootState {
    /// The root.
    pub id: FileId,
    /// The facts of the root itself.
    pub top: Option<Stat>,
    /// Each folder, by its path beneath the root.
    pub folders: HashMap<Box<[u8]>, FolderState>,
    /// Folders that are left out, with all that is below them.
    pub left_out: HashMap<Box<[u8]>, Stat>,
    /// Folders that are Git's own.
    pub git_dirs: BTreeSet<Box<[u8]>>,
    /// Folders that could not be read. What is below them is what was there before.
    pub unread: BTreeSet<Box<[u8]>>,
    /// Whether all of it was seen. Nothing is known where it was not.
    pub is_complete: bool,
}

impl Node {
    /// Creates one of its facts alone.
    pub const fn of(stat: Stat) -> Self {
        Self { stat, link: None, content: None, attributes: Vec::new(), is_fresh: false }
    }

    /// Returns whether it is a file of several names.
    pub fn is_shared(&self) -> bool {
        self.stat.kind == FileKind::File && self.stat.links > 1
    }

    /// Returns whether another state of the same path has the same content, as far as that is known.
    pub fn has_content_of(&self, other: &Self) -> bool {
        match (&self.content, &other.content) {
            (Some(one), Some(other)) => one.sha256 == other.sha256 && one.bytes == other.bytes,
            _ => {
                let facts = |node: &Self| (node.stat.id, node.stat.size, node.stat.modified_ns);
                facts(self) == facts(other)
            }
        }
    }
}

impl RootState {
    /// Creates the state of a root of which nothing is known.
    pub fn new(id: FileId) -> Self {
        Self {
            id,
            top: None,
            folders: HashMap::new(),
            left_out: HashMap::new(),
            git_dirs: BTreeSet::new(),
            unread: BTreeSet::new(),
            is_complete: false,
        }
    }

    /// Returns what has a path below the root.
    pub fn get(&self, path: &[u8]) -> Option<&Node> {
        let (folder, name) = split(path);
        find(&self.folders.get(folder)?.entries, name)
    }

    /// Returns whether something has a path; the root is always there.
    pub fn contains(&self, path: &[u8]) -> bool {
        path.is_empty() || self.get(path).is_some()
    }

    /// Returns all that is below the root: folders, names in them, and what has the name.
    pub fn nodes(&self) -> impl Iterator<Item = (&[u8], &[u8], &Node)> {
        self.folders.iter().flat_map(|(folder, state)| entries_of(folder, &state.entries))
    }

    /// Forgets what has a path.
    pub fn remove(&mut self, path: &[u8]) {
        let (folder, name) = split(path);
        if let Some(state) = self.folders.get_mut(folder) {
            Arc::make_mut(&mut state.entries).retain(|(it, _)| **it != *name);
            state.version = None;
        }
    }

    /// Returns whether a path is in a folder that could not be read.
    pub fn is_unread(&self, path: &[u8]) -> bool {
        !self.unread.is_empty() && folders_above(path).any(|folder| self.unread.contains(folder))
    }
}

fn entries_of<'a>(
    folder: &'a [u8],
    entries: &'a Entries,
) -> impl Iterator<Item = (&'a [u8], &'a [u8], &'a Node)> {
    entries.iter().map(move |(name, node)| (folder, &**name, node))
}

/// Returns what has a name among entries.
pub(super) fn find<'a>(entries: &'a Entries, name: &[u8]) -> Option<&'a Node> {
    let at = entries.binary_search_by(|(it, _)| (**it).cmp(name)).ok()?;
    Some(&entries[at].1)
}

/// Splits a path into the folder that holds it, and its name there.
fn split(path: &[u8]) -> (&[u8], &[u8]) {
    match path.iter().rposition(|byte| *byte == b'/') {
        Some(at) => (&path[..at], &path[at + 1..]),
        None => (&[], path),
    }
}

/// Joins the path of a folder and a name in it.
pub(super) fn join(folder: &[u8], name: &[u8]) -> Vec<u8> {
    let mut path = Vec::with_capacity(folder.len() + name.len() + 1);
    path.extend_from_slice(folder);
    if !folder.is_empty() {
        path.push(b'/');
    }
    path.extend_from_slice(name);
    path
}

/// Returns the paths of the folders above a path, the root left out, the nearest last.
pub(super) fn folders_above(path: &[u8]) -> impl Iterator<Item = &[u8]> {
    let slashes = path.iter().enumerate().filter(|(_, byte)| **byte == b'/');
    slashes.map(|(at, _)| &path[..at])
}
