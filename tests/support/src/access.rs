//! Reading what a mode closes to everyone but root.

use std::fs;
use std::path::{Path, PathBuf};

use bailiwick::platform::fs::modes::{HAS_BITS, PermissionsExt, set_mode};
use bailiwick::platform::machine::user_id;

/// Own files and folders that can be read until this is dropped, whatever their modes are; then they have those again.
#[derive(Default)]
pub struct ReadAccess {
    closed: Vec<(PathBuf, u32)>,
}

impl ReadAccess {
    /// Opens a file or a folder. Root needs none of it.
    pub fn open(&mut self, path: &Path) {
        if !HAS_BITS || user_id() == 0 {
            return;
        }
        let facts = fs::symlink_metadata(path).expect("it is there");
        let mode = facts.permissions().mode() & 0o7777;
        let needed = if facts.is_dir() { 0o500 } else { 0o400 };
        if mode & needed != needed {
            set_mode(path, mode | needed).expect("own file");
            self.closed.push((path.to_owned(), mode));
        }
    }
}

impl Drop for ReadAccess {
    fn drop(&mut self) {
        // What is in a folder before the folder.
        for (path, mode) in self.closed.iter().rev() {
            set_mode(path, *mode).expect("own file");
        }
    }
}
