//! Opening beneath a folder without following any link, name by name.
//!
//! Each name is opened in its parent's handle, as it is: a reparse point is opened itself, seen to be one, and refused.
//! Then it must be spelt on the disk as it was asked for, to the letter. So neither the short name that the system
//! makes up for a long one, nor another case, leads to a file whose name was not judged.

use std::ffi::OsStr;
use std::os::windows::io::{AsHandle, BorrowedHandle, OwnedHandle};

use super::naming::wide;
use super::sys::{self, Opening};
use super::{FileError, FileKind, RelPath, Stat};
use crate::names::OsStrExt;

/// `FILE_OPEN`: what is there already.
pub(super) const EXISTING: u32 = 1;
/// `FILE_CREATE`: what must not be there.
pub(super) const NEW: u32 = 2;
/// `SYNCHRONIZE`, which every synchronous handle needs.
pub(super) const SYNCHRONIZE: u32 = 0x0010_0000;
/// The rights to ask for facts, and for attributes of the system.
pub(super) const LOOK: u32 = SYNCHRONIZE | 0x80;
/// `FILE_LIST_DIRECTORY` and `FILE_TRAVERSE`.
pub(super) const ENTER: u32 = LOOK | 0x01 | 0x20;
/// `FILE_READ_DATA`, `FILE_READ_EA` and `READ_CONTROL`.
pub(super) const READ: u32 = LOOK | 0x01 | 0x08 | 0x0002_0000;

/// Opens what is at a path beneath a folder. No part of it, the last included, may be a link.
pub(super) fn open_beneath(
    folder: BorrowedHandle<'_>,
    path: &RelPath,
    access: u32,
) -> Result<(OwnedHandle, Stat), FileError> {
    let opening = Opening { access, disposition: EXISTING, options: 0 };
    let Some(last) = path.file_name() else {
        let handle = sys::open_at(folder, &[], opening)?;
        let stat = Stat::of_open(handle.as_handle())?;
        return Ok((handle, stat));
    };
    let mut parent: Option<OwnedHandle> = None;
    let steps = path.components().count() - 1;
    for name in path.components().take(steps) {
        let at = parent.as_ref().map_or(folder, |handle| handle.as_handle());
        let (handle, stat) = open_name(at, OsStr::from_bytes(name), ENTER)?;
        match stat.kind {
            FileKind::Dir => parent = Some(handle),
            FileKind::Symlink => return Err(FileError::Symlink),
            _ => return Err(FileError::NotADirectory),
        }
    }
    let at = parent.as_ref().map_or(folder, |handle| handle.as_handle());
    let (handle, stat) = open_name(at, last, access)?;
    if stat.kind == FileKind::Symlink { Err(FileError::Symlink) } else { Ok((handle, stat)) }
}

/// Opens the very thing that has a name in a folder: a link itself, if it is one.
pub(super) fn open_name(
    folder: BorrowedHandle<'_>,
    name: &OsStr,
    access: u32,
) -> Result<(OwnedHandle, Stat), FileError> {
    let wide = wide(name)?;
    let opening = Opening { access, disposition: EXISTING, options: 0 };
    let handle = sys::open_at(folder, &wide, opening)?;
    if !is_spelt(folder, handle.as_handle(), &wide)? {
        return Err(FileError::NotFound);
    }
    let stat = Stat::of_open(handle.as_handle())?;
    Ok((handle, stat))
}

/// Returns whether what was opened by a name has this very name.
fn is_spelt(folder: BorrowedHandle<'_>, file: BorrowedHandle<'_>, name: &[u16]) -> Result<bool, FileError> {
    if sys::spelling(file).is_ok_and(|spelling| spelling == name) {
        return Ok(true);
    }
    // A file with several names may tell another one: the folder has the last word.
    Ok(list(folder)?.iter().any(|entry| entry.name == name))
}

/// Lists a folder. A handle of its own keeps its place from that of other lists.
pub(super) fn list(folder: BorrowedHandle<'_>) -> Result<Vec<sys::Entry>, FileError> {
    let again = sys::open_at(folder, &[], Opening { access: ENTER, disposition: EXISTING, options: 0 })?;
    Ok(sys::entries(again.as_handle())?)
}
