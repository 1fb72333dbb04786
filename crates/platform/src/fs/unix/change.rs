//! Changing what an open folder holds: new files, renames, links, and making changes last.
//!
//! Every call takes single names in folders that are open already, so nothing is resolved here.

use std::ffi::OsStr;
use std::fs::File;

use crate::names::OsStrExt;

use rustix::fs::{
    AtFlags, Mode, OFlags, RenameFlags, fsync, linkat, mkdirat, openat, renameat, renameat_with, symlinkat,
    unlinkat,
};
use rustix::io::Errno;

use super::dir::check_name;
use super::spelling::{check_entry, check_target};
use super::{FileError, WritableDir};

impl WritableDir {
    /// Creates an empty file that must not exist yet, open for writing. Nothing is followed.
    ///
    /// `mode` loses the bits of the process's umask, as for any new file.
    ///
    /// # Errors
    /// [`FileError::Exists`], [`FileError::NoSpace`], and the usual ones.
    pub fn create_file(&self, name: &OsStr, mode: u32) -> Result<File, FileError> {
        check_name(name)?;
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(File::from(openat(self.as_fd(), name, flags, permissions(mode))?))
    }

    /// Creates a folder in this one, with mode 0755 less the umask.
    ///
    /// # Errors
    /// [`FileError::Exists`] and the usual ones.
    pub fn make_dir(&self, name: &OsStr) -> Result<(), FileError> {
        check_name(name)?;
        Ok(mkdirat(self.as_fd(), name, permissions(0o755))?)
    }

    /// Creates a symbolic link in this folder. Where it leads is not looked at.
    ///
    /// # Errors
    /// [`FileError::Exists`] and the usual ones.
    pub fn make_link(&self, name: &OsStr, leads_to: &[u8]) -> Result<(), FileError> {
        check_name(name)?;
        Ok(symlinkat(OsStr::from_bytes(leads_to), self.as_fd(), name)?)
    }

    /// Renames an entry over whatever has the new name (a file, a link, an empty folder).
    ///
    /// # Errors
    /// [`FileError::CrossDevice`], [`FileError::NotEmpty`], and the usual ones.
    pub fn rename(&self, name: &OsStr, to: &Self, new_name: &OsStr) -> Result<(), FileError> {
        check_name(name)?;
        check_name(new_name)?;
        check_entry(self.as_fd(), name.as_bytes())?;
        check_target((self.as_fd(), name.as_bytes()), (to.as_fd(), new_name.as_bytes()))?;
        renameat(self.as_fd(), name, to.as_fd(), new_name).map_err(rename_error)
    }

    /// Renames an entry to a name that must be free.
    ///
    /// # Errors
    /// [`FileError::Exists`], [`FileError::CrossDevice`], and the usual ones.
    pub fn rename_to_free(&self, name: &OsStr, to: &Self, new_name: &OsStr) -> Result<(), FileError> {
        check_name(name)?;
        check_name(new_name)?;
        check_entry(self.as_fd(), name.as_bytes())?;
        match renameat_with(self.as_fd(), name, to.as_fd(), new_name, RenameFlags::NOREPLACE) {
            // File systems that do not know the flag.
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => self.rename_by_link(name, to, new_name),
            other => other.map_err(rename_error),
        }
    }

    /// Creates a second name for a file or link; it must be free. A link is not followed.
    ///
    /// # Errors
    /// [`FileError::Exists`], [`FileError::CrossDevice`] also where the file system knows no second names, and the
    /// usual ones.
    pub fn link(&self, name: &OsStr, to: &Self, new_name: &OsStr) -> Result<(), FileError> {
        check_name(name)?;
        check_name(new_name)?;
        check_entry(self.as_fd(), name.as_bytes())?;
        match linkat(self.as_fd(), name, to.as_fd(), new_name, AtFlags::empty()) {
            Err(Errno::PERM | Errno::ACCESS | Errno::NOSYS | Errno::NOTSUP | Errno::MLINK) => {
                Err(FileError::CrossDevice)
            }
            other => other.map_err(rename_error),
        }
    }

