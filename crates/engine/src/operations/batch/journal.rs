//! What says that a batch is not finished: a file that is there from before its first step until it has ended or was
//! taken back, and a lock that goes with the process.

#![expect(clippy::disallowed_methods, reason = "the folder is Bailiwick's own, in its state folder")]

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use bailiwick_contract::{Caller, id};
use bailiwick_platform::fs::{FileLock, Secrecy, create_private_dir, read_own_file, replace_private_file};

/// The largest journal that is read, in bytes.
const MAX_BYTES: u64 = 65_536;

/// A batch, as it is found after its process has gone.
#[derive(Debug, Serialize, Deserialize)]
struct Entry {
    scope: String,
    caller: String,
    token: Option<String>,
}

/// The journal of one batch.
#[derive(Debug)]
pub struct Journal {
    folder: PathBuf,
    name: String,
    lock: FileLock,
}

/// A batch whose process has gone before it had ended.
#[derive(Debug)]
pub struct UnfinishedBatch {
    /// The operation id of the batch.
    pub id: String,
    /// The scope in which it ran.
    pub scope: String,
    /// The name of its caller.
    pub caller: String,
    /// The id of the caller's token, if it had one.
    pub token: Option<String>,
    journal: Journal,
}

/// The batches that have not ended.
#[derive(Debug, Default)]
pub struct FoundBatches {
    /// Those whose processes have gone.
    pub unfinished: Vec<UnfinishedBatch>,
    /// Whether others run, in this process or another.
    pub are_some_running: bool,
}

impl Journal {
    /// Writes down that a batch begins. It is on disk then.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn begin(state: &Path, batch: &str, scope: &str, caller: &Caller) -> io::Result<Self> {
        let folder = folder(state);
        create_private_dir(&folder)?;
        let lock = FileLock::try_take(&folder, &lock_name(batch))?.ok_or(io::ErrorKind::WouldBlock)?;
        let entry =
            Entry { scope: scope.to_owned(), caller: caller.name.clone(), token: caller.token.clone() };
        replace_private_file(&folder.join(batch), &serde_json::to_vec(&entry).map_err(io::Error::other)?)?;
        Ok(Self { folder, name: batch.to_owned(), lock })
    }

    /// Writes down that nothing is left to be taken back.
    pub fn end(self) {
        // What cannot be removed is taken back once more, and finds nothing.
        let _ = fs::remove_file(self.folder.join(&self.name));
        drop(self.lock);
        let _ = fs::remove_file(self.folder.join(lock_name(&self.name)));
    }
}

impl UnfinishedBatch {
    /// Writes down that it was dealt with.
    pub fn end(self) {
        self.journal.end();
    }
}

/// Looks for batches that have not ended.
pub fn find_batches(state: &Path) -> FoundBatches {
    let folder = folder(state);
    let mut found = FoundBatches::default();
    let Ok(entries) = fs::read_dir(&folder) else { return found };
    for name in entries.flatten().filter_map(|entry| entry.file_name().into_string().ok()) {
        if !id::is_id(&name) {
            continue;
        }
        let Ok(Some(lock)) = FileLock::try_take(&folder, &lock_name(&name)) else {
            found.are_some_running = true;
            continue;
        };
        let journal = Journal { folder: folder.clone(), name: name.clone(), lock };
        let read = read_own_file(&folder.join(&name), Secrecy::Secret, MAX_BYTES).ok();
        match read.and_then(|(bytes, _)| serde_json::from_slice::<Entry>(&bytes).ok()) {
            Some(entry) => found.unfinished.push(UnfinishedBatch {
                id: name,
                scope: entry.scope,
                caller: entry.caller,
                token: entry.token,
                journal,
            }),
            // It was cut off before its first step, or has ended this very moment.
            None => journal.end(),
        }
    }
    found
}

/// Returns the folder of the journals.
pub fn folder(state: &Path) -> PathBuf {
    state.join("batches")
}

fn lock_name(batch: &str) -> String {
    format!("{batch}.lock")
}
