//! Letting go of what is old, or too much.

#![expect(clippy::disallowed_methods, reason = "the folder is Bailiwick's own, in its state folder")]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

/// How long a version is kept.
const MAX_AGE: Duration = Duration::from_secs(30 * 24 * 3_600);
/// How many bytes of contents are kept.
const MAX_BYTES: u64 = 512 << 20;
/// How long a store that was looked through is left alone.
const PAUSE: Duration = Duration::from_secs(600);

static LAST: Mutex<Vec<(PathBuf, Instant)>> = Mutex::new(Vec::new());

/// Removes versions over 30 days old, then the oldest contents until no more than 512 MiB are left.
///
/// Looks once in a while only. What cannot be removed stays.
pub(super) fn prune(folder: &Path) {
    {
        let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
        if last.iter().any(|(path, at)| path == folder && at.elapsed() < PAUSE) {
            return;
        }
        last.retain(|(path, at)| path != folder && at.elapsed() < PAUSE);
        last.push((folder.to_owned(), Instant::now()));
    }
    prune_to(folder, MAX_AGE, MAX_BYTES);
}

fn prune_to(folder: &Path, max_age: Duration, max_bytes: u64) {
    let now = SystemTime::now();
    let old = |modified: SystemTime| now.duration_since(modified).is_ok_and(|age| age > max_age);
    for file in files(&folder.join("log")).into_iter().filter(|file| old(file.modified)) {
        let _ = fs::remove_file(file.path);
    }
    for path in folders(&folder.join("paths")) {
        for file in files(&path).into_iter().filter(|file| old(file.modified)) {
            let _ = fs::remove_file(file.path);
        }
        // Only an empty one goes.
        let _ = fs::remove_dir(path);
    }
    let mut contents: Vec<OwnFile> =
        folders(&folder.join("contents")).iter().flat_map(|path| files(path)).collect();
    contents.sort_by_key(|file| file.modified);
    let mut bytes: u64 = contents.iter().map(|file| file.bytes).sum();
    for file in contents {
        if bytes <= max_bytes && !old(file.modified) {
            break;
        }
        if fs::remove_file(&file.path).is_ok() {
            bytes -= file.bytes;
        }
    }
}

struct OwnFile {
    path: PathBuf,
    modified: SystemTime,
    bytes: u64,
}

fn files(folder: &Path) -> Vec<OwnFile> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .filter_map(|entry| {
            let facts = entry.metadata().ok().filter(fs::Metadata::is_file)?;
            Some(OwnFile { path: entry.path(), modified: facts.modified().ok()?, bytes: facts.len() })
        })
        .collect()
}

fn folders(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
        .map(|entry| entry.path())
        .collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use crate::file::sha256_hex;
    use bailiwick_contract::id;

    use super::super::{Before, FileChange, VersionStore};
    use super::*;

    #[test]
    fn the_oldest_contents_go_first_and_old_records_go() {
        let state = std::env::temp_dir().join(format!("bailiwick-prune-{}", id::new_id()));
        let store = VersionStore::below(&state);
        let keep = |content: &[u8]| {
            let before = Some(Before {
                content: Arc::new(content.to_vec()),
                sha256: sha256_hex(content),
                mode: 0o644,
            });
            let change = FileChange { path: "a".into(), moved_from: None, before, version_after: None };
            let undo_id = store.keep("app", "file.write", &[change]).expect("it is kept");
            let record = store.record("app", &undo_id).expect("it is there");
            record.files[0].sha256.clone().expect("there was a file")
        };
        let (first, second) = (keep(&[1; 600]), keep(&[2; 600]));
        let folder = state.join("versions");
        prune_to(&folder, MAX_AGE, 1_000);
        assert!(store.content(&first).is_none() && store.content(&second).is_some());
        std::thread::sleep(Duration::from_millis(20));
        prune_to(&folder, Duration::from_millis(1), 1_000);
        assert!(store.content(&second).is_none() && store.changes_of("app", "a").is_empty());
        bailiwick_platform::fs::remove_tree(&state).expect("it was made above");
    }
}
