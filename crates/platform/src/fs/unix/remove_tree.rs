//! Removing one of Bailiwick's own folders with everything in it.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::ops::ControlFlow;
use std::path::Path;

use super::{FileError, FileKind, RelPath, WritableDir};

/// How many names are read before the files among them are removed.
const AT_ONCE: usize = 10_000;

/// Removes a folder with everything in it. No link in it is followed.
///
/// # Errors
/// Those of the file system.
pub fn remove_tree(folder: &Path) -> io::Result<()> {
    fs::remove_dir_all(folder)
}

impl WritableDir {
    /// Removes a folder in this one with everything in it. No link in it is followed, and nothing is done by path.
    ///
    /// # Errors
    /// The usual ones; what could be removed before is gone.
    pub fn remove_tree(&self, name: &OsStr) -> Result<(), FileError> {
        let open = |below: &RelPath| self.open_dir(name)?.open_dir_beneath(below);
        let mut found = vec![RelPath::root()];
        let mut next = 0;
        while let Some(below) = found.get(next).cloned() {
            let folder = open(&below)?;
            remove_files(&folder, |folder| found.push(below.child(folder)))?;
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

/// Removes everything in a folder but the folders, which it hands over.
fn remove_files(folder: &WritableDir, take_folder: impl FnMut(&OsStr)) -> Result<(), FileError> {
    let mut take_folder = take_folder;
    loop {
        let (mut files, mut folders) = (Vec::new(), Vec::new());
        folder.for_each_entry(|name, kind| {
            let kind = kind.or_else(|| folder.stat(name).ok().map(|stat| stat.kind));
            if kind == Some(FileKind::Dir) {
                folders.push(name.to_owned());
            } else {
                files.push(name.to_owned());
            }
            if files.len() < AT_ONCE { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })?;
        for file in &files {
            folder.remove_file(file)?;
        }
        if files.len() < AT_ONCE {
            folders.iter().for_each(|folder| take_folder(folder));
            return Ok(());
        }
    }
}
