//! Owners by their accounts, and what others can do by lists of rights.

use std::io;
use std::os::windows::io::{AsHandle, BorrowedHandle};
use std::path::Path;

use super::Stat;
use super::facts::{FILE_READ_ATTRIBUTES, READ_CONTROL, open_by_path};
use super::ownership::{Owner, Ownership};
use crate::windows::{Object, Rights};

impl Ownership {
    /// Asks who owns what a path leads to, links followed.
    ///
    /// # Errors
    /// Those of the file system; `PermissionDenied` where this user may not know.
    pub fn of(path: &Path) -> io::Result<Self> {
        Self::by(open_by_path(path, FILE_READ_ATTRIBUTES | READ_CONTROL)?.as_handle())
    }

    /// Returns who owns what has these facts and was found at this path, links followed. Something else that is there
    /// by now is not told of.
    pub fn of_known(path: &Path, stat: &Stat) -> Self {
        let told = (|| {
            let file = open_by_path(path, FILE_READ_ATTRIBUTES | READ_CONTROL)?;
            let is_same = Stat::of_open(file.as_handle())?.id == stat.id;
            if is_same { Self::by(file.as_handle()) } else { Err(io::ErrorKind::NotFound.into()) }
        })();
        told.unwrap_or(Self::UNKNOWN)
    }

    fn by(file: BorrowedHandle<'_>) -> io::Result<Self> {
        let rights = Rights::of(file, Object::File)?;
        let owner = match () {
            () if rights.is_ours() => Owner::Me,
            () if rights.is_the_systems() => Owner::System,
            () => Owner::Other,
        };
        Ok(Self { owner, others: rights.others() })
    }
}
