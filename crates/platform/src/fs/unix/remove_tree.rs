//! Removing one of Bailiwick's own folders with everything in it.

use std::fs;
use std::io;
use std::path::Path;

/// Removes a folder with everything in it. No link in it is followed.
///
/// # Errors
/// Those of the file system.
pub fn remove_tree(folder: &Path) -> io::Result<()> {
    fs::remove_dir_all(folder)
}
