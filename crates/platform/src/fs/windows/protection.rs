//! How one of Bailiwick's own files or folders is closed to others: its owner and list of rights.

use std::fmt;
use std::io;
use std::os::windows::io::{AsHandle, BorrowedHandle};
use std::path::Path;

use super::facts::{FILE_READ_ATTRIBUTES, READ_CONTROL, open_by_path, open_name_by_path};
use super::{FileKind, OtherUsers, Stat};
use crate::windows::{Object, Rights, narrow_file, narrow_folder, own_account, set_rights};

/// How something is protected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Protection {
    rights: Rights,
}

impl Protection {
    /// Looks at what a path leads to.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn of(path: &Path) -> io::Result<Self> {
        Self::read(open_by_path(path, FILE_READ_ATTRIBUTES | READ_CONTROL)?.as_handle())
    }

    /// Looks at the name itself: a link has no protection of its own.
    ///
    /// # Errors
    /// Those of the file system; `InvalidInput` for a link.
    pub fn of_name(path: &Path) -> io::Result<Self> {
        Self::read(open_name_by_path(path, FILE_READ_ATTRIBUTES | READ_CONTROL)?.as_handle())
    }

    fn read(opened: BorrowedHandle<'_>) -> io::Result<Self> {
        if Stat::of_open(opened)?.kind == FileKind::Symlink {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        Ok(Self { rights: Rights::of(opened, Object::File)? })
    }

    /// Returns whether it belongs to this user, or to the administrators as what an administrator makes.
    pub fn is_ours(&self) -> bool {
        self.rights.is_ours()
    }

    /// Tells the most that others can do.
    pub fn others(&self) -> OtherUsers {
        self.rights.others()
    }

    /// Takes everything from others.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn narrow(path: &Path, is_folder: bool) -> io::Result<()> {
        if is_folder { narrow_folder(path) } else { narrow_file(path) }
    }

    /// Returns the command by which a person does so.
    pub fn narrowing_command(path: &Path, is_folder: bool) -> String {
        let inherited = if is_folder { "(OI)(CI)" } else { "" };
        // By its number, as its name may be one of another computer. Where that is not told, the variable has the name.
        let user = own_account().map_or_else(|_| "%USERNAME%".to_owned(), |number| format!("*{number}"));
        format!("icacls \"{}\" /inheritance:r /grant:r \"{user}:{inherited}F\"", path.display())
    }

    /// Shows what narrowing changes.
    pub fn narrowing_diff(&self, is_folder: bool) -> String {
        let inherited = if is_folder { ", and what is made in it" } else { "" };
        format!("old rights {}\nnew rights for this user and the system alone{inherited}\n", self.kept())
    }

    /// Returns the text by which [`Protection::restore`] puts it back.
    pub fn kept(&self) -> String {
        self.rights.list().to_owned()
    }

    /// Protects something as it was.
    ///
    /// # Errors
    /// Those of the file system; those of the system for a text that is none of [`Protection::kept`].
    pub fn restore(path: &Path, kept: &str) -> io::Result<()> {
        set_rights(path, kept)
    }
}

/// For the tests of this layer and of those above it.
impl Protection {
    /// Whether a file or folder is this user's alone. One that cannot be read is not.
    pub fn is_private(path: &Path, _: bool) -> bool {
        Self::of_name(path).is_ok_and(|found| found.is_ours() && found.others() == OtherUsers::Nothing)
    }

    /// Lets others read a file.
    ///
    /// # Errors
    /// What the system says.
    pub fn expose(path: &Path) -> io::Result<()> {
        let list = format!("{}(A;;FR;;;WD)", Self::of_name(path)?.kept());
        set_rights(path, &list)
    }
}

impl fmt::Display for Protection {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "its list of rights is {}", self.kept())
    }
}
