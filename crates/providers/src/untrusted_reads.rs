//! Which clients have read what anybody may have written: a private folder for each caller, with a file for each scope.
//!
//! A client cannot reach it: it is in Bailiwick's state, outside every scope. What is there and cannot be read counts as a
//! read of something unknown.

#![expect(clippy::disallowed_methods, reason = "the folder is Bailiwick's own, in its state folder")]

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use bailiwick_contract::{Caller, hex};
use bailiwick_platform::fs::{
    FileLock, OwnFileError, Secrecy, create_private_dir, read_own_file, replace_private_file,
};
use bailiwick_policy::UntrustedRead;

use crate::approval::Moment;
use crate::threads::SweepTime;

/// The form that this version writes.
const VERSION: u32 = 1;
/// The largest file that is read.
const MAX_FILE_BYTES: u64 = 64 * 1024;
/// How old a record is before a further read in the same scope renews it, in milliseconds.
const RENEWED_AFTER_MS: i64 = 60_000;
/// The file with the name of the caller.
const NAME: &str = "caller";
/// The lock under which records are written and removed.
const LOCK: &str = ".lock";

/// The untrusted reads of one installation.
#[derive(Debug, Clone)]
pub struct UntrustedReads {
    folder: PathBuf,
}

/// What a caller has read, for the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallerReads {
    /// The caller, by the name that the user gave it.
    pub caller: String,
    /// What it has read, oldest first.
    pub reads: Vec<UntrustedRead>,
    folder: PathBuf,
}

/// What a file holds: the first read of a scope since one that is forgotten, and when the last one was.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct ReadRecord {
    version: u32,
    scope: String,
    operation_id: String,
    op: String,
    target: Option<String>,
    at_ms: i64,
    renewed: Moment,
}

impl ReadRecord {
    /// Returns the time since it was renewed as the system counts it, in milliseconds; `None` after a start of the computer.
    fn elapsed_ms(&self, now: &Moment) -> Option<i64> {
        self.renewed.boot.as_ref()?.elapsed_ms(now.boot.as_ref())
    }

    fn is_over(&self, now: &Moment) -> bool {
        // The computer's clock counts only where the system does not count the time itself.
        let by_clock = || now.wall_ms.saturating_sub(self.renewed.wall_ms);
        self.elapsed_ms(now).unwrap_or_else(by_clock) >= UntrustedRead::LIFE_MS
    }

    fn is_fresh(&self, now: &Moment) -> bool {
        self.elapsed_ms(now).is_some_and(|elapsed_ms| (0..RENEWED_AFTER_MS).contains(&elapsed_ms))
    }

    fn into_read(self) -> UntrustedRead {
        let Self { scope, operation_id, op, target, at_ms, .. } = self;
        UntrustedRead { scope: Some(scope), operation_id, op, target, at_ms }
    }
}

impl UntrustedReads {
    /// Names the reads below a state folder; nothing is made.
    pub fn below(state: &Path) -> Self {
        Self { folder: state.join("untrusted") }
    }

    /// Returns whether nothing is recorded of a caller. This costs one `stat`.
    pub fn are_none(&self, caller: &Caller) -> bool {
        let found = fs::symlink_metadata(self.of_caller(caller.identity()));
        found.is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
    }

    /// Returns what a caller has read in the last day, oldest first; one for each scope.
    pub fn of(&self, caller: &Caller) -> Vec<UntrustedRead> {
        reads_in(&self.of_caller(caller.identity()))
    }

    /// Records a read. It is on the disk when this returns.
    ///
    /// # Errors
    /// Those of the file system; then the content must not be shown.
    pub fn add(&self, caller: &Caller, read: &UntrustedRead) -> io::Result<()> {
        let scope = read.scope.as_deref().unwrap_or_default();
        let folder = self.of_caller(caller.identity());
        let path = folder.join(format!("{}.json", digest(scope)));
        let now = Moment::now();
        let first = match record_in(&path) {
            Ok(Some(record)) if record.is_fresh(&now) => return Ok(()),
            Ok(record) => record.filter(|it| !it.is_over(&now)).map(ReadRecord::into_read),
            // It stays what it is until the user forgets it.
            Err(()) => return Ok(()),
        };
        create_private_dir(&self.folder)?;
        let _lock = FileLock::take(&self.folder, LOCK)?;
        create_private_dir(&folder)?;
        let UntrustedRead { operation_id, op, target, at_ms, .. } = first.unwrap_or_else(|| read.clone());
        let record = ReadRecord {
            version: VERSION,
            scope: scope.to_owned(),
            operation_id,
            op,
            target,
            at_ms,
            renewed: now,
        };
        replace_private_file(&folder.join(NAME), caller.name.as_bytes())?;
        replace_private_file(&path, &serde_json::to_vec(&record)?)?;
        self.sweep_aside();
        Ok(())
    }

    /// Removes the records that are over, on a thread of its own: no request waits for it. At most once an hour.
    pub fn sweep_aside(&self) {
        static SWEPT: SweepTime = SweepTime::new();
        let reads = self.clone();
        SWEPT.sweep_aside(move || reads.sweep());
    }

