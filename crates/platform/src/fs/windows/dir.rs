//! An open folder beneath a root: its entries, and acting on them by single names.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::ops::ControlFlow;
use std::os::windows::ffi::OsStringExt;
use std::os::windows::io::{AsHandle, BorrowedHandle, OwnedHandle};

use super::beneath::{ENTER, LOOK, READ, list, open_beneath, open_name};
use super::facts::kind_of_entry;
use super::{FileError, FileId, FileKind, ReadableFile, RelPath, Stat};
use crate::handle::Handle;

/// A folder that was opened without following a link.
#[derive(Debug)]
pub struct Dir {
    handle: OwnedHandle,
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
    pub(super) fn from_open((handle, stat): (OwnedHandle, Stat)) -> Result<Self, FileError> {
        match stat.kind {
            FileKind::Dir => Ok(Self { handle, id: stat.id }),
            FileKind::Symlink => Err(FileError::Symlink),
            _ => Err(FileError::NotADirectory),
        }
    }

    /// Returns the identity of the folder.
    pub fn id(&self) -> FileId {
        self.id
    }

    /// Returns the open folder itself, for a program that starts in it.
    pub fn into_handle(self) -> Handle {
        self.handle
    }

    pub(super) fn as_handle(&self) -> BorrowedHandle<'_> {
        self.handle.as_handle()
    }

    /// Hands over the name and kind of each entry but `.` and `..` until it is told to stop.
    ///
    /// # Errors
    /// The usual ones.
    pub fn for_each_entry(
        &self,
        mut take: impl FnMut(&OsStr, Option<FileKind>) -> ControlFlow<()>,
    ) -> Result<(), FileError> {
        for entry in list(self.as_handle())? {
            let name = OsString::from_wide(&entry.name);
            let kind = Some(kind_of_entry(entry.attributes, entry.reparse_tag));
            if name != "." && name != ".." && take(&name, kind).is_break() {
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
        Ok(open_name(self.as_handle(), name, LOOK)?.1)
    }

    /// Opens a folder in this one; a link is refused.
    ///
    /// # Errors
    /// The usual ones.
    pub fn open_dir(&self, name: &OsStr) -> Result<Self, FileError> {
        Self::from_open(open_name(self.as_handle(), name, ENTER)?)
    }

    /// Opens a folder any number of levels below this one; no part of the path may be a link.
    ///
    /// # Errors
    /// As [`Dir::open_dir`].
    pub fn open_dir_beneath(&self, path: &RelPath) -> Result<Self, FileError> {
        Self::from_open(open_beneath(self.as_handle(), path, ENTER)?)
    }

    /// Opens a regular file in this folder for reading; a link is refused.
    ///
    /// # Errors
    /// As [`super::Root::open_file`].
    pub fn open_file(&self, name: &OsStr) -> Result<ReadableFile, FileError> {
        regular_file(open_name(self.as_handle(), name, READ)?)
    }
}

/// Returns what was opened if it is a regular file.
pub(super) fn regular_file((handle, stat): (OwnedHandle, Stat)) -> Result<ReadableFile, FileError> {
    match stat.kind {
        FileKind::File => Ok(ReadableFile { file: File::from(handle), stat }),
        FileKind::Dir => Err(FileError::IsADirectory),
        FileKind::Symlink => Err(FileError::Symlink),
        other => Err(FileError::NotRegular(other)),
    }
}
