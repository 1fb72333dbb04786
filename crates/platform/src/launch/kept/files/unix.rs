//! The files of a process by handle, in its folder.

use std::fs::{File, TryLockError};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::fs::{AtFlags, Mode, OFlags};

use crate::launch::flags::FOLDER;

/// How a file is opened to be read.
const READ: OFlags = OFlags::RDONLY.union(OFlags::CLOEXEC).union(OFlags::NOFOLLOW);

/// The open folder of a process. What is in it is reached also when it is renamed or removed.
#[derive(Debug)]
pub(in super::super) struct Folder(OwnedFd);

impl From<OwnedFd> for Folder {
    fn from(folder: OwnedFd) -> Self {
        Self(folder)
    }
}

impl From<Folder> for OwnedFd {
    fn from(folder: Folder) -> Self {
        folder.0
    }
}

impl AsFd for Folder {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl Folder {
    /// Opens a folder.
    pub(in super::super) fn open(path: &Path) -> io::Result<Self> {
        Ok(Self(rustix::fs::open(path, FOLDER, Mode::empty())?))
    }

    /// Opens a file of it to read it.
    pub(in super::super) fn read(&self, name: &str) -> io::Result<File> {
        Ok(rustix::fs::openat(&self.0, name, READ, Mode::empty())?.into())
    }

    /// Creates a file in it that is not there yet.
    pub(in super::super) fn create(&self, name: &str) -> io::Result<File> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        Ok(rustix::fs::openat(&self.0, name, flags, Mode::from_raw_mode(0o600))?.into())
    }

    /// Opens a file of it to continue writing.
    pub(in super::super) fn write(&self, name: &str) -> io::Result<File> {
        let flags = OFlags::RDWR | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        Ok(rustix::fs::openat(&self.0, name, flags, Mode::empty())?.into())
    }

    /// Removes what is in it by a name.
    pub(in super::super) fn remove(&self, name: &str) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(&self.0, name, AtFlags::empty())?)
    }
}

/// Opens a file to read it.
pub(in super::super) fn read(path: &Path) -> io::Result<File> {
    Ok(rustix::fs::open(path, READ, Mode::empty())?.into())
}

/// Takes the lock by which others see that somebody writes a file. It lasts as long as a copy of the handle does, in
/// whatever process.
pub(in super::super) fn lock(file: &File) -> io::Result<()> {
    Ok(file.try_lock()?)
}

/// Returns whether somebody has the lock of a file.
pub(in super::super) fn is_locked(file: &File) -> io::Result<bool> {
    match file.try_lock_shared() {
        Ok(()) => file.unlock().map(|()| false),
        Err(TryLockError::WouldBlock) => Ok(true),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// Returns whether a file has been removed, so that nobody can find it any more.
pub(in super::super) fn is_removed(file: &File) -> bool {
    rustix::fs::fstat(file).is_ok_and(|facts| facts.st_nlink == 0)
}
