//! The files of a process, in its folder, which only this user can enter.

use std::fs::{self, File};
use std::io;
use std::os::windows::io::AsHandle;
use std::path::{Path, PathBuf};

use crate::fs::new_private_file;
use crate::launch::windows::sys;

/// The folder of a process. Files in it that are open stay readable when it is removed.
#[derive(Debug)]
pub(in super::super) struct Folder(PathBuf);

impl Folder {
    /// Names a folder that is there.
    pub(in super::super) fn open(path: &Path) -> io::Result<Self> {
        if fs::metadata(path)?.is_dir() {
            Ok(Self(path.to_owned()))
        } else {
            Err(io::ErrorKind::NotADirectory.into())
        }
    }

    /// Opens a file of it to read it.
    pub(in super::super) fn read(&self, name: &str) -> io::Result<File> {
        read(&self.0.join(name))
    }

    /// Creates a file in it that is not there yet.
    pub(in super::super) fn create(&self, name: &str) -> io::Result<File> {
        new_private_file(&self.0.join(name))
    }

    /// Removes what is in it by a name.
    pub(in super::super) fn remove(&self, name: &str) -> io::Result<()> {
        fs::remove_file(self.0.join(name))
    }
}

/// Opens a file to read it.
pub(in super::super) fn read(path: &Path) -> io::Result<File> {
    File::open(path)
}

/// Takes the lock by which others see that somebody writes a file. It is behind all content, as locks keep others from
/// reading here, and ends with this process.
pub(in super::super) fn lock(file: &File) -> io::Result<()> {
    sys::lock(file.as_handle())
}

/// Returns whether somebody has the lock of a file.
pub(in super::super) fn is_locked(file: &File) -> io::Result<bool> {
    sys::is_locked(file.as_handle())
}

/// Returns whether a file has been removed, so that nobody can find it any more.
pub(in super::super) fn is_removed(file: &File) -> bool {
    crate::fs::is_removed(file.as_handle())
}
