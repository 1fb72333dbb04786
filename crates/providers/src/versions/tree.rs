//! Differences of whole trees, kept beside the records of changes: contents first, then what is done with them.

#![expect(clippy::disallowed_methods, reason = "the folder is Bailiwick's own, in its state folder")]

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use bailiwick_contract::id;
use bailiwick_platform::fs::modes::{FileExt, sync_folder};
use bailiwick_platform::fs::{Secrecy, create_private_dir, new_private_file, open_own_file};

use super::record::{ChangeSource, StoredFile};
use super::store::{FILE_BYTES, FoundRecord, VersionStore, new_record, to_line, write_record};

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
}

impl VersionStore {
    /// Begins to keep a difference that takes about so many bytes.
    ///
    /// # Errors
    /// Those of the file system; `FileTooLarge` for more than is kept in all.
    pub fn begin_tree(&self, bytes: u64) -> io::Result<TreeDraft> {
        let part = self.reserve_change(bytes.saturating_add(2 * FILE_BYTES))?;
        let (folder, undo_id) = (trees(&part), id::new_id());
        create_private_dir(&folder)?;
        sync_folder(&part)?;
        let path = folder.join(&undo_id);
        let file = BufWriter::with_capacity(1 << 20, new_private_file(&path)?);
        Ok(TreeDraft { store: self.clone(), part, undo_id, path, file, end: 0 })
    }
}

impl TreeDraft {
    /// Adds a part of the contents, and returns where it begins.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn add(&mut self, bytes: &[u8]) -> io::Result<u64> {
        let at = self.end;
        self.file.write_all(bytes)?;
        self.end += bytes.len() as u64;
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
            let summary = TreeSummary { list_at: self.end, ..summary };
            let record = new_record(&self.undo_id, source, files, Vec::new(), Some(summary));
            write_record(&self.part, &record, &to_line(&record)?, std::iter::empty())
        })();
        match written {
            Ok(()) => Ok(self.undo_id),
            Err(error) => {
                self.store.forget(&self.undo_id);
                let _ = fs::remove_file(&self.path);
                Err(error)
            }
        }
    }

    /// Gives up: what was written goes.
    pub fn discard(self) {
        let _ = fs::remove_file(&self.path);
    }
}

impl FoundRecord {
    /// Opens the contents of a difference of whole trees, and reads its list of changes; `None` if it is none, or not kept
    /// any more.
    pub fn tree(&self) -> Option<(File, Vec<u8>)> {
        let summary = self.record.tree.as_ref()?;
        let file = self.tree_file()?;
        let bytes = file.metadata().ok()?.len().checked_sub(summary.list_at)?;
        let mut list = vec![0; usize::try_from(bytes.min(MAX_LIST_BYTES)).ok()?];
        file.read_exact_at(&mut list, summary.list_at).ok()?;
        Some((file, list))
    }

    /// Reads a content of such a difference.
    pub(super) fn tree_content(&self, at: u64, bytes: u64) -> Option<Vec<u8>> {
        let mut content = vec![0; usize::try_from(bytes).ok()?];
        self.tree_file()?.read_exact_at(&mut content, at).ok()?;
        Some(content)
    }

    fn tree_file(&self) -> Option<File> {
        let part = self.file.parent().and_then(Path::parent)?;
        let opened = open_own_file(&trees(part).join(&self.record.undo_id), Secrecy::Secret);
        opened.ok().map(|(file, _)| file)
    }
}

/// Returns where the differences are that are kept in a part.
pub(super) fn trees(part: &Path) -> PathBuf {
    part.join("trees")
}
