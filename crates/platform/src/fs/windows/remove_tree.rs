//! Removing one of Bailiwick's own folders with everything in it, by handle: no link in it is followed.
//!
//! The standard library's own way never ends under wine 8, and it stops at files that are read-only.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::path::Path;

use super::beneath::{LOOK, open_name};
use super::{ChangeAttributes, Dir, FileError, FileKind, RelPath, Root, WritableDir};

/// Removes a folder with everything in it.
///
/// # Errors
/// Those of the file system.
pub fn remove_tree(folder: &Path) -> io::Result<()> {
    let (Some(above), Some(name)) = (folder.parent(), folder.file_name()) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    let removed = (|| Root::open(above)?.open_writable_dir(&RelPath::root())?.remove_tree(name))();
    removed.map_err(|error| match error {
        FileError::Io(error) => error,
        FileError::NotFound => io::ErrorKind::NotFound.into(),
        FileError::Denied => io::ErrorKind::PermissionDenied.into(),
        FileError::NotADirectory => io::ErrorKind::NotADirectory.into(),
        FileError::NotEmpty => io::ErrorKind::DirectoryNotEmpty.into(),
        other => io::Error::other(other),
    })
}

impl WritableDir {
    /// Removes a folder in this one with everything in it. No link in it is followed, and nothing is done by path.
    ///
    /// # Errors
    /// The usual ones; what could be removed before is gone.
    pub fn remove_tree(&self, name: &OsStr) -> Result<(), FileError> {
        match self.stat(name)?.kind {
            FileKind::Dir => remove(self, name),
            _ => Err(FileError::NotADirectory),
        }
    }
}

/// Removes what has a name in an open folder. Each folder is listed once, so that this ends.
fn remove(parent: &WritableDir, name: &OsStr) -> Result<(), FileError> {
    let (handle, stat) = open_name(parent.as_handle(), name, LOOK)?;
    if stat.kind != FileKind::Dir {
        if stat.kind == FileKind::File && stat.mode & 0o200 == 0 {
            File::from(handle).set_mode(0o644)?;
        }
        return parent.remove_file(name);
    }
    let folder = WritableDir::new(Dir::from_open((handle, stat))?);
    // Opened to look alone; listing opens it once more.
    for entry in folder.entries(usize::MAX)? {
        match remove(&folder, &entry.name) {
            // Somebody else has removed it.
            Err(FileError::NotFound) => {}
            other => other?,
        }
    }
    drop(folder);
    parent.remove_dir(name)
}
