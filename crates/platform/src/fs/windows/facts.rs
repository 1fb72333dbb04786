//! Facts about files, as Windows tells them.

use std::fs::OpenOptions;
use std::io;
use std::os::windows::fs::OpenOptionsExt;
use std::os::windows::io::{AsHandle, BorrowedHandle, OwnedHandle};
use std::path::Path;

use super::{FileId, FileKind, NO_USER, Stat, sys};

/// `FILE_ATTRIBUTE_READONLY`.
const READ_ONLY: u32 = 1;
/// `FILE_ATTRIBUTE_DIRECTORY`.
const DIRECTORY: u32 = 0x10;
/// `FILE_ATTRIBUTE_REPARSE_POINT`.
const REPARSE_POINT: u32 = 0x400;
/// `FILE_FLAG_BACKUP_SEMANTICS`, without which no folder is opened.
const BACKUP_SEMANTICS: u32 = 0x0200_0000;

/// What something is, by its attributes and, of a reparse point, its tag.
pub(super) const fn kind_of(attributes: u32, reparse_tag: Option<u32>) -> FileKind {
    /// The bit of tags that stand for another place: symbolic links, junctions, volumes.
    const NAME_SURROGATE: u32 = 0x2000_0000;
    const UNIX_SOCKET: u32 = 0x8000_0023;
    match reparse_tag {
        Some(UNIX_SOCKET) => FileKind::Socket,
        Some(tag) if tag & NAME_SURROGATE != 0 => FileKind::Symlink,
        _ if attributes & DIRECTORY != 0 => FileKind::Dir,
        // Opened as it is, its content would be what stands for it.
        Some(_) => FileKind::Other,
        None => FileKind::File,
    }
}

/// The same for an entry of a list.
pub(super) const fn kind_of_entry(attributes: u32, reparse_tag: u32) -> FileKind {
    kind_of(attributes, if attributes & REPARSE_POINT == 0 { None } else { Some(reparse_tag) })
}

impl FileId {
    /// Identifies what a path leads to, links followed; `None` if it cannot be reached.
    ///
    /// For Bailiwick's own folders and configured roots; never for a path from a client.
    pub fn of(path: &Path) -> Option<Self> {
        Some(Stat::of(path)?.id)
    }

    /// Identifies what a path leads to. Links are followed all the same: nothing on this system is in a sandbox.
    pub fn of_resolved(path: &Path) -> Option<Self> {
        Self::of(path)
    }
}

impl Stat {
    /// Returns the facts of what a path leads to, links followed; `None` if it cannot be reached.
    ///
    /// For configured folders and programs on the search path; never for a path from a client.
    pub fn of(path: &Path) -> Option<Self> {
        Self::of_open(open_by_path(path, FILE_READ_ATTRIBUTES).ok()?.as_handle()).ok()
    }

    /// Returns the facts of an open file.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn of_file(file: &std::fs::File) -> io::Result<Self> {
        Self::of_open(file.as_handle())
    }

    /// Returns the facts of something open.
    pub(crate) fn of_open(file: BorrowedHandle<'_>) -> io::Result<Self> {
        let facts = sys::facts(file)?;
        // File systems whose numbers need more are not served: two files must never look like one.
        let inode = u64::try_from(facts.number).map_err(|_| io::Error::from(io::ErrorKind::Unsupported))?;
        let kind = kind_of(facts.attributes, facts.reparse_tag);
        let mode = match (kind, facts.attributes & READ_ONLY != 0) {
            // The attribute of a folder says nothing of what may be done in it.
            (FileKind::Dir, _) => 0o755,
            (_, true) => 0o444,
            (_, false) => 0o644,
        };
        Ok(Self {
            kind,
            id: FileId { device: facts.volume, inode },
            size: facts.size,
            disk_bytes: facts.size,
            mode,
            user: NO_USER,
            group: NO_USER,
            links: facts.links.into(),
            modified_ns: facts.modified_ns,
            changed_ns: facts.changed_ns,
        })
    }
}

/// The right to ask for facts.
pub(super) const FILE_READ_ATTRIBUTES: u32 = 0x80;
/// `READ_CONTROL`: the right to read who has rights.
pub(super) const READ_CONTROL: u32 = 0x0002_0000;
/// `FILE_FLAG_OPEN_REPARSE_POINT`, which opens a link itself.
pub(super) const OPEN_REPARSE_POINT: u32 = 0x0020_0000;

/// Opens a file or folder by a path that the user chose. Links are followed.
pub(super) fn open_by_path(path: &Path, access: u32) -> io::Result<OwnedHandle> {
    open(path, access, BACKUP_SEMANTICS)
}

/// Opens what is at a path that the user chose, a link itself.
pub(super) fn open_name_by_path(path: &Path, access: u32) -> io::Result<OwnedHandle> {
    open(path, access, BACKUP_SEMANTICS | OPEN_REPARSE_POINT)
}

fn open(path: &Path, access: u32, flags: u32) -> io::Result<OwnedHandle> {
    Ok(OpenOptions::new().access_mode(access).custom_flags(flags).open(path)?.into())
}
