//! A difference as it is kept in the store of versions: written when a command has ended, read when it is taken back.

use std::io;

use bailiwick_contract::hex;
use bailiwick_platform::fs::{FileId, FileKind, RelPath};

use super::codec::{Decoder, Encoder};
use super::compare::{Difference, TreeChange};
use super::node::{Content, Node};
use super::store::Snapshot;
use crate::file::content_version;
use crate::versions::{
    ChangeSource, FileFacts, FoundRecord, StoredFile, TreeContents, TreeSummary, VersionStore,
};

/// What the list of changes begins with: another form has another number.
const FORM: u64 = 0x6261_696c_0000_0101;
/// How many files of a record are found by their paths.
const MAX_FOUND_BY_PATH: usize = 256;
/// How much a change takes in the list, beside its paths.
pub(super) const CHANGE_BYTES: u64 = 512;

/// A kept difference.
#[derive(Debug)]
pub struct TreeRecord {
    /// The roots, in their order.
    pub roots: Vec<FileId>,
    /// What has changed.
    pub difference: Difference,
    contents: TreeContents,
}

/// Keeps what a command changed, with the contents that it replaced. Returns the id by which it is taken back, `None` if
/// nothing can be. All of it is on disk then. `of` has what else is known of the command, and `show` names paths of roots. A content that cannot be read any more is not covered.
///
/// # Errors
/// Those of the file system; `FileTooLarge` for more than is kept in all.
pub fn keep_difference(
    store: &VersionStore,
    source: ChangeSource<'_>,
    difference: &mut Difference,
    before: &Snapshot,
    of: TreeSummary,
    show: &dyn Fn(usize, &RelPath) -> String,
) -> io::Result<Option<String>> {
    if difference.changes.is_empty() {
        return Ok(None);
    }
    let mut draft = store.begin_tree(source.scope, list_bytes(difference) + contents_bytes(difference))?;
    let mut kept = Vec::with_capacity(difference.changes.len());
    for mut change in std::mem::take(&mut difference.changes) {
        let keeps_content = change.keeps_content();
        if let Some(content) = change.before.as_mut().and_then(|before| before.content.as_mut()) {
            content.at = match keeps_content {
                true => None,
                false => match before.read(content) {
                    Some(bytes) => match draft.add(&bytes) {
                        Ok(at) => Some(at),
                        Err(error) => {
                            draft.discard();
                            return Err(error);
                        }
                    },
                    None => {
                        difference.uncovered.insert((change.root, change.path));
                        continue;
                    }
                },
            };
        }
        if let Some(content) = change.after.as_mut().and_then(|after| after.content.as_mut()) {
            content.at = None;
        }
        kept.push(change);
    }
    difference.changes = kept;
    if difference.changes.is_empty() {
        draft.discard();
        return Ok(None);
    }
    let roots: Vec<FileId> = before.roots.iter().map(|root| root.id).collect();
    let list = encode(&roots, difference);
    draft
        .finish(source, summary(&difference.changes, of), found_by_path(&difference.changes, show), &list)
        .map(Some)
}

/// Returns what is found by its path of what has changed: files that were there, or are there now, with another content.
pub(super) fn found_by_path(
    changes: &[TreeChange],
    show: &dyn Fn(usize, &RelPath) -> String,
) -> Vec<StoredFile> {
    let is_file = |node: &Option<Node>| node.as_ref().is_none_or(|it| it.stat.kind == FileKind::File);
    let of_files =
        changes.iter().filter(|it| is_file(&it.before) && is_file(&it.after) && !it.keeps_content());
    let described = |change: &TreeChange| {
        let content = |node: &Option<Node>| node.as_ref().and_then(|it| it.content.clone());
        let (before, after) = (change.before.as_ref(), content(&change.after));
        let content = content(&change.before);
        StoredFile {
            path: show(change.root, &change.path),
            sha256: content.as_ref().map(|it| hex(&it.sha256)),
            bytes: content.as_ref().map_or(0, |it| it.bytes),
            mode: before.map_or(0, |it| it.stat.mode & 0o7777),
            version_after: after.map(|it| content_version(&hex(&it.sha256))),
            facts: FileFacts {
                modified_ns: before.and_then(|it| i64::try_from(it.stat.modified_ns).ok()),
                attributes: before.map(|it| it.attributes.clone()).unwrap_or_default(),
            },
            at: content.and_then(|it| it.at),
            ..StoredFile::default()
        }
    };
    of_files.take(MAX_FOUND_BY_PATH).map(described).collect()
}

