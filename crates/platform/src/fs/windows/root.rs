//! An open root folder, and opening files beneath it.

use std::os::windows::io::{AsHandle, OwnedHandle};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::beneath::{ENTER, LOOK, READ, open_beneath, open_name};
use super::dir::regular_file;
use super::facts::open_by_path;
use super::{Dir, DirEntry, FileError, FileId, FileKind, ReadableFile, RelPath, Stat, WritableDir, sys};

/// The tags of symbolic links and junctions.
const SYMLINK: u32 = 0xA000_000C;
const JUNCTION: u32 = 0xA000_0003;

/// A folder that was opened once; renaming or replacing its path later changes nothing.
#[derive(Debug)]
pub struct Root {
    handle: OwnedHandle,
    id: FileId,
    path: PathBuf,
}

impl Root {
    /// Opens a folder as a root. Links in the path to it are followed.
    ///
    /// # Errors
    /// The usual ones.
    pub fn open(path: &Path) -> Result<Self, FileError> {
        let handle = open_by_path(path, ENTER)?;
        let stat = Stat::of_open(handle.as_handle())?;
        if stat.kind != FileKind::Dir {
            return Err(FileError::NotADirectory);
        }
        Ok(Self { handle, id: stat.id, path: path.to_owned() })
    }

    /// Opens a folder as a root by a path of which no part is a link, as [`super::ResolvedPath`] has it. What takes
    /// the place of a part between the two is not seen: nothing on this system is in a sandbox.
    ///
    /// # Errors
    /// As [`Root::open`].
    pub fn open_resolved(path: &Path) -> Result<Self, FileError> {
        Self::open(path)
    }

    /// Returns the path by which the root was opened; for display and configuration only.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the path under which this very folder is found now, links resolved; `None` if it was moved.
    pub fn current_path(&self) -> Option<PathBuf> {
        let path = self.path.canonicalize().ok()?;
        (FileId::of(&path) == Some(self.id)).then_some(path)
    }

    /// Returns the identity of the root folder.
    pub fn id(&self) -> FileId {
        self.id
    }

    /// Returns whether the folder was removed since it was opened; it then holds nothing any more.
    pub fn is_removed(&self) -> bool {
        sys::is_removed(self.handle.as_handle())
    }

    /// Opens a regular file for reading. No link is followed, no device waited for.
    ///
    /// # Errors
    /// [`FileError::Symlink`] where a part is a link (see [`Root::resolve_links`]),
    /// [`FileError::IsADirectory`], [`FileError::NotRegular`], and the usual ones.
    pub fn open_file(&self, path: &RelPath) -> Result<ReadableFile, FileError> {
        regular_file(open_beneath(self.handle.as_handle(), path, READ)?)
    }

    /// Reads a file if nothing has to be waited for, which this system cannot say.
    pub const fn read_cached(&self, _: &RelPath, _: u64) -> Option<(Stat, Vec<u8>)> {
        None
    }

    /// Reads facts if nothing has to be waited for, which this system cannot say.
    pub const fn stat_cached(&self, _: &RelPath) -> Option<Stat> {
        None
    }

    /// Returns the entries of a folder that was read before, which is asked for by facts that this system cannot give.
    pub const fn listing(&self, _: &Stat) -> Option<Arc<[DirEntry]>> {
        None
    }

    /// Remembers nothing.
    pub fn keep_listing(&self, _: &Stat, _: Vec<DirEntry>) {}

    /// Opens a folder. No link is followed.
    ///
    /// # Errors
    /// As [`Root::open_file`]; [`FileError::NotADirectory`] for anything but a folder.
    pub fn open_dir(&self, path: &RelPath) -> Result<Dir, FileError> {
        Dir::from_open(open_beneath(self.handle.as_handle(), path, ENTER)?)
    }

    /// Opens a folder whose entries may be changed. No link is followed.
    ///
    /// # Errors
    /// As [`Root::open_dir`].
    pub fn open_writable_dir(&self, path: &RelPath) -> Result<WritableDir, FileError> {
        self.open_dir(path).map(WritableDir::new)
    }

