//! An open folder beneath a root: its entries, and acting on them by single names.

use std::ffi::{OsStr, OsString};
use std::ops::ControlFlow;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use crate::handle::Handle;
use crate::names::OsStrExt;

use rustix::fs::{AtFlags, Mode, OFlags, fstat, openat, readlinkat, statat};

use super::beneath::{link_or, open_beneath};
use super::regular::open_regular;
use super::root::is_system_files;
use super::spelling::{check_entry, check_opened};
use super::{FileError, FileId, FileKind, ReadableFile, RelPath, Stat};

/// A folder that was opened without following a link.
#[derive(Debug)]
pub struct Dir {
    fd: OwnedFd,
    id: FileId,
}

/// One entry of a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DirEntry {
    /// Its name.
    pub name: OsString,
    /// Its kind, where the file system tells it with the name.
    pub kind: Option<FileKind>,
}

impl Dir {
    pub(super) fn from_fd(fd: OwnedFd) -> Result<Self, FileError> {
        let id = Stat::from_system(&fstat(&fd)?).id;
        Ok(Self { fd, id })
    }

    /// Takes a folder that another process of this program has opened.
    #[cfg(all(target_os = "linux", not(feature = "portable-launch")))]
    pub(crate) fn of_handle(handle: Handle) -> std::io::Result<Self> {
        Ok(Self { id: FileId::of_open(&handle)?, fd: handle })
    }

    /// Returns whether the folder has an extended attribute of this value.
    #[cfg(all(target_os = "linux", not(feature = "portable-launch")))]
    pub(crate) fn has_attribute(&self, name: &str, value: &[u8]) -> bool {
        let mut found = vec![0; value.len()];
        let length = rustix::fs::fgetxattr(&self.fd, name, &mut found);
        length == Ok(value.len()) && found == value
    }

    /// Returns the identity of the folder.
    pub fn id(&self) -> FileId {
        self.id
    }

    /// Returns the open folder itself, for a program that starts in it.
    pub fn into_handle(self) -> Handle {
        self.fd
    }

    pub(super) fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }

    /// Hands over the name and kind of each entry but `.` and `..` until it is told to stop, and keeps none: a folder may have
    /// any number.
    ///
    /// # Errors
    /// The usual ones.
    pub fn for_each_entry(
        &self,
        mut take: impl FnMut(&OsStr, Option<FileKind>) -> ControlFlow<()>,
    ) -> Result<(), FileError> {
        for entry in rustix::fs::Dir::read_from(&self.fd)? {
            let entry = entry?;
            let name = entry.file_name().to_bytes();
            if name != b"."
                && name != b".."
                && take(OsStr::from_bytes(name), FileKind::from_type(entry.file_type())).is_break()
            {
                break;
            }
        }
        Ok(())
    }

    /// Returns the facts of an entry; a link is described, not followed.
    ///
    /// # Errors
    /// The usual ones.
    pub fn stat(&self, name: &OsStr) -> Result<Stat, FileError> {
        check_name(name)?;
        check_entry(self.as_fd(), name.as_bytes())?;
        Ok(Stat::from_system(&statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW)?))
    }

    /// Opens a folder in this one; a link is refused.
    ///
    /// # Errors
    /// [`FileError::SystemFiles`] where procfs, sysfs or their like is mounted, and the usual ones.
    pub fn open_dir(&self, name: &OsStr) -> Result<Self, FileError> {
        check_name(name)?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let dir = Self::from_fd(openat(&self.fd, name, flags, Mode::empty()).map_err(|errno| {
            // A link answers ENOTDIR here; say what it is, as openat2 does.
            link_or(self.as_fd(), name.as_bytes(), errno)
        })?)?;
        check_opened(self.as_fd(), name.as_bytes(), dir.as_fd())?;
        if dir.id.device != self.id.device && is_system_files(&dir.fd)? {
            return Err(FileError::SystemFiles);
        }
        Ok(dir)
    }

    /// Opens a folder any number of levels below this one; no part of the path may be a link.
    ///
    /// # Errors
    /// As [`Dir::open_dir`].
    pub fn open_dir_beneath(&self, path: &RelPath) -> Result<Self, FileError> {
        let fd = open_beneath(self.fd.as_fd(), path, OFlags::RDONLY | OFlags::DIRECTORY)?;
        let dir = Self::from_fd(fd)?;
        if dir.id.device != self.id.device && is_system_files(&dir.fd)? {
            return Err(FileError::SystemFiles);
        }
        Ok(dir)
    }

    /// Reads where a symbolic link leads, as it is written.
    ///
    /// # Errors
    /// The usual ones; an error of kind `InvalidInput` if it is not a link.
    pub fn read_link(&self, name: &OsStr) -> Result<Vec<u8>, FileError> {
        check_name(name)?;
        check_entry(self.as_fd(), name.as_bytes())?;
        Ok(readlinkat(self.as_fd(), name, Vec::new())?.into_bytes())
    }

    /// Opens a regular file in this folder for reading; a link is refused, no pipe or device opened.
    ///
    /// # Errors
    /// As [`super::Root::open_file`].
    pub fn open_file(&self, name: &OsStr) -> Result<ReadableFile, FileError> {
        check_name(name)?;
        open_regular(self.id.device, |flags| {
            let fd = openat(&self.fd, name, flags | OFlags::NOFOLLOW, Mode::empty())?;
            check_opened(self.as_fd(), name.as_bytes(), fd.as_fd())?;
            Ok(fd)
        })
    }
}

/// Refuses what is not a single name: these calls resolve nothing.
pub(super) fn check_name(name: &OsStr) -> Result<(), FileError> {
    let bytes = name.as_bytes();
    if bytes.is_empty() || bytes == b"." || bytes == b".." || bytes.contains(&b'/') {
        return Err(FileError::Outside);
    }
    Ok(())
}
