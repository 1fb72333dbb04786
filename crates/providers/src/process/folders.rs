//! The folders of processes on disk: making and listing them.
//!
//! A folder appears under its name with its facts in it, and disappears as a whole.

#![expect(clippy::disallowed_methods, reason = "the folders are Bailiwick's own, in its state folder")]

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use bailiwick_contract::id::is_id;
use bailiwick_contract::time;
use bailiwick_platform::fs::{create_private_dir, new_private_file};

use super::{Facts, Processes};
use crate::command::remove_left;

/// How long nothing was written in an unfinished folder when nobody works on it any more: longer than any
/// command may run.
const ABANDONED: Duration = Duration::from_hours(2);
/// The folder that has a file for each process that lives, so that nobody looks at the others to count these.
const LIVING: &str = ".living";

/// Creates the folder of a process with its facts, which nobody finds yet.
///
/// # Errors
/// Those of the file system; nothing is left then.
pub fn begin(processes: &Processes, facts: &Facts) -> io::Result<PathBuf> {
    let unfinished = processes.retained.reserve_thing(&facts.id, facts.ring_bytes, processes)?;
    if let Err(error) = facts.write(&unfinished) {
        processes.retained.release(&unfinished);
        return Err(error);
    }
    Ok(unfinished)
}

/// Returns an unfinished folder the name by which it is found.
///
/// # Errors
/// Those of the file system; nothing is left then.
pub fn appear(processes: &Processes, unfinished: &Path) -> io::Result<PathBuf> {
    let shown = processes.retained.show_thing(unfinished);
    shown.inspect_err(|_| processes.retained.release(unfinished))
}

/// Returns the ids that have a folder. Where there is no folder of processes yet there are none.
pub fn ids(inside: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(inside) else { return Vec::new() };
    let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
    names.filter(|name| is_id(name)).collect()
}

/// Returns the ids of the processes that are written down as living; `None` where none was ever.
pub fn living(inside: &Path) -> Option<Vec<String>> {
    let folder = inside.join(LIVING);
    is_there(&folder).then(|| ids(&folder))
}

/// Writes down that a process lives, or may.
///
/// # Errors
/// Those of the file system.
pub fn note_living(inside: &Path, id: &str) -> io::Result<()> {
    let folder = inside.join(LIVING);
    create_private_dir(&folder)?;
    match new_private_file(&folder.join(id)) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ => Ok(()),
    }
}

/// Writes down that none is known to live, where nothing was ever.
pub fn note_none_living(inside: &Path) -> io::Result<()> {
    create_private_dir(&inside.join(LIVING))
}

/// Writes down that a process lives no more.
pub fn note_over(inside: &Path, id: &str) {
    // What stays is read once more.
    let _ = fs::remove_file(inside.join(LIVING).join(id));
}

/// Returns whether a process has its folder still.
pub fn is_there(folder: &Path) -> bool {
    fs::symlink_metadata(folder).is_ok_and(|facts| facts.is_dir())
}

/// Returns how long ago anything in a folder was written.
pub fn age(folder: &Path, now_ms: i64) -> Duration {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let inside = entries.filter_map(|entry| entry.metadata().ok());
    let all = inside.chain(fs::symlink_metadata(folder).ok());
    let newest = all.filter_map(|facts| facts.modified().ok()).max();
    let age_ms = newest.map_or(0, |at| now_ms.saturating_sub(time::to_ms(at)));
    Duration::from_millis(u64::try_from(age_ms).unwrap_or(0))
}

/// Removes a folder for temporary files that a process left.
pub fn remove_temporary(folder: &Path) {
    remove_left(folder);
}

/// Returns whether a folder was being made by a service that did not come to an end with it.
pub fn is_abandoned(unfinished: &Path, now_ms: i64) -> bool {
    age(unfinished, now_ms) > ABANDONED
}
