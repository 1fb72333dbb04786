//! What says that a batch, or an undo of several steps, is not finished: a file that is there from before its first step until
//! it has ended or was taken back, and a lock that goes with the process.

#![expect(clippy::disallowed_methods, reason = "the folder is Bailiwick's own, in its state folder")]

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};

use bailiwick_contract::{Caller, ErrorCode, Failure, id, time};
use bailiwick_platform::fs::{
    ABANDONED_AFTER, FileLock, OwnFileError, Secrecy, create_private_dir, is_older, read_own_file,
    replace_private_file,
};

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
    /// Of a batch that runs in this process. After the lock: it is let go of first.
    own: Option<OwnBatch>,
}

/// A batch that runs in this process, by the path of its journal.
#[derive(Debug)]
struct OwnBatch {
    path: PathBuf,
    has_ended: bool,
}

/// The journals of the batches that run in this process.
static OWN: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
/// How many journals of this process were let go of before they had ended.
static LEFT: AtomicU64 = AtomicU64::new(0);

fn own() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    OWN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns how many batches of this process have left their journals, so that they have to be looked for.
pub fn left_journals() -> u64 {
    LEFT.load(Ordering::Acquire)
}

impl OwnBatch {
    fn new(path: PathBuf) -> Self {
        own().insert(path.clone());
        Self { path, has_ended: false }
    }
}

impl Drop for OwnBatch {
    fn drop(&mut self) {
        own().remove(&self.path);
        if !self.has_ended {
            LEFT.fetch_add(1, Ordering::Release);
        }
    }
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
    /// Whether others run, in other processes.
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
        let own = Some(OwnBatch::new(folder.join(batch)));
        let lock = FileLock::try_take(&folder, &lock_name(batch))?.ok_or(io::ErrorKind::WouldBlock)?;
        let entry =
            Entry { scope: scope.to_owned(), caller: caller.name.clone(), token: caller.token.clone() };
        replace_private_file(&folder.join(batch), &serde_json::to_vec(&entry).map_err(io::Error::other)?)?;
        Ok(Self { folder, name: batch.to_owned(), lock, own })
    }

    /// Writes down that nothing is left to be taken back.
    pub fn end(mut self) {
        if let Some(own) = &mut self.own {
            own.has_ended = true;
        }
        let path = self.folder.join(&self.name);
        // What was finished must not be taken back: an empty one says nothing.
        if fs::remove_file(&path).is_err() && fs::remove_file(&path).is_err() {
            let _ = fs::write(&path, "");
        }
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
        remove_unused_lock(&folder, &name);
        if !id::is_id(&name) || own().contains(&folder.join(&name)) {
            continue;
        }
        let Ok(Some(lock)) = FileLock::try_take(&folder, &lock_name(&name)) else {
            found.are_some_running = true;
            continue;
        };
        let journal = Journal { folder: folder.clone(), name: name.clone(), lock, own: None };
        let read = read_own_file(&folder.join(&name), Secrecy::Secret, MAX_BYTES);
        // What cannot be read now is read later.
        let is_read = !matches!(read, Err(OwnFileError::Io(_)));
        match read.ok().and_then(|(bytes, _)| serde_json::from_slice::<Entry>(&bytes).ok()) {
            Some(entry) => found.unfinished.push(UnfinishedBatch {
                id: name,
                scope: entry.scope,
                caller: entry.caller,
                token: entry.token,
                journal,
            }),
            // It was cut off before its first step, or has ended this very moment.
            None if is_read => journal.end(),
            None => found.are_some_running = true,
        }
    }
    // An undo within a batch goes before it.
    found.unfinished.sort_by(|one, next| next.id.cmp(&one.id));
    found
}

/// For how long taking back is tried again.
const TRY_FOR_MS: i64 = 7 * 24 * 3_600 * 1_000;

/// Returns whether taking a batch back has failed for now, and is tried again: for want of room, of time, or of a history that
/// can be written, and since the disk or the system has refused something.
pub fn may_pass(batch: &str, failure: &Failure) -> bool {
    use ErrorCode::{Cancelled, ExecutionFailed, OsPermissionRequired, ProviderUnavailable, Timeout};
    let codes = [Cancelled, ExecutionFailed, OsPermissionRequired, ProviderUnavailable, Timeout];
    let is_young = id::began_ms(batch).is_some_and(|began_ms| time::now_ms() - began_ms < TRY_FOR_MS);
    is_young && (failure.details.contains_key("disk") || codes.contains(&failure.code))
}

/// Removes the lock of a batch or a command that a killed process has left without its journal or note.
fn remove_unused_lock(folder: &Path, name: &str) {
    let Some(id) = name.strip_suffix(".lock").filter(|id| id::is_id(id)) else { return };
    let is_used = || [id.to_owned(), format!("{id}.command")].iter().any(|name| folder.join(name).exists());
    let facts = fs::symlink_metadata(folder.join(name));
    // The lock is taken first, then the journal or note is written.
    let is_left = facts.and_then(|facts| facts.modified()).is_ok_and(|at| is_older(at, ABANDONED_AFTER));
    if is_left
        && !is_used()
        && let Ok(Some(_lock)) = FileLock::try_take(folder, name)
        && !is_used()
    {
        let _ = fs::remove_file(folder.join(name));
    }
}

/// Returns the folder of the journals.
pub fn folder(state: &Path) -> PathBuf {
    state.join("batches")
}

fn lock_name(batch: &str) -> String {
    format!("{batch}.lock")
}

#[cfg(test)]
mod tests {
    use super::*;
    use bailiwick_contract::Transport;
    use bailiwick_platform::fs::remove_tree;

    #[test]
    fn a_lock_without_its_journal_goes_once_it_is_old() {
        let state = std::env::temp_dir().join(format!("bailiwick-journal-{}", id::new_id()));
        let folder = folder(&state);
        create_private_dir(&folder).expect("made");
        // As a kill between the lock and its journal leaves it, or one before the lock is removed.
        let left = |age| {
            let path = folder.join(lock_name(&id::new_id()));
            let file = fs::File::create(&path).expect("made");
            file.set_modified(std::time::SystemTime::now() - age).expect("set");
            path
        };
        let (old, new, of_command) =
            (left(2 * ABANDONED_AFTER), left(ABANDONED_AFTER / 100), left(2 * ABANDONED_AFTER));
        fs::write(of_command.with_extension("command"), "{}").expect("written");
        find_batches(&state);
        assert!(!old.exists() && new.exists() && of_command.exists());
        remove_tree(&state).expect("it was made above");
    }

    #[test]
    fn a_batch_of_this_process_is_looked_for_only_once_it_was_left() {
        let state = std::env::temp_dir().join(format!("bailiwick-journal-{}", id::new_id()));
        fs::create_dir(&state).expect("made");
        let begin = || {
            let caller = Caller::local(Transport::Cli);
            Journal::begin(&state, &id::new_id(), "app", &caller).expect("written down")
        };
        let found = || {
            let found = find_batches(&state);
            (found.unfinished.len(), found.are_some_running)
        };
        let (left, ended) = (begin(), begin());
        assert_eq!(found(), (0, false), "both run here");
        ended.end();
        assert_eq!(found(), (0, false));
        let before = left_journals();
        drop(left);
        assert_eq!(left_journals(), before + 1);
        assert_eq!(found(), (1, false), "it is found each time");
        let all = find_batches(&state).unfinished;
        assert_eq!(found(), (0, true), "who takes it back may be another process");
        all.into_iter().for_each(UnfinishedBatch::end);
        assert_eq!(found(), (0, false));
        remove_tree(&state).expect("it was made above");
    }
}
