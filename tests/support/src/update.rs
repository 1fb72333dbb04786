//! `UPDATE=1`: tests write what they expect.
//!
//! Several tests may update one file, each in a process of its own. So each reads the file again under a lock, and
//! replaces it atomically.

use std::env;
use std::ffi::OsString;
use std::fs::{self, OpenOptions};
use std::path::Path;
use std::process;

use crate::source::repository;

/// Returns whether tests write what they expect instead of comparing it.
pub fn is_updating() -> bool {
    env::var("UPDATE").is_ok_and(|value| value == "1")
}

/// Changes a file. No other test changes it at the same time, and those that read it see it before or after.
///
/// # Panics
/// If the file cannot be read or written.
pub fn update(path: &Path, change: impl FnOnce(&str) -> String) {
    let folder = repository().join("target/tests");
    fs::create_dir_all(&folder).expect("the target folder can be written");
    let lock = folder.join("update.lock");
    let lock =
        OpenOptions::new().create(true).truncate(false).write(true).open(lock).expect("it can be opened");
    lock.lock().expect("it can be locked");
    let old = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let new = change(&old);
    if new != old {
        let mut name = OsString::from(".");
        name.push(path.file_name().expect("a file has a name"));
        name.push(format!(".{}", process::id()));
        let beside = path.with_file_name(name);
        fs::write(&beside, new).expect("the repository can be written");
        fs::rename(&beside, path).expect("the file can be replaced");
    }
    // Dropping the file releases the lock.
}