    /// Lets two entries of the same file system trade places: in one step where the system can do so,
    /// else by way of `aside`, a name that must be free in the other folder.
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
        match self.exchange_at_once(name, with, other_name)? {
            true => Ok(()),
            false => self.exchange_by_way_of(name, with, other_name, aside),
        }
    }

    /// Lets two entries of the same file system trade places in one step. Returns `false`, with nothing changed, where
    /// the system or the file system has no such step.
    ///
    /// Those who watch the folders hear of the second name first, and last that something has come to the first.
    ///
    /// # Errors
    /// [`FileError::CrossDevice`], and the usual ones.
    pub fn exchange_at_once(&self, name: &OsStr, with: &Self, other_name: &OsStr) -> Result<bool, FileError> {
        check_name(name)?;
        check_name(other_name)?;
        check_entry(self.as_fd(), name.as_bytes())?;
        check_entry(with.as_fd(), other_name.as_bytes())?;
        match renameat_with(self.as_fd(), name, with.as_fd(), other_name, RenameFlags::EXCHANGE) {
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => Ok(false),
            other => other.map(|()| true).map_err(rename_error),
        }
    }

    /// The way without a flag: a second name that must be free, then the first one goes.
    ///
    /// Folders, and files where the file system knows no second names, are renamed after a look: a
    /// folder could then replace an empty one that came into being meanwhile, a file another file.
    fn rename_by_link(&self, name: &OsStr, to: &Self, new_name: &OsStr) -> Result<(), FileError> {
        match linkat(self.as_fd(), name, to.as_fd(), new_name, AtFlags::empty()) {
            Ok(()) => return self.remove_file(name),
            Err(Errno::PERM | Errno::NOSYS | Errno::NOTSUP | Errno::MLINK) => {}
            Err(errno) => return Err(rename_error(errno)),
        }
        match to.stat(new_name) {
            Ok(_) => Err(FileError::Exists),
            Err(FileError::NotFound) => self.rename(name, to, new_name),
            Err(error) => Err(error),
        }
    }

    /// Removes a file or link by name.
    ///
    /// # Errors
    /// The usual ones.
    pub fn remove_file(&self, name: &OsStr) -> Result<(), FileError> {
        check_name(name)?;
        check_entry(self.as_fd(), name.as_bytes())?;
        Ok(unlinkat(self.as_fd(), name, AtFlags::empty())?)
    }

    /// Removes an empty folder by name.
    ///
    /// # Errors
    /// [`FileError::NotEmpty`] and the usual ones.
    pub fn remove_dir(&self, name: &OsStr) -> Result<(), FileError> {
        check_name(name)?;
        check_entry(self.as_fd(), name.as_bytes())?;
        Ok(unlinkat(self.as_fd(), name, AtFlags::REMOVEDIR)?)
    }

    /// Waits until the names in this folder are on disk.
    ///
    /// # Errors
    /// The usual ones.
    pub fn sync(&self) -> Result<(), FileError> {
        match fsync(self.as_fd()) {
            // Some file systems do not sync folders; their names are as safe as they get.
            Ok(()) | Err(Errno::INVAL | Errno::NOTSUP) => Ok(()),
            Err(errno) => Err(errno.into()),
        }
    }

    /// Waits until everything that was written beneath this folder is on disk, files included.
    ///
    /// # Errors
    /// The usual ones.
    #[cfg(target_os = "linux")]
    pub fn sync_below(&self) -> Result<(), FileError> {
        Ok(rustix::fs::syncfs(self.as_fd())?)
    }

    /// Waits until the names in this folder are on disk; this system syncs files one by one only.
    ///
    /// # Errors
    /// The usual ones.
    #[cfg(not(target_os = "linux"))]
    pub fn sync_below(&self) -> Result<(), FileError> {
        self.sync()
    }
}

/// In a rename, `EXDEV` means two file systems, not a way out of the root.
fn rename_error(errno: Errno) -> FileError {
    match errno {
        Errno::XDEV => FileError::CrossDevice,
        other => other.into(),
    }
}

fn permissions(mode: u32) -> Mode {
    Mode::from_raw_mode((mode & 0o777) as rustix::fs::RawMode)
}
