//! Differences of whole trees, kept beside the records of changes: contents first, then what is done with them.

#![expect(clippy::disallowed_methods, reason = "the folder is Bailiwick's own, in its state folder")]

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use bailiwick_contract::id;
use bailiwick_platform::fs::modes::{FileExt, sync_folder};
use bailiwick_platform::fs::{Secrecy, new_private_file, open_own_file};

use super::chunks::Chunks;
use super::pieces::{StoredContents, damaged, read_pieces, undamaged};
use super::record::{ChangeSource, StoredFile};
use super::store::{FILE_BYTES, FoundRecord, VersionStore, create_folder, new_record, to_line, write_record};

/// The largest list of changes that is read.
const MAX_LIST_BYTES: u64 = 256 << 20;

/// A difference of whole trees that is kept, in short.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TreeSummary {
    /// How many paths are new.
    pub created: u64,
    /// How many stand for something else.
    pub changed: u64,
    /// How many are gone.
    pub removed: u64,
    /// Where the list of changes begins, and the contents end.
    pub list_at: u64,
    /// Whether the contents are in pieces; in records of earlier versions they are as they were.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub in_pieces: bool,
    /// The ids of requests whose commands ran at the same time: some of the changes may be theirs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub together: Vec<String>,
    /// Whether the service was killed while the command ran: what changed until the next one counts as the command's.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_cut_off: bool,
}

/// A difference of whole trees that is being written.
#[derive(Debug)]
pub struct TreeDraft {
    store: VersionStore,
    part: PathBuf,
    undo_id: String,
    path: PathBuf,
    file: BufWriter<File>,
    end: u64,
    chunks: Chunks,
    /// What it brings of chunks, if anything.
    pack: Option<BufWriter<File>>,
    /// How much room was made for it.
    reserved: u64,
}

/// The contents of a difference of whole trees.
#[derive(Debug)]
pub struct TreeContents {
    file: File,
    part: PathBuf,
    in_pieces: bool,
}

impl VersionStore {
    /// Begins to keep a difference in a scope that takes so many bytes at most.
    ///
    /// # Errors
    /// Those of the file system; `FileTooLarge` for more than is kept in all.
    pub fn begin_tree(&self, scope: &str, bytes: u64) -> io::Result<TreeDraft> {
        // Contents that cannot be compressed take a little more than they are: heads, and places and names of chunks.
        let reserved = bytes.saturating_add((bytes >> 6) + 3 * FILE_BYTES);
        let part = self.reserve_change(reserved)?;
        let (folder, undo_id) = (trees(&part), id::new_id());
        create_folder(&folder)?;
        sync_folder(&part)?;
        let path = folder.join(&undo_id);
        let file = BufWriter::with_capacity(1 << 20, new_private_file(&path)?);
        let chunks = Chunks::new(Some(&part), scope, &undo_id);
        Ok(TreeDraft { store: self.clone(), part, undo_id, path, file, end: 0, chunks, pack: None, reserved })
    }
}

impl TreeDraft {
    /// Adds a part of the contents, and returns where it begins.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn add(&mut self, bytes: &[u8]) -> io::Result<u64> {
        let at = self.end;
        let mut stored = StoredContents::default();
        stored.add(bytes, &mut self.chunks);
        stored.pieces.iter().try_for_each(|piece| self.file.write_all(piece))?;
        if !stored.pack.is_empty() {
            let pack = match &mut self.pack {
                Some(pack) => pack,
                none => none.insert(BufWriter::with_capacity(1 << 20, self.chunks.create_pack(&self.part)?)),
            };
            stored.pack.iter().try_for_each(|piece| pack.write_all(piece))?;
        }
        self.end += stored.bytes;
        Ok(at)
    }

    /// Writes the list of changes and the record, which is found by the paths of `files`. All of it is on disk then. Returns the id by which it is taken back.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn finish(
        mut self,
        source: ChangeSource<'_>,
        summary: TreeSummary,
        files: Vec<StoredFile>,
        list: &[u8],
    ) -> io::Result<String> {
        let written = (|| {
            self.file.write_all(list)?;
            self.file.flush()?;
            self.file.get_ref().sync_all()?;
            sync_folder(&trees(&self.part))?;
            let mut of_pack = 0;
            if let Some(pack) = &mut self.pack {
                pack.flush()?;
                self.chunks.finish_pack(&self.part, pack.get_ref())?;
                self.pack = None;
                of_pack = self.chunks.bytes() + FILE_BYTES;
            }
            let summary = TreeSummary { list_at: self.end, in_pieces: true, ..summary };
            let record = new_record(&self.undo_id, source, files, Vec::new(), Some(summary));
            let json = to_line(&record)?;
            write_record(&self.part, &record, &json, std::iter::empty())?;
            Ok(self.end + of_pack + (list.len() + json.len()) as u64 + 2 * FILE_BYTES)
        })();
        match written {
            Ok(taken) => {
                self.store.give_back(&self.part, self.reserved.saturating_sub(taken));
                Ok(self.undo_id)
            }
            Err(error) => {
                self.store.forget(&self.undo_id);
                self.discard();
                Err(error)
            }
        }
    }

    /// Gives up: what was written goes.
    pub fn discard(self) {
        let _ = fs::remove_file(&self.path);
        if self.pack.is_some() {
            self.chunks.discard_pack(&self.part);
        }
    }
}

impl FoundRecord {
    /// Opens the contents of a difference of whole trees, and reads its list of changes; `None` if it is none, or not kept
    /// any more.
    ///
    /// # Errors
    /// Those of the file system: what is there could not be read.
    pub fn tree(&self) -> io::Result<Option<(TreeContents, Vec<u8>)>> {
        let Some(summary) = &self.record.tree else { return Ok(None) };
        self.read_kept(|| {
            let contents = self.tree_contents()?;
            let bytes = contents.file.metadata()?.len().checked_sub(summary.list_at).ok_or_else(damaged)?;
            let mut list = vec![0; usize::try_from(bytes.min(MAX_LIST_BYTES)).map_err(|_| damaged())?];
            contents.file.read_exact_at(&mut list, summary.list_at)?;
            Ok((contents, list))
        })
    }

    /// Opens the contents of such a difference.
    pub(super) fn tree_contents(&self) -> io::Result<TreeContents> {
        let in_pieces = self.record.tree.as_ref().is_some_and(|tree| tree.in_pieces);
        let part = self.part().ok_or_else(damaged)?;
        let (file, _) = open_own_file(&trees(part).join(&self.record.undo_id), Secrecy::Secret)?;
        Ok(TreeContents { file, part: part.to_owned(), in_pieces })
    }
}

impl TreeContents {
    /// Creates the contents that are in a file as they are.
    pub fn plain(file: File) -> Self {
        Self { file, part: PathBuf::new(), in_pieces: false }
    }

    /// Reads a content of so many bytes, which is to be held against its hash; `None` if it is damaged.
    ///
    /// # Errors
    /// Those of the file system: what is there could not be read.
    pub fn read(&self, at: u64, bytes: u64) -> io::Result<Option<Vec<u8>>> {
        if self.in_pieces {
            return undamaged(read_pieces(&self.file, &self.part, at, bytes));
        }
        let Ok(bytes) = usize::try_from(bytes) else { return Ok(None) };
        let mut content = vec![0; bytes];
        undamaged(self.file.read_exact_at(&mut content, at)).map(|read| read.map(|()| content))
    }
}

/// Returns where the differences are that are kept in a part.
pub(super) fn trees(part: &Path) -> PathBuf {
    part.join("trees")
}
