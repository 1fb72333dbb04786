//! What has a path at one moment.

use std::collections::{BTreeSet, HashMap};

use bailiwick_platform::fs::{AttributeList, FileId, FileKind, Stat};

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

/// A root folder with all that is below it, as it was at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RootState {
    /// The root.
    pub id: FileId,
    /// What is below it, by paths beneath it.
    pub nodes: HashMap<Box<[u8]>, Node>,
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
            nodes: HashMap::new(),
            left_out: HashMap::new(),
            git_dirs: BTreeSet::new(),
            unread: BTreeSet::new(),
            is_complete: false,
        }
    }

    /// Returns whether a path is in a folder that could not be read.
    pub fn is_unread(&self, path: &[u8]) -> bool {
        !self.unread.is_empty() && folders_above(path).any(|folder| self.unread.contains(folder))
    }
}

/// Returns the paths of the folders above a path, the root left out, the nearest last.
pub(super) fn folders_above(path: &[u8]) -> impl Iterator<Item = &[u8]> {
    let slashes = path.iter().enumerate().filter(|(_, byte)| **byte == b'/');
    slashes.map(|(at, _)| &path[..at])
}