/// Counts how many paths a difference creates, changes and removes.
pub(super) fn summary(changes: &[TreeChange], mut summary: TreeSummary) -> TreeSummary {
    for change in changes.iter().filter(|it| it.before != it.after) {
        match (&change.before, &change.after) {
            (None, _) => summary.created += 1,
            (Some(_), Some(_)) => summary.changed += 1,
            (Some(_), None) => summary.removed += 1,
        }
    }
    summary
}

/// Returns what a list of changes takes at most.
pub(super) fn list_bytes(difference: &Difference) -> u64 {
    let of_nodes = |change: &TreeChange| {
        let nodes = [&change.before, &change.after].into_iter().flatten();
        nodes
            .map(|node| {
                let attributes = node.attributes.iter().map(|(name, value)| name.len() + value.len() + 16);
                (node.link.as_ref().map_or(0, Vec::len) + attributes.sum::<usize>()) as u64
            })
            .sum::<u64>()
    };
    let changes = difference.changes.iter();
    let paths = difference.uncovered.iter().map(|(_, path)| path.as_bytes().len() as u64 + 64);
    4_096
        + changes.map(|it| it.path.as_bytes().len() as u64 + CHANGE_BYTES + of_nodes(it)).sum::<u64>()
        + paths.sum::<u64>()
}

fn contents_bytes(difference: &Difference) -> u64 {
    let replaced = difference.changes.iter().filter(|change| !change.keeps_content());
    replaced.filter_map(|change| Some(change.before.as_ref()?.content.as_ref()?.bytes)).sum()
}

/// Writes the list of changes.
pub(super) fn encode(roots: &[FileId], difference: &Difference) -> Vec<u8> {
    let mut encoder = Encoder::default();
    encoder.number(FORM);
    encoder.count(roots.len());
    roots.iter().for_each(|id| encoder.id(*id));
    encoder.count(difference.changes.len());
    for change in &difference.changes {
        encoder.count(change.root);
        encoder.bytes(change.path.as_bytes());
        encoder.option(change.before.as_ref(), Encoder::node);
        encoder.option(change.after.as_ref(), Encoder::node);
        encoder.flag(change.relinks);
    }
    encoder.count(difference.uncovered.len());
    for (root, path) in &difference.uncovered {
        encoder.count(*root);
        encoder.bytes(path.as_bytes());
    }
    encoder.0
}

impl TreeRecord {
    /// Reads a kept difference; `None` if a record is not one, or is not kept any more.
    ///
    /// # Errors
    /// Those of the file system: what is there could not be read.
    pub fn read(found: &FoundRecord) -> io::Result<Option<Self>> {
        Ok(found.tree()?.and_then(|(contents, list)| Self::parse(contents, &list)))
    }

    /// Reads a list of changes; `None` if it is none.
    pub(super) fn parse(contents: TreeContents, list: &[u8]) -> Option<Self> {
        let mut decoder = Decoder(list);
        if decoder.number()? != FORM {
            return None;
        }
        let count = decoder.count()?;
        let roots: Vec<FileId> = (0..count).map(|_| decoder.id()).collect::<Option<_>>()?;
        let index = |decoder: &mut Decoder<'_>| {
            let root = usize::try_from(decoder.number()?).ok().filter(|root| *root < count)?;
            Some((root, RelPath::parse(decoder.bytes()?).ok()?))
        };
        let mut difference = Difference::default();
        for _ in 0..decoder.count()? {
            let (root, path) = index(&mut decoder)?;
            let before = decoder.option(Decoder::node)?;
            let after = decoder.option(Decoder::node)?;
            difference.changes.push(TreeChange { root, path, before, after, relinks: decoder.flag()? });
        }
        for _ in 0..decoder.count()? {
            difference.uncovered.insert(index(&mut decoder)?);
        }
        Some(Self { roots, difference, contents })
    }

    /// Reads a kept content; `None` if it is damaged or was not kept.
    ///
    /// # Errors
    /// Those of the file system: what is there could not be read.
    pub fn content(&self, content: &Content) -> io::Result<Option<Vec<u8>>> {
        let Some(at) = content.at else { return Ok(None) };
        Ok(self.contents.read(at, content.bytes)?.filter(|bytes| content.is(bytes)))
    }
}
