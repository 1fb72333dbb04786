//! The folders of processes on disk: making, listing, measuring and removing them.
//!
//! A folder appears under its name with its facts in it, and disappears as a whole.

#![expect(clippy::disallowed_methods, reason = "the folders are Bailiwick's own, in its state folder")]

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use bailiwick_contract::id::{is_id, new_id};
use bailiwick_contract::time;
use bailiwick_platform::fs::{create_private_dir, remove_tree};

use super::Facts;
use crate::command::remove_left;

/// What the name of a folder that is being made or removed begins with.
const UNFINISHED: &str = ".";
/// How long nothing was written in an unfinished folder when nobody works on it any more: longer than any
/// command may run.
const ABANDONED: Duration = Duration::from_hours(2);

/// Creates the folder of a process with its facts, which nobody finds yet.
///
/// # Errors
/// Those of the file system; nothing is left then.
pub fn begin(inside: &Path, facts: &Facts) -> io::Result<PathBuf> {
    let unfinished = inside.join(format!("{UNFINISHED}{}", facts.id));
    create_private_dir(&unfinished)?;
    if let Err(error) = facts.write(&unfinished) {
        let _ = remove_tree(&unfinished);
        return Err(error);
    }
    Ok(unfinished)
}

/// Returns an unfinished folder the name by which it is found.
///
/// # Errors
/// Those of the file system; nothing is left then.
pub fn appear(unfinished: &Path, id: &str) -> io::Result<PathBuf> {
    let folder = unfinished.with_file_name(id);
    match fs::rename(unfinished, &folder) {
        Ok(()) => Ok(folder),
        Err(error) => {
            let _ = remove_tree(unfinished);
            Err(error)
        }
    }
}

/// Returns the ids that have a folder. Where there is no folder of processes yet there are none.
pub fn ids(inside: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(inside) else { return Vec::new() };
    let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
    names.filter(|name| is_id(name)).collect()
}

/// Returns whether a process has its folder still.
pub fn is_there(folder: &Path) -> bool {
    fs::symlink_metadata(folder).is_ok_and(|facts| facts.is_dir())
}

/// Counts the bytes of the files in a folder.
pub fn bytes(folder: &Path) -> u64 {
    let Ok(entries) = fs::read_dir(folder) else { return 0 };
    entries.flatten().filter_map(|entry| entry.metadata().ok()).map(|facts| facts.len()).sum()
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

/// Removes a folder: at once from its name, so that nobody finds half of it.
pub fn remove(folder: &Path) {
    let Some(inside) = folder.parent() else { return };
    let aside = inside.join(format!("{UNFINISHED}{}", new_id()));
    // A system may rename no folder while something in it is open.
    let named = if fs::rename(folder, &aside).is_ok() { aside.as_path() } else { folder };
    let _ = remove_tree(named);
}

/// Removes a folder for temporary files that a process left.
pub fn remove_temporary(folder: &Path) {
    remove_left(folder);
}

/// Removes what was being made or removed by a service that did not come to an end with it.
pub fn remove_abandoned(inside: &Path, now_ms: i64) {
    let Ok(entries) = fs::read_dir(inside) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        if name.to_string_lossy().starts_with(UNFINISHED) && age(&entry.path(), now_ms) > ABANDONED {
            let _ = remove_tree(&entry.path());
        }
    }
}
