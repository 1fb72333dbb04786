//! What a folder's disk allows: how much room it has, and whether it can be written and executed from.

use std::io;
use std::os::windows::io::AsHandle;
use std::path::Path;

use super::facts::{FILE_READ_ATTRIBUTES, open_by_path};
use super::sys;

/// The disk that a path is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Volume {
    /// How much this user can still write.
    pub free_bytes: u64,
    /// Whether nothing can be written.
    pub read_only: bool,
    /// Whether programs cannot be executed from it; not told on this system.
    pub no_exec: bool,
}

impl Volume {
    /// Looks at the disk of a path.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn of(path: &Path) -> io::Result<Self> {
        let opened = open_by_path(path, FILE_READ_ATTRIBUTES)?;
        let folder = if path.is_dir() { path } else { path.parent().unwrap_or(path) };
        Ok(Self {
            free_bytes: sys::free_bytes(folder)?,
            read_only: sys::disk(opened.as_handle())?.is_read_only,
            no_exec: false,
        })
    }

    /// Returns whether this user may write to a file or folder.
    pub fn may_write(path: &Path) -> bool {
        /// `FILE_WRITE_DATA`, of a folder `FILE_ADD_FILE`.
        const WRITE: u32 = 0x02;
        open_by_path(path, WRITE).is_ok()
    }
}
