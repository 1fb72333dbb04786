//! How one of Bailiwick's own files or folders is closed to others: its owner and permission bits.

use std::fmt;
use std::fs;
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

use super::OtherUsers;
use crate::quoting::quote;

/// How something is protected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Protection {
    user: u32,
    mode: u32,
}

impl Protection {
    /// Looks at what a path leads to.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn of(path: &Path) -> io::Result<Self> {
        fs::metadata(path).map(|facts| Self::read(&facts))
    }

    /// Looks at the name itself: a link has no protection of its own.
    ///
    /// # Errors
    /// Those of the file system; `InvalidInput` for a link.
    pub fn of_name(path: &Path) -> io::Result<Self> {
        let facts = fs::symlink_metadata(path)?;
        if facts.is_symlink() { Err(io::ErrorKind::InvalidInput.into()) } else { Ok(Self::read(&facts)) }
    }

    fn read(facts: &fs::Metadata) -> Self {
        Self { user: facts.uid(), mode: facts.mode() & 0o7777 }
    }

    /// Returns whether it belongs to this user.
    pub fn is_ours(&self) -> bool {
        self.user == crate::machine::user_id()
    }

    /// Tells the most that others can do.
    pub const fn others(&self) -> OtherUsers {
        match self.mode {
            mode if mode & 0o022 != 0 => OtherUsers::Change,
            mode if mode & 0o077 != 0 => OtherUsers::Read,
            _ => OtherUsers::Nothing,
        }
    }

    /// Returns the bits that close a file or folder to others.
    const fn narrow_mode(is_folder: bool) -> u32 {
        if is_folder { 0o700 } else { 0o600 }
    }

    /// Takes everything from others.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn narrow(path: &Path, is_folder: bool) -> io::Result<()> {
        fs::set_permissions(path, fs::Permissions::from_mode(Self::narrow_mode(is_folder)))
    }

    /// Returns the command by which a person does so.
    pub fn narrowing_command(path: &Path, is_folder: bool) -> String {
        format!("chmod {:o} {}", Self::narrow_mode(is_folder), quote(&path.to_string_lossy()))
    }

    /// Shows what narrowing changes, as `git diff` would.
    pub fn narrowing_diff(&self, is_folder: bool) -> String {
        format!("old mode {:04o}\nnew mode {:04o}\n", self.mode, Self::narrow_mode(is_folder))
    }

    /// Returns the text by which [`Protection::restore`] puts it back.
    pub fn kept(&self) -> String {
        format!("{:04o}", self.mode)
    }

    /// Protects something as it was.
    ///
    /// # Errors
    /// Those of the file system; `InvalidInput` for a text that is none of [`Protection::kept`].
    pub fn restore(path: &Path, kept: &str) -> io::Result<()> {
        let mode = u32::from_str_radix(kept, 8).ok().filter(|mode| *mode <= 0o7777);
        let mode = mode.ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
        fs::set_permissions(path, fs::Permissions::from_mode(mode))
    }
}

/// For the tests of this layer and of those above it.
impl Protection {
    /// Whether a file or folder is this user's alone, by the very bits that Bailiwick sets. One that cannot be read is not.
    pub fn is_private(path: &Path, is_folder: bool) -> bool {
        Self::of_name(path).is_ok_and(|found| found.is_ours() && found.mode == Self::narrow_mode(is_folder))
    }

    /// Lets others read a file.
    ///
    /// # Errors
    /// What the system says.
    pub fn expose(path: &Path) -> io::Result<()> {
        fs::set_permissions(path, fs::Permissions::from_mode(0o644))
    }
}

impl fmt::Display for Protection {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "its mode is {:04o}", self.mode)
    }
}
