//! The history: whether it can be read, and whether every row is as it was written.

use std::fs;
use std::path::Path;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use bailiwick_history::{StoreError, stores_aside, verify, writing_problem};
use bailiwick_providers::versions::VersionStore;

use super::finding::Findings;
use crate::installation::home::Home;

/// How long the check of the chain may take.
const TIME: Duration = Duration::from_millis(1_200);

/// How long kept changes are checked, the newest first.
const KEPT_CHANGES_TIME: Duration = Duration::from_secs(1);

/// Looks at the history, and at what is kept for undo.
pub fn look(home: &Home, found: &mut Findings) {
    found.group("History");
    let state = home.dirs.state.clone();
    let size: u64 = fs::read_dir(&state)
        .into_iter()
        .flatten()
        .flatten()
        .filter(|entry| entry.file_name().to_string_lossy().starts_with("history.db"))
        .filter_map(|entry| entry.metadata().ok())
        .map(|facts| facts.len())
        .sum();
    look_at_stores_aside(&state, found);
    look_at_kept_changes(&state, found);
    let (says, hears) = mpsc::channel();
    // It ends with this process if it takes longer.
    let folder = state.clone();
    let spawned = thread::Builder::new().name("verify".to_owned()).spawn(move || {
        // Nobody hears it once the time is over.
        let _ = says.send(verify(&folder));
    });
    if spawned.is_err() {
        found.fail("history", "the system gives no thread to check the history", "Close other programs.");
        return;
    }
    match hears.recv_timeout(TIME) {
        Err(_) => {
            found.warn(
                "history",
                format!(
                    "the history ({} MiB) is too large to be checked in the time of a doctor",
                    size >> 20
                ),
                "Run `bailiwick log verify`.",
            );
        }
        Ok(Err(error)) => {
            found.fail(
                "history",
                error.to_string(),
                "Check the disk; a store that is damaged is set aside at the next start, and nothing of it is removed.",
            );
        }
        Ok(Ok(report)) => {
            match report.problem {
                Some(problem) => {
                    found.fail(
                        "history",
                        format!("row {}: {}", problem.seq, problem.what),
                        "Run `bailiwick log verify`. Keep the file: it shows what was changed. Move it away to start over.",
                    );
                }
                None => {
                    look_at_writing(&state, found);
                    found.ok(
                        "history",
                        format!("{} rows, each as it was written ({} KiB)", report.rows, size >> 10),
                    );
                }
            }
            for notice in report.notices {
                found.warn(
                    "history-notice",
                    notice,
                    "Look at the file that was set aside; remove it when you do not need it.",
                );
            }
        }
    }
}

/// Looks for changes that cannot be taken back, since what they replaced is damaged.
fn look_at_kept_changes(state: &Path, found: &mut Findings) {
    let damaged = match VersionStore::below(state).damaged_changes(KEPT_CHANGES_TIME) {
        Ok(damaged) => damaged,
        Err(error) => {
            found.fail(
                "undo",
                format!("what is kept for undo is not complete: {error}"),
                "Check the disk of the state folder, and who owns what is in it.",
            );
            return;
        }
    };
    let Some((undo_id, path)) = damaged.first() else { return };
    let more = match damaged.len() - 1 {
        0 => String::new(),
        more => format!(", and {more} more changes"),
    };
    found.warn(
        "undo",
        format!("what change {undo_id} replaced is damaged where it is kept (`{path}`), so it cannot be taken back{more}"),
        "Check the disk. All other changes can be taken back.",
    );
}

/// Looks at what was set aside, which is the user's to remove.
fn look_at_stores_aside(state: &Path, found: &mut Findings) {
    let stores = stores_aside(state);
    let Some(newest) = stores.first() else { return };
    let kib = stores.iter().map(|store| store.bytes).sum::<u64>().div_ceil(1 << 10);
    let number = match stores.len() {
        1 => "a damaged history was".to_owned(),
        several => format!("{several} damaged histories were"),
    };
    // What is beside the store was left there by an earlier version.
    let to_remove = match newest.path.parent() {
        Some(folder) if folder != state => format!("the folder `{}`", folder.display()),
        _ => format!("all files whose names begin with `{}`", newest.path.display()),
    };
    found.warn(
        "history-aside",
        format!("{number} set aside ({kib} KiB); the newest is `{}`", newest.path.display()),
        format!("Remove {to_remove} when you do not need it. The newest 16 are kept, 1 GiB in all."),
    );
}

/// Looks at what keeps a service from writing, and so from doing anything that has an effect.
fn look_at_writing(state: &Path, found: &mut Findings) {
    let Some(reason) = writing_problem(state) else { return };
    let files = "`history.db`, `history.db-wal` and `history.anchor`";
    let fix = match &reason {
        StoreError::Newer => format!(
            "Update Bailiwick (this is {}), or move {files} in `{}` away: a new history begins.",
            env!("CARGO_PKG_VERSION"),
            state.display()
        ),
        StoreError::Damaged => {
            "Start a service: the store is set aside, nothing of it is removed, and a new one begins."
                .to_owned()
        }
        StoreError::Busy => "Wait, or end the program that uses `history.db`.".to_owned(),
        StoreError::Io(_) | StoreError::Sqlite(_) => format!(
            "Check the disk and who may write in `{}`. If nothing helps, move {files} away: a new history begins.",
            state.display()
        ),
    };
    found.fail("history-writing", format!("the history cannot be written: {reason}"), fix);
}
