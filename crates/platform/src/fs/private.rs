//! Bailiwick's own files: folders of mode 0700, files private (0600), replaced as a whole.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::guard::narrow_new_file;
use super::modes::{OpenOptionsExt, set_mode, sync_folder};
use super::{ABANDONED_AFTER, hold_file, is_older, is_unheld};

/// Creates a private file (0600) under a name that nothing has yet, to write and read it.
///
/// # Errors
/// Those of the file system; `AlreadyExists` if something has the name.
pub fn new_private_file(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(path)?;
    narrow_new_file(path)?;
    Ok(file)
}

/// Creates an empty file private (0600), unless something of that name is there already.
///
/// An existing file is not opened: closing it again would drop the locks that this process holds on it.
///
/// # Errors
/// Those of the file system.
pub fn create_private_file(path: &Path) -> io::Result<()> {
    match new_private_file(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        other => other.map(drop),
    }
}

/// Replaces a file of Bailiwick's own as a whole, by one private (0600).
///
/// # Errors
/// Those of the file system; the old file is then untouched.
pub fn replace_private_file(path: &Path, content: &[u8]) -> io::Result<()> {
    replace_file(path, content, 0o600)
}

/// Replaces a file as a whole: a new one beside it, which gets the mode when it has its content, is synced, and is
/// then renamed over it.
///
/// # Errors
/// Those of the file system; the old file is then untouched.
pub fn replace_file(path: &Path, content: &[u8], mode: u32) -> io::Result<()> {
    replace_with(path, |file, temporary| {
        file.write_all(content)?;
        set_mode(temporary, mode)
    })
}

/// Creates a private file (0600), or replaces it, with what `write` puts there. It has the name only once all of that is
/// on disk: whenever the process or the computer ends, it is there as a whole or not at all.
///
/// # Errors
/// Those of the file system and of `write`; an old file is then untouched.
pub fn write_private_file(path: &Path, write: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<()> {
    replace_with(path, |file, _| write(file))
}

fn replace_with(path: &Path, write: impl FnOnce(&mut File, &Path) -> io::Result<()>) -> io::Result<()> {
    let folder = path.parent().ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
    let name = path.file_name().ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
    let temporary = folder.join(format!(".{}.{}", name.to_string_lossy(), bailiwick_contract::id::new_id()));
    let mut file = new_private_file(&temporary)?;
    hold_file(&file);
    let written = (|| {
        write(&mut file, &temporary)?;
        file.sync_all()?;
        fs::rename(&temporary, path)?;
        sync_folder(folder)
    })();
    if written.is_err() {
        // The rename may have happened; removing what is not there is no loss.
        let _ = fs::remove_file(&temporary);
    }
    written
}

/// Returns the files in one of Bailiwick's own folders that were about to replace others when their process was killed.
pub fn half_written_files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let is_half_written = |entry: &fs::DirEntry| {
        // As `replace_with` names them.
        let name = entry.file_name();
        let id = name.to_str().filter(|name| name.starts_with('.')).and_then(|name| name.rsplit_once('.'));
        let is_named = id.is_some_and(|(name, id)| name.len() > 1 && bailiwick_contract::id::is_id(id));
        is_named
            && entry.metadata().is_ok_and(|facts| {
                facts.is_file() && facts.modified().is_ok_and(|at| is_older(at, ABANDONED_AFTER))
            })
            && File::open(entry.path()).is_ok_and(|file| is_unheld(&file))
    };
    entries.filter(is_half_written).map(|entry| entry.path()).collect()
}

/// Removes what [`half_written_files`] finds.
pub fn remove_half_written(folder: &Path) {
    for path in half_written_files(folder) {
        let _ = fs::remove_file(path);
    }
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::*;
    use crate::fs::remove_tree;

    #[test]
    fn what_a_kill_leaves_beside_a_file_goes_once_nobody_writes_it() {
        let folder =
            std::env::temp_dir().join(format!("bailiwick-private-{}", bailiwick_contract::id::new_id()));
        fs::create_dir(&folder).expect("made");
        let left = || {
            // As a kill right before the rename leaves it.
            let path = folder.join(format!(".clock.{}", bailiwick_contract::id::new_id()));
            let file = new_private_file(&path).expect("made");
            file.set_modified(SystemTime::now() - 2 * ABANDONED_AFTER).expect("set");
            (path, file)
        };
        let (old, _) = left();
        let (written, file) = left();
        hold_file(&file);
        let (new, _) = left();
        fs::write(&new, "x").expect("written");
        fs::write(folder.join(".clock.kept"), "x").expect("written");
        replace_private_file(&folder.join("clock"), b"1").expect("written");
        // Where files are not marked, only their age counts.
        let found = half_written_files(&folder);
        assert!(found.contains(&old) && !found.contains(&new));
        assert_eq!(found.contains(&written), cfg!(windows));
        remove_half_written(&folder);
        assert!(!old.exists() && new.exists() && folder.join("clock").exists());
        drop(file);
        assert!(folder.join(".clock.kept").exists());
        remove_tree(&folder).expect("it was made above");
    }
}