    /// Returns the facts of what the name itself stands for: a link is described, not followed.
    ///
    /// # Errors
    /// As [`Root::open_dir`] for the folder that holds it.
    pub fn stat(&self, path: &RelPath) -> Result<Stat, FileError> {
        let Some(name) = path.file_name() else { return Ok(Stat::of_open(self.handle.as_handle())?) };
        self.open_dir(&path.parent().unwrap_or_default())?.stat(name)
    }

    /// Reads where a symbolic link leads, with `/` between the names. One that does not begin in its own folder
    /// begins with `/`.
    ///
    /// # Errors
    /// The usual ones; an error of kind `InvalidInput` if it is not a link.
    pub fn read_link(&self, path: &RelPath) -> Result<Vec<u8>, FileError> {
        let Some(name) = path.file_name() else { return Err(FileError::IsADirectory) };
        self.open_dir(&path.parent().unwrap_or_default())?.read_link(name)
    }
}

impl Dir {
    /// Reads where a symbolic link leads, as [`Root::read_link`].
    ///
    /// # Errors
    /// The usual ones; an error of kind `InvalidInput` if it is not a link.
    pub fn read_link(&self, name: &std::ffi::OsStr) -> Result<Vec<u8>, FileError> {
        let (handle, stat) = open_name(self.as_handle(), name, LOOK)?;
        if stat.kind != FileKind::Symlink {
            return Err(FileError::Io(std::io::ErrorKind::InvalidInput.into()));
        }
        leads_to(&sys::reparse_data(handle.as_handle())?)
            .ok_or_else(|| FileError::Io(std::io::ErrorKind::Unsupported.into()))
    }
}

/// Reads a `REPARSE_DATA_BUFFER`; none if it is neither a symbolic link nor a junction.
fn leads_to(data: &[u8]) -> Option<Vec<u8>> {
    let short = |at: usize| -> Option<usize> {
        data.get(at..)?.first_chunk().map(|two| usize::from(u16::from_le_bytes(*two)))
    };
    let tag = u32::from_le_bytes(*data.first_chunk()?);
    // A symbolic link has four bytes of flags before its names.
    let (names, is_relative) = match tag {
        SYMLINK => (20, data.get(16)? & 1 != 0),
        JUNCTION => (16, false),
        _ => return None,
    };
    let (offset, length) = (short(8)?, short(10)?);
    let units = data.get(names + offset..names + offset + length)?.as_chunks().0.iter();
    let text: Vec<u16> = units.map(|unit| u16::from_le_bytes(*unit)).collect();
    let text = String::from_utf16(&text).ok()?.replace('\\', "/");
    Some(if is_relative || text.starts_with('/') { text } else { format!("/{text}") }.into_bytes())
}

#[cfg(test)]
mod tests {
    use super::leads_to;

    /// Creates the data of a link.
    fn link(tag: u32, flags: Option<u32>, to: &str) -> Vec<u8> {
        let text: Vec<u8> = to.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let length = u16::try_from(text.len()).expect("short");
        let mut data = [tag.to_le_bytes().as_slice(), &[0; 4]].concat();
        for number in [0, length, length, 0] {
            data.extend(number.to_le_bytes());
        }
        data.extend(flags.iter().flat_map(|flags| flags.to_le_bytes()));
        data.extend(text);
        data
    }

    #[test]
    fn links_are_read_with_slashes_and_absolute_ones_begin_with_one() {
        let read = |data: &[u8]| leads_to(data).map(|to| String::from_utf8(to).expect("text"));
        assert_eq!(read(&link(super::SYMLINK, Some(1), "..\\b")).as_deref(), Some("../b"));
        assert_eq!(read(&link(super::SYMLINK, Some(0), "\\??\\C:\\b")).as_deref(), Some("/??/C:/b"));
        assert_eq!(read(&link(super::SYMLINK, Some(0), "C:\\b")).as_deref(), Some("/C:/b"));
        assert_eq!(read(&link(super::JUNCTION, None, "\\??\\C:\\b")).as_deref(), Some("/??/C:/b"));
        assert_eq!(read(&link(0xA000_001D, None, "b")), None, "another subsystem's link");
        assert_eq!(read(&link(super::SYMLINK, Some(1), "b")[..18]), None, "cut off");
    }
}
