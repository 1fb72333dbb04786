//! What can go wrong where files are opened and changed, so that callers can branch on it.

use std::io;

use super::{FileKind, PathProblem};

/// Why a file was not opened or changed.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// Nothing has that name.
    #[error("it does not exist")]
    NotFound,
    /// A symbolic link is where none may be followed.
    #[error("a symbolic link is in the way")]
    Symlink,
    /// A step leads out of the root.
    #[error("it leads out of the scope")]
    Outside,
    /// A part of the path that must be a folder is none.
    #[error("a part of the path is not a folder")]
    NotADirectory,
    /// A folder is where a file is needed.
    #[error("it is a folder")]
    IsADirectory,
    /// It is neither file nor folder; it was not opened, or closed again unread.
    #[error("it is {}", .0.describe())]
    NotRegular(FileKind),
    /// The name is taken.
    #[error("it exists already")]
    Exists,
    /// The folder has entries.
    #[error("the folder is not empty")]
    NotEmpty,
    /// The operating system denies it to this user.
    #[error("the operating system denies access")]
    Denied,
    /// The system's own files (procfs, sysfs) are not served.
    #[error("it belongs to a system file system")]
    SystemFiles,
    /// More than 40 links, or a circle.
    #[error("too many symbolic links")]
    LinkLoop,
    /// The two places are on different file systems.
    #[error("the two places are on different file systems")]
    CrossDevice,
    /// The disk or the quota is full.
    #[error("there is no space left")]
    NoSpace,
    /// The file system is mounted read-only.
    #[error("the file system is read-only")]
    ReadOnly,
    /// The path itself is malformed.
    #[error(transparent)]
    Path(#[from] PathProblem),
    /// Anything else.
    #[error(transparent)]
    Io(io::Error),
}
