//! Bailiwick's own files: folders of mode 0700, files private (0600), replaced as a whole.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

use super::guard::narrow_new_file;
use super::modes::{OpenOptionsExt, set_mode, sync_folder};

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
