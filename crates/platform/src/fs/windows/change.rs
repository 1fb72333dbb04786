//! Changing what an open folder holds: new files, renames, links, and making changes last.
//!
//! Every call takes single names in folders that are open already, so nothing is resolved here.

use std::ffi::OsStr;
use std::fs::File;
use std::os::windows::io::AsHandle;

use super::beneath::{EXISTING, LOOK, NEW, READ, open_name};
use super::naming::wide;
use super::sys::{self, Opening, RenameMode};
use super::{ChangeAttributes, FileError, FileKind, WritableDir};

/// `FILE_DIRECTORY_FILE` and `FILE_NON_DIRECTORY_FILE`.
const AS_FOLDER: u32 = 0x01;
const AS_FILE: u32 = 0x40;
/// The right to remove and rename.
const DELETE: u32 = 0x0001_0000;
/// `FILE_GENERIC_WRITE`.
const WRITE: u32 = 0x0012_0116;

impl WritableDir {
    /// Creates an empty file that must not exist yet, open for writing. Nothing is followed.
    ///
    /// Of `mode` only the owner's right to write has a meaning here.
    ///
    /// # Errors
    /// [`FileError::Exists`], [`FileError::NoSpace`], and the usual ones.
    pub fn create_file(&self, name: &OsStr, mode: u32) -> Result<File, FileError> {
        let opening = Opening { access: WRITE | READ, disposition: NEW, options: AS_FILE };
        let file = File::from(sys::open_at(self.as_handle(), &wide(name)?, opening)?);
        if mode & 0o200 == 0 {
            file.set_mode(mode)?;
        }
        Ok(file)
    }

    /// Creates a folder in this one.
    ///
    /// # Errors
    /// [`FileError::Exists`] and the usual ones.
    pub fn make_dir(&self, name: &OsStr) -> Result<(), FileError> {
        let opening = Opening { access: LOOK, disposition: NEW, options: AS_FOLDER };
        sys::open_at(self.as_handle(), &wide(name)?, opening)?;
        Ok(())
    }

    /// Makes no symbolic link: on this system they need a right that few have.
    ///
    /// # Errors
    /// Always one of kind `Unsupported`.
    pub fn make_link(&self, name: &OsStr, _: &[u8]) -> Result<(), FileError> {
        wide(name)?;
        Err(FileError::Io(std::io::ErrorKind::Unsupported.into()))
    }

    /// Renames an entry over whatever has the new name (a file, a link, an empty folder).
    ///
    /// # Errors
    /// [`FileError::CrossDevice`], [`FileError::NotEmpty`], and the usual ones.
    pub fn rename(&self, name: &OsStr, to: &Self, new_name: &OsStr) -> Result<(), FileError> {
        let new = wide(new_name)?;
        let (handle, stat) = open_name(self.as_handle(), name, LOOK | DELETE)?;
        match to.stat(new_name) {
            // A folder takes the place of an empty one only; here that takes two steps.
            Ok(there) if there.kind == FileKind::Dir && there.id != stat.id => {
                if stat.kind != FileKind::Dir {
                    return Err(FileError::IsADirectory);
                }
                to.remove_dir(new_name)?;
            }
            Ok(there) if stat.kind == FileKind::Dir && there.id != stat.id => {
                return Err(FileError::NotADirectory);
            }
            Ok(_) => {}
            // Nothing is spelt so. What the system takes for the same name is not replaced, but for the entry itself.
            Err(FileError::NotFound) => {
                let opening = Opening { access: LOOK, disposition: EXISTING, options: 0 };
                let over = match sys::open_at(to.as_handle(), &new, opening) {
                    Ok(other) if super::Stat::of_open(other.as_handle())?.id == stat.id => {
                        RenameMode::Whatever
                    }
                    _ => RenameMode::Nothing,
                };
                return Ok(sys::rename(handle.as_handle(), to.as_handle(), &new, over)?);
            }
            Err(error) => return Err(error),
        }
        Ok(sys::rename(handle.as_handle(), to.as_handle(), &new, RenameMode::Whatever)?)
    }

    /// Renames an entry to a name that must be free.
    ///
    /// # Errors
    /// [`FileError::Exists`], [`FileError::CrossDevice`], and the usual ones.
    pub fn rename_to_free(&self, name: &OsStr, to: &Self, new_name: &OsStr) -> Result<(), FileError> {
        let new = wide(new_name)?;
        let (handle, _) = open_name(self.as_handle(), name, LOOK | DELETE)?;
        Ok(sys::rename(handle.as_handle(), to.as_handle(), &new, RenameMode::Nothing)?)
    }

    /// Refuses to give a file a second name.
    ///
    /// # Errors
    /// [`FileError::CrossDevice`].
    pub fn link(&self, _: &OsStr, _: &Self, _: &OsStr) -> Result<(), FileError> {
        Err(FileError::CrossDevice)
    }

    /// Lets two entries of the same file system trade places, by way of `aside`, a name that must be free in the
    /// other folder: this system has no single step for it.
    ///
    /// # Errors
    /// [`FileError::CrossDevice`], and the usual ones.
    pub fn exchange(
        &self,
        name: &OsStr,
        with: &Self,
        other_name: &OsStr,
        aside: &OsStr,
    ) -> Result<(), FileError> {
        self.exchange_by_way_of(name, with, other_name, aside)
    }

    /// Returns `false`: this system has no single step by which two entries trade places.
    ///
    /// # Errors
    /// None.
    pub const fn exchange_at_once(&self, _: &OsStr, _: &Self, _: &OsStr) -> Result<bool, FileError> {
        Ok(false)
    }

    /// Removes a file or link by name.
    ///
    /// # Errors
    /// The usual ones.
    pub fn remove_file(&self, name: &OsStr) -> Result<(), FileError> {
        let (handle, stat) = open_name(self.as_handle(), name, LOOK | DELETE)?;
        if stat.kind == FileKind::Dir {
            return Err(FileError::IsADirectory);
        }
        Ok(sys::remove(handle.as_handle())?)
    }

    /// Removes an empty folder by name.
    ///
    /// # Errors
    /// [`FileError::NotEmpty`] and the usual ones.
    pub fn remove_dir(&self, name: &OsStr) -> Result<(), FileError> {
        let (handle, stat) = open_name(self.as_handle(), name, LOOK | DELETE)?;
        if stat.kind != FileKind::Dir {
            return Err(FileError::NotADirectory);
        }
        Ok(sys::remove(handle.as_handle())?)
    }

    /// Does nothing: the file system keeps a journal of names, and folders cannot be synced.
    ///
    /// # Errors
    /// None.
    pub fn sync(&self) -> Result<(), FileError> {
        Ok(())
    }

    /// Does nothing, as [`WritableDir::sync`]; files are synced one by one only.
    ///
    /// # Errors
    /// None.
    pub fn sync_below(&self) -> Result<(), FileError> {
        Ok(())
    }
}
