//! Setting the permission bits of an entry by its name, also of one that this user may not open.

use std::ffi::OsStr;

use super::{FileError, WritableDir};

/// The bits that a folder can get: with set-group-ID, by which new files have its group, and sticky.
#[cfg(target_os = "linux")]
const FOLDER_BITS: u32 = 0o3777;
/// The bits that a file can get.
#[cfg(target_os = "linux")]
const FILE_BITS: u32 = 0o777;

/// Whether this system has all that it takes to bring back what commands change: entries that this user may not open
/// can be given other bits, and two entries trade places in one step.
pub const CAN_RESTORE_TREES: bool = cfg!(target_os = "linux");

impl WritableDir {
    /// Sets the permission bits of a file or folder in this one. A link is not followed, nothing is opened but the name.
    ///
    /// # Errors
    /// [`FileError::Symlink`], [`FileError::NotRegular`] for what is neither, and the usual ones.
    ///
    /// # Source
    /// open(2): a handle of `O_PATH` opens nothing but the name. proc(5): `/proc/self/fd/N` leads to the very file of the
    /// handle N, whatever has its name by now.
    #[cfg(target_os = "linux")]
    pub fn set_entry_mode(&self, name: &OsStr, mode: u32) -> Result<(), FileError> {
        use std::os::fd::AsRawFd;

        use rustix::fs::{Mode, OFlags, chmod, fstat, openat};

        use super::{FileKind, Stat};

        super::dir::check_name(name)?;
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let entry = openat(self.as_fd(), name, flags, Mode::empty())?;
        let bits = match Stat::from_system(&fstat(&entry)?).kind {
            FileKind::Dir => FOLDER_BITS,
            FileKind::File => FILE_BITS,
            FileKind::Symlink => return Err(FileError::Symlink),
            other => return Err(FileError::NotRegular(other)),
        };
        let path = format!("/proc/self/fd/{}", entry.as_raw_fd());
        Ok(chmod(path, Mode::from_raw_mode(mode & bits))?)
    }

    /// Cannot be done without opening the entry.
    ///
    /// # Errors
    /// Always one of kind `Unsupported`.
    #[cfg(not(target_os = "linux"))]
    pub fn set_entry_mode(&self, _: &OsStr, _: u32) -> Result<(), FileError> {
        Err(FileError::Io(std::io::ErrorKind::Unsupported.into()))
    }
}
