//! Removing one of Bailiwick's own folders with everything in it.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::Path;

use super::{Dir, DoorError, FileKind, RelPath};

/// Removes a folder with everything in it. No link in it is followed.
///
/// # Errors
/// Those of the file system.
pub fn remove_tree(folder: &Path) -> io::Result<()> {
    fs::remove_dir_all(folder)
}

impl Dir {
    /// Removes a folder in this one with everything in it. No link in it is followed, and nothing is done by path.
    ///
    /// # Errors
    /// The usual ones; what could be removed before is gone.
    pub fn remove_tree(&self, name: &OsStr) -> Result<(), DoorError> {
        let open = |below: &RelPath| self.open_dir(name)?.open_dir_beneath(below);
        let mut found = vec![RelPath::root()];
        let mut next = 0;
        while let Some(below) = found.get(next).cloned() {
            let folder = open(&below)?;
            for entry in folder.entries()? {
                if folder.stat(&entry.name)?.kind == FileKind::Dir {
                    found.push(below.child(&entry.name));
                } else {
                    folder.remove_file(&entry.name)?;
                }
            }
            next += 1;
        }
        for below in found.iter().rev() {
            match (below.parent(), below.file_name()) {
                (Some(parent), Some(last)) => open(&parent)?.remove_dir(last)?,
                _ => self.remove_dir(name)?,
            }
        }
        Ok(())
    }
}
