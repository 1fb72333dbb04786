//! The folder for temporary files of a command that has none of its own in a sandbox.

#![expect(clippy::disallowed_methods, reason = "the folder is Bailiwick's own, in its state folder")]

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use bailiwick_contract::id;
use bailiwick_platform::fs::{create_private_dir, remove_tree};

/// How many characters of an id name a folder: sockets in it have little room for their paths.
const NAME_CHARS: usize = 8;

/// A private folder that is removed with everything in it when this is dropped.
#[derive(Debug)]
pub struct TemporaryFolder {
    path: PathBuf,
}

impl TemporaryFolder {
    /// Makes a folder inside another.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn make(inside: &Path) -> io::Result<Self> {
        let id = id::new_id();
        // The end of an id is random, its beginning the time.
        let path = inside.join(&id[id.len() - NAME_CHARS..]);
        create_private_dir(&path)?;
        Ok(Self { path })
    }

    /// Leaves it to another process to remove it.
    pub fn hand_over(mut self) {
        self.path = PathBuf::new();
    }

    /// Gives its path.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for TemporaryFolder {
    fn drop(&mut self) {
        if self.path.as_os_str().is_empty() {
            return;
        }
        // Empty as a rule. A full one may take a while, which nobody has to wait for.
        if fs::remove_dir(&self.path).is_err() {
            let path = std::mem::take(&mut self.path);
            std::thread::spawn(move || remove_tree(&path));
        }
    }
}
