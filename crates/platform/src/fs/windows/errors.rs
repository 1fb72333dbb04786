//! What Windows's errors mean for files.

use std::io;

use super::sys::Status;
use super::{FileError, PathProblem};

impl From<Status> for FileError {
    fn from(status: Status) -> Self {
        const DELETE_PENDING: u32 = 0xC000_0056;
        const FILE_IS_A_DIRECTORY: u32 = 0xC000_00BA;
        const NOT_A_DIRECTORY: u32 = 0xC000_0103;
        const CANNOT_DELETE: u32 = 0xC000_0121;
        match status.0.cast_unsigned() {
            DELETE_PENDING => Self::NotFound,
            FILE_IS_A_DIRECTORY => Self::IsADirectory,
            NOT_A_DIRECTORY => Self::NotADirectory,
            CANNOT_DELETE => Self::Denied,
            _ => io::Error::from(status).into(),
        }
    }
}

impl From<io::Error> for FileError {
    /// # Source
    /// "System Error Codes" of Microsoft's documentation.
    fn from(error: io::Error) -> Self {
        match error.raw_os_error() {
            Some(2 | 3 | 53 | 67) => Self::NotFound,
            Some(5) => Self::Denied,
            Some(17) => Self::CrossDevice,
            Some(19) => Self::ReadOnly,
            Some(39 | 112 | 1295) => Self::NoSpace,
            Some(80 | 183) => Self::Exists,
            Some(123 | 161) => Self::Path(PathProblem::Name("is none that this file system has")),
            Some(145) => Self::NotEmpty,
            Some(206) => Self::Path(PathProblem::TooLong),
            Some(267) => Self::NotADirectory,
            _ => Self::Io(error),
        }
    }
}
