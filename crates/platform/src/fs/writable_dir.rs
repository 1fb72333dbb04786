//! An open folder whose entries may be changed.

use std::ffi::OsStr;
use std::ops::Deref;

use super::{Dir, FileError, RelPath};

/// A folder that was opened to change what is in it. A [`Dir`] never becomes one: only [`super::Root::open_writable_dir`] and
/// a folder above it that is one open it.
#[derive(Debug)]
pub struct WritableDir(Dir);

impl WritableDir {
    pub(super) fn new(dir: Dir) -> Self {
        Self(dir)
    }

    /// Opens a folder in this one, as [`Dir::open_dir`].
    ///
    /// # Errors
    /// As [`Dir::open_dir`].
    pub fn open_dir(&self, name: &OsStr) -> Result<Self, FileError> {
        self.0.open_dir(name).map(Self)
    }

    /// Opens a folder any number of levels below this one, as [`Dir::open_dir_beneath`].
    ///
    /// # Errors
    /// As [`Dir::open_dir`].
    pub fn open_dir_beneath(&self, path: &RelPath) -> Result<Self, FileError> {
        self.0.open_dir_beneath(path).map(Self)
    }
}

impl Deref for WritableDir {
    type Target = Dir;

    fn deref(&self) -> &Dir {
        &self.0
    }
}
