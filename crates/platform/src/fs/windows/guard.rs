//! Who can get at one of Bailiwick's own files, by its owner and its list of rights.

use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::windows::fs::OpenOptionsExt;
use std::os::windows::io::AsHandle;
use std::path::Path;

use super::facts::{FILE_READ_ATTRIBUTES, OPEN_REPARSE_POINT, READ_CONTROL, open_by_path};
use super::{FileKind, OtherUsers, OwnFileError, Secrecy, Stat};
use crate::windows::{Object, Rights};

/// `FILE_GENERIC_READ`.
const GENERIC_READ: u32 = 0x0012_0089;

/// What others can do with a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Exposure(pub OtherUsers);

impl fmt::Display for Exposure {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = if self.0 == OtherUsers::Change { "change" } else { "read" };
        write!(out, "other users can {what} the file")
    }
}

/// Opens one of Bailiwick's own files, if nobody else could have got at it.
pub(super) fn open_own(path: &Path, secrecy: Secrecy) -> Result<(File, Stat), OwnFileError> {
    let mut options = OpenOptions::new();
    options.access_mode(GENERIC_READ);
    if secrecy == Secrecy::Secret {
        options.custom_flags(OPEN_REPARSE_POINT);
    }
    let file = match options.open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(OwnFileError::NotFound),
        // No folder is opened so.
        Err(_) if path.is_dir() => return Err(OwnFileError::NotRegular(FileKind::Dir)),
        other => other?,
    };
    let stat = Stat::of_open(file.as_handle())?;
    match stat.kind {
        FileKind::File => {}
        FileKind::Symlink => return Err(OwnFileError::Link),
        other => return Err(OwnFileError::NotRegular(other)),
    }
    let rights = Rights::of(file.as_handle(), Object::File)?;
    if !rights.is_ours() {
        return Err(OwnFileError::OtherOwner);
    }
    let allowed = match secrecy {
        Secrecy::Secret => OtherUsers::Nothing,
        Secrecy::Guarded => OtherUsers::Read,
    };
    match rights.others() {
        others if others > allowed => Err(OwnFileError::Exposed(Exposure(others))),
        _ => Ok((file, stat)),
    }
}

/// Creates a folder (and those above it) that only this user can enter; an existing one is narrowed.
///
/// What is made in it later inherits its list.
///
/// # Errors
/// Those of the file system; `PermissionDenied` if the folder belongs to another user.
pub fn create_private_dir(path: &Path) -> io::Result<()> {
    if let Some(above) = path.parent() {
        fs::create_dir_all(above)?;
    }
    match crate::windows::make_private_folder(path) {
        Ok(()) => return Ok(()),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        Err(error) => return Err(error),
    }
    if !path.is_dir() {
        return Err(io::ErrorKind::AlreadyExists.into());
    }
    let folder = open_by_path(path, FILE_READ_ATTRIBUTES | READ_CONTROL)?;
    let rights = Rights::of(folder.as_handle(), Object::File)?;
    if !rights.is_ours() {
        return Err(io::Error::new(
            io::ErrorKind::PermissionDenied,
            format!("{} belongs to another user", path.display()),
        ));
    }
    if rights.others() == OtherUsers::Nothing { Ok(()) } else { crate::windows::narrow_folder(path) }
}

/// Takes the rights of all others to a file of this user that nothing was written to yet. As a rule it has none of them: it
/// inherits the list of its folder.
///
/// # Errors
/// Those of the file system.
pub fn narrow_new_file(path: &Path) -> io::Result<()> {
    crate::windows::narrow_file(path)
}
