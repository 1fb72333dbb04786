//! Facts about a file, in our own words.

use rustix::fs::FileType;

/// What kind of thing a name stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FileKind {
    /// A regular file.
    File,
    /// A folder.
    Dir,
    /// A symbolic link.
    Symlink,
    /// A named pipe.
    Fifo,
    /// A socket.
    Socket,
    /// A device.
    Device,
    /// Something else.
    Other,
}

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

    /// Names the kind in messages.
    pub const fn describe(self) -> &'static str {
        match self {
            Self::File => "a file",
            Self::Dir => "a folder",
            Self::Symlink => "a symbolic link",
            Self::Fifo => "a named pipe",
            Self::Socket => "a socket",
            Self::Device => "a device",
            Self::Other => "neither a file nor a folder",
        }
    }
}

/// Identifies a file on this computer, whatever its names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId {
    /// The device that holds it.
    pub device: u64,
    /// Its number there.
    pub inode: u64,
}

impl FileId {
    /// Identifies what a path leads to, links followed; `None` if it cannot be reached.
    ///
    /// For Bailiwick's own folders and configured roots; never for a path from a client.
    pub fn of(path: &std::path::Path) -> Option<Self> {
        let stat = Stat::from_system(&rustix::fs::stat(path).ok()?);
        Some(stat.id)
    }
}

/// Facts about a file at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stat {
    /// What it is.
    pub kind: FileKind,
    /// Its identity.
    pub id: FileId,
    /// Its size in bytes.
    pub size: u64,
    /// Permission bits, without the kind (`0o644`).
    pub mode: u32,
    /// Owner.
    pub user: u32,
    /// Group.
    pub group: u32,
    /// How many names it has.
    pub links: u64,
    /// Last change of content, in nanoseconds since the epoch.
    pub modified_ns: i128,
    /// Last change of content or facts, in nanoseconds since the epoch.
    pub changed_ns: i128,
}

impl Stat {
    /// Gives the facts of what a path leads to, links followed; `None` if it cannot be reached.
    ///
    /// For configured folders and programs on the search path; never for a path from a client.
    pub fn of(path: &std::path::Path) -> Option<Self> {
        Some(Self::from_system(&rustix::fs::stat(path).ok()?))
    }

    #[expect(
        clippy::unnecessary_cast,
        clippy::cast_possible_wrap,
        reason = "the fields' types differ between platforms"
    )]
    pub(super) fn from_system(stat: &rustix::fs::Stat) -> Self {
        let nanoseconds = |seconds: i64, rest: i64| i128::from(seconds) * 1_000_000_000 + i128::from(rest);
        Self {
            kind: FileKind::from_type(FileType::from_raw_mode(stat.st_mode)).unwrap_or(FileKind::Other),
            id: FileId { device: stat.st_dev as u64, inode: stat.st_ino as u64 },
            size: u64::try_from(stat.st_size).unwrap_or(0),
            mode: stat.st_mode as u32 & 0o7777,
            user: stat.st_uid,
            group: stat.st_gid,
            links: stat.st_nlink as u64,
            modified_ns: nanoseconds(stat.st_mtime as i64, stat.st_mtime_nsec as i64),
            changed_ns: nanoseconds(stat.st_ctime as i64, stat.st_ctime_nsec as i64),
        }
    }

    /// Gives the time of the last change of content, in milliseconds since the epoch.
    pub fn modified_ms(&self) -> i64 {
        i64::try_from(self.modified_ns.div_euclid(1_000_000)).unwrap_or(0)
    }
}
