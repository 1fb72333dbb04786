//! Facts about a file, in our own words.

/// What kind of thing a name stands for.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, schemars::JsonSchema,
)]
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

/// The number of a user or group that the system does not tell. It is nobody's: who owns something is asked by
/// [`super::Ownership`].
pub const NO_USER: u32 = u32::MAX;

/// Facts about a file at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stat {
    /// What it is.
    pub kind: FileKind,
    /// Its identity.
    pub id: FileId,
    /// Its size in bytes.
    pub size: u64,
    /// How much of it is on the disk, in bytes; less than its size where it has holes. On Windows its size.
    pub disk_bytes: u64,
    /// Permission bits, without the kind (`0o644`). On Windows they stand for whether it may be written.
    pub mode: u32,
    /// Owner. On Windows always [`NO_USER`].
    pub user: u32,
    /// Group. On Windows always [`NO_USER`].
    pub group: u32,
    /// How many names it has.
    pub links: u64,
    /// Last change of content, in nanoseconds since the epoch.
    pub modified_ns: i128,
    /// Last change of content or facts, in nanoseconds since the epoch.
    pub changed_ns: i128,
}

impl Stat {
    /// Returns the time of the last change of content, in milliseconds since the epoch.
    pub fn modified_ms(&self) -> i64 {
        i64::try_from(self.modified_ns.div_euclid(1_000_000)).unwrap_or(0)
    }
}
