//! Facts about files, as Unix tells them.

use std::io;
use std::os::fd::AsFd;
use std::path::Path;

use rustix::fs::FileType;

use super::{FileId, FileKind, Stat};

impl FileKind {
    pub(super) fn from_type(file_type: FileType) -> Option<Self> {
        match file_type {
            FileType::RegularFile => Some(Self::File),
            FileType::Directory => Some(Self::Dir),
            FileType::Symlink => Some(Self::Symlink),
            FileType::Fifo => Some(Self::Fifo),
            FileType::Socket => Some(Self::Socket),
            FileType::CharacterDevice | FileType::BlockDevice => Some(Self::Device),
            FileType::Unknown => None,
        }
    }
}

impl FileId {
    /// Identifies what a path leads to, links followed; `None` if it cannot be reached.
    ///
    /// For Bailiwick's own folders and configured roots; never for a path from a client.
    pub fn of(path: &Path) -> Option<Self> {
        let stat = Stat::from_system(&rustix::fs::stat(path).ok()?);
        Some(stat.id)
    }

    /// Identifies something that is open.
    ///
    /// # Errors
    /// Those of the file system.
    pub(crate) fn of_open(file: impl AsFd) -> io::Result<Self> {
        Ok(Stat::from_system(&rustix::fs::fstat(file)?).id)
    }
}

impl Stat {
    /// Returns the facts of what a path leads to, links followed; `None` if it cannot be reached.
    ///
    /// For configured folders and programs on the search path; never for a path from a client.
    pub fn of(path: &Path) -> Option<Self> {
        Some(Self::from_system(&rustix::fs::stat(path).ok()?))
    }

    /// Returns the facts of an open file.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn of_file(file: &std::fs::File) -> io::Result<Self> {
        Ok(Self::from_system(&rustix::fs::fstat(file)?))
    }

    #[cfg_attr(
        target_os = "linux",
        expect(clippy::cast_possible_wrap, reason = "times are signed elsewhere")
    )]
    #[cfg_attr(target_os = "macos", expect(clippy::cast_sign_loss, reason = "devices are compared as bits"))]
    #[expect(clippy::unnecessary_cast, reason = "the fields' types differ between platforms")]
    pub(super) fn from_system(stat: &rustix::fs::Stat) -> Self {
        let nanoseconds = |seconds: i64, rest: i64| i128::from(seconds) * 1_000_000_000 + i128::from(rest);
        Self {
            kind: FileKind::from_type(FileType::from_raw_mode(stat.st_mode)).unwrap_or(FileKind::Other),
            id: FileId { device: stat.st_dev as u64, inode: stat.st_ino as u64 },
            size: u64::try_from(stat.st_size).unwrap_or(0),
            disk_bytes: u64::try_from(stat.st_blocks).unwrap_or(0).saturating_mul(512),
            mode: stat.st_mode as u32 & 0o7777,
            user: stat.st_uid,
            group: stat.st_gid,
            links: stat.st_nlink as u64,
            modified_ns: nanoseconds(stat.st_mtime as i64, stat.st_mtime_nsec as i64),
            changed_ns: nanoseconds(stat.st_ctime as i64, stat.st_ctime_nsec as i64),
        }
    }
}
