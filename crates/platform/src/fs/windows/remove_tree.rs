//! Removing one of Bailiwick's own folders with everything in it, by handle: no link in it is followed.
//!
//! The standard library's own way never ends under wine 8, and it stops at files that are read-only.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::path::Path;

use super::beneath::{LOOK, open_name};
use super::{Attributes, Dir, DoorError, FileKind, RelPath, Root};

/// Removes a folder with everything in it.
///
/// # Errors
/// Those of the file system.
pub fn remove_tree(folder: &Path) -> io::Result<()> {
    let (Some(above), Some(name)) = (folder.parent(), folder.file_name()) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    let removed = (|| {
        let above = Root::open(above)?.open_dir(&RelPath::root())?;
        match above.stat(name)?.kind {
            FileKind::Dir => remove(&above, name),
            _ => Err(DoorError::NotADirectory),
        }
    })();
    removed.map_err(|error| match error {
        DoorError::Io(error) => error,
        DoorError::NotFound => io::ErrorKind::NotFound.into(),
        DoorError::Denied => io::ErrorKind::PermissionDenied.into(),
        DoorError::NotADirectory => io::ErrorKind::NotADirectory.into(),
        DoorError::NotEmpty => io::ErrorKind::DirectoryNotEmpty.into(),
        other => io::Error::other(other),
    })
}

/// Removes what has a name in an open folder. Each folder is listed once, so that this ends.
fn remove(parent: &Dir, name: &OsStr) -> Result<(), DoorError> {
    let (handle, stat) = open_name(parent.as_handle(), name, LOOK)?;
    if stat.kind != FileKind::Dir {
        if stat.kind == FileKind::File && stat.mode & 0o200 == 0 {
            File::from(handle).set_mode(0o644)?;
        }
        return parent.remove_file(name);
    }
    let folder = Dir::from_open((handle, stat))?;
    // Opened to look alone; listing opens it once more.
    for entry in folder.entries()? {
        match remove(&folder, &entry.name) {
            // Somebody else has removed it.
            Err(DoorError::NotFound) => {}
            other => other?,
        }
    }
    drop(folder);
    parent.remove_dir(name)
}