    /// Removes the records that are over, and callers that have none left. What cannot be read stays.
    fn sweep(&self) {
        for caller in fs::read_dir(&self.folder).into_iter().flatten().flatten() {
            let folder = caller.path();
            for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
                let path = entry.path();
                let is_over =
                    || matches!(record_in(&path), Ok(Some(record)) if record.is_over(&Moment::now()));
                // Looked at again under the lock: it may have been renewed.
                if path.extension().is_some_and(|end| end == "json")
                    && is_over()
                    && let Ok(_lock) = FileLock::take(&self.folder, LOCK)
                    && is_over()
                {
                    let _ = fs::remove_file(&path);
                    let is_name = |entry: fs::DirEntry| entry.file_name() == NAME;
                    let has_more = fs::read_dir(&folder)
                        .map_or(true, |mut entries| !entries.all(|entry| entry.is_ok_and(is_name)));
                    if !has_more {
                        let _ = fs::remove_dir_all(&folder);
                    }
                }
            }
        }
    }

    /// Returns what all callers have read.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn all(&self) -> io::Result<Vec<CallerReads>> {
        let entries = match fs::read_dir(&self.folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            other => other?,
        };
        let mut all = Vec::new();
        for entry in entries {
            let entry = entry?;
            if entry.file_name() == LOCK {
                continue;
            }
            let folder = entry.path();
            let name = read_own_file(&folder.join(NAME), Secrecy::Secret, MAX_FILE_BYTES);
            let caller = name.map_or_else(
                |_| "(unknown)".to_owned(),
                |(name, _)| String::from_utf8_lossy(&name).into_owned(),
            );
            let reads = reads_in(&folder);
            if !reads.is_empty() {
                all.push(CallerReads { caller, reads, folder });
            }
        }
        all.sort_by(|one, other| (&one.caller, &one.folder).cmp(&(&other.caller, &other.folder)));
        Ok(all)
    }

    /// Forgets what a caller has read. Only the user may.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn forget(&self, reads: &CallerReads) -> io::Result<()> {
        match fs::remove_dir_all(&reads.folder) {
            // The system calls what is no folder by several names.
            Err(_) if !reads.folder.is_dir() && reads.folder.exists() => fs::remove_file(&reads.folder),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            other => other,
        }
    }

    fn of_caller(&self, identity: &str) -> PathBuf {
        self.folder.join(digest(identity))
    }
}

fn digest(text: &str) -> String {
    hex(&Sha256::digest(text.as_bytes()))
}

fn reads_in(folder: &Path) -> Vec<UntrustedRead> {
    let now = Moment::now();
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Vec::new(),
        Err(_) => return vec![UntrustedRead::unknown()],
        Ok(entries) => entries,
    };
    let mut reads = Vec::new();
    for entry in entries {
        let Ok(path) = entry.map(|entry| entry.path()) else {
            reads.push(UntrustedRead::unknown());
            continue;
        };
        if path.extension().is_none_or(|end| end != "json") {
            continue;
        }
        match record_in(&path) {
            Ok(record) => reads.extend(record.filter(|it| !it.is_over(&now)).map(ReadRecord::into_read)),
            Err(()) => reads.push(UntrustedRead::unknown()),
        }
    }
    reads.sort_by(|one, other| (one.at_ms, &one.operation_id).cmp(&(other.at_ms, &other.operation_id)));
    reads
}

/// Reads a record; none where there is no file.
///
/// # Errors
/// Where a file is there that Bailiwick did not write so.
fn record_in(path: &Path) -> Result<Option<ReadRecord>, ()> {
    match read_own_file(path, Secrecy::Secret, MAX_FILE_BYTES) {
        Err(OwnFileError::NotFound) => Ok(None),
        Err(_) => Err(()),
        Ok((text, _)) => {
            let record = serde_json::from_slice::<ReadRecord>(&text).map_err(|_| ())?;
            let is_own = path.file_stem().is_some_and(|stem| *stem == *digest(&record.scope));
            (record.version == VERSION && is_own).then_some(Some(record)).ok_or(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bailiwick_contract::{Transport, id};

    #[test]
    fn records_that_are_over_are_removed_and_others_stay() {
        let state = std::env::temp_dir().join(format!("bailiwick-untrusted-{}", id::new_id()));
        create_private_dir(&state).expect("made");
        let store = UntrustedReads::below(&state);
        let [one, two] =
            ["one", "two"].map(|name| Caller { name: name.to_owned(), ..Caller::local(Transport::Cli) });
        let read = |scope: &str| UntrustedRead {
            scope: Some(scope.to_owned()),
            operation_id: id::new_id(),
            op: "file.read".to_owned(),
            target: None,
            at_ms: 0,
        };
        let folder = |caller: &Caller| store.of_caller(caller.identity());
        for (caller, scopes) in [(&one, &["app", "docs"][..]), (&two, &["app"][..])] {
            scopes.iter().for_each(|scope| store.add(caller, &read(scope)).expect("written"));
        }
        let age = |caller: &Caller, scope: &str| {
            let path = folder(caller).join(format!("{}.json", digest(scope)));
            let mut record = record_in(&path).expect("its own").expect("it is there");
            record.renewed = Moment { wall_ms: 0, boot: None };
            replace_private_file(&path, &serde_json::to_vec(&record).expect("JSON")).expect("written");
        };
        store.sweep();
        assert_eq!((store.of(&one).len(), store.of(&two).len()), (2, 1), "nothing is over");
        age(&one, "app");
        age(&two, "app");
        replace_private_file(&folder(&one).join("broken.json"), b"{").expect("written");
        store.sweep();
        assert!(!folder(&two).exists(), "nothing is left of this one");
        let left: Vec<_> = store.of(&one).into_iter().map(|it| it.scope).collect();
        assert!(
            left.len() == 2 && left.contains(&None) && left.contains(&Some("docs".to_owned())),
            "{left:?}"
        );
        assert_eq!(
            fs::read_dir(folder(&one)).expect("it is there").count(),
            3,
            "with the name of the caller"
        );
        assert_eq!(store.all().expect("readable").len(), 1);
        fs::remove_dir_all(&state).expect("it was made above");
    }
}
