//! An open root folder, and opening files beneath it.

use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{AtFlags, OFlags, fstat, open, statat};

use super::beneath::open_beneath;
use super::listings::Listings;
use super::regular::open_regular;
use super::spelling::check_entry;
use super::{Dir, DirEntry, FileError, FileId, ReadableFile, RelPath, Stat, WritableDir};
use crate::names::OsStrExt;

/// How a root is opened.
const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// How something is opened to be identified: nothing is read of it, and nothing waited for.
#[cfg(target_os = "linux")]
const LOOK: OFlags = OFlags::PATH.union(OFlags::CLOEXEC);
/// How something is opened to be identified: nothing is waited for.
#[cfg(not(target_os = "linux"))]
const LOOK: OFlags = OFlags::RDONLY.union(OFlags::NONBLOCK).union(OFlags::NOCTTY).union(OFlags::CLOEXEC);

/// A folder that was opened once; renaming or replacing its path later changes nothing.
#[derive(Debug)]
pub struct Root {
    fd: OwnedFd,
    id: FileId,
    path: PathBuf,
    /// Whether opening its files asks nobody but this computer.
    #[cfg(target_os = "linux")]
    is_on_this_computer: bool,
    listings: Listings,
}

impl Root {
    /// Opens a folder as a root. Links in the path to it are followed.
    ///
    /// # Errors
    /// The usual ones, and [`FileError::SystemFiles`] for procfs, sysfs and their like.
    pub fn open(path: &Path) -> Result<Self, FileError> {
        Self::from_fd(open(path, FOLDER, rustix::fs::Mode::empty())?, path)
    }

    /// Opens a folder as a root by a path of which no part is a link, as [`super::ResolvedPath`] has it.
    ///
    /// # Errors
    /// As [`Root::open`]; [`FileError::Symlink`] where a part is a link by now.
    pub fn open_resolved(path: &Path) -> Result<Self, FileError> {
        Self::from_fd(open_without_links(path, FOLDER)?, path)
    }

    fn from_fd(fd: OwnedFd, path: &Path) -> Result<Self, FileError> {
        let stat = Stat::from_system(&fstat(&fd)?);
        if is_system_files(&fd)? {
            return Err(FileError::SystemFiles);
        }
        Ok(Self {
            #[cfg(target_os = "linux")]
            is_on_this_computer: super::cached::is_on_this_computer(&fd),
            fd,
            id: stat.id,
            path: path.to_owned(),
            listings: Listings::default(),
        })
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
        fstat(&self.fd).is_ok_and(|stat| stat.st_nlink == 0)
    }

    /// Opens a regular file for reading. No link is followed, no pipe or device opened.
    ///
    /// # Errors
    /// [`FileError::Symlink`] where a part is a link (see [`Root::resolve_links`]),
    /// [`FileError::IsADirectory`], [`FileError::NotRegular`], [`FileError::SystemFiles`], and the usual ones.
    pub fn open_file(&self, path: &RelPath) -> Result<ReadableFile, FileError> {
        open_regular(self.id.device, |flags| open_beneath(self.fd.as_fd(), path, flags))
    }

    /// Reads a regular file of at most `most` bytes if nothing has to be waited for. `None` says nothing about it: then
    /// [`Root::open_file`] finds out.
    #[cfg(target_os = "linux")]
    pub fn read_cached(&self, path: &RelPath, most: u64) -> Option<(Stat, Vec<u8>)> {
        self.is_on_this_computer
            .then(|| super::cached::read(self.fd.as_fd(), self.id.device, path, most))
            .flatten()
    }

    /// Reads the facts of a regular file or folder if nothing has to be waited for. `None` says nothing about it.
    #[cfg(target_os = "linux")]
    pub fn stat_cached(&self, path: &RelPath) -> Option<Stat> {
        self.is_on_this_computer.then(|| super::cached::stat(self.fd.as_fd(), self.id.device, path)).flatten()
    }

    /// Reads a file if nothing has to be waited for, which this system cannot say.
    #[cfg(not(target_os = "linux"))]
    pub const fn read_cached(&self, _: &RelPath, _: u64) -> Option<(Stat, Vec<u8>)> {
        None
    }

    /// Reads facts if nothing has to be waited for, which this system cannot say.
    #[cfg(not(target_os = "linux"))]
    pub const fn stat_cached(&self, _: &RelPath) -> Option<Stat> {
        None
    }

    /// Returns the entries of a folder of these facts, if it was read before and has not changed since.
    pub fn listing(&self, folder: &Stat) -> Option<Arc<[DirEntry]>> {
        self.listings.get(folder)
    }

    /// Remembers the entries of a folder for [`Root::listing`], if there are at most [`MAX_LISTED`](super::MAX_LISTED). `before` are
    /// its facts from before they were read.
    pub fn keep_listing(&self, before: &Stat, entries: Vec<DirEntry>) {
        self.listings.insert(before, entries);
    }

    /// Opens a folder. No link is followed.
    ///
    /// # Errors
    /// As [`Root::open_file`]; [`FileError::NotADirectory`] for anything but a folder.
    pub fn open_dir(&self, path: &RelPath) -> Result<Dir, FileError> {
        let fd = open_beneath(self.fd.as_fd(), path, OFlags::RDONLY | OFlags::DIRECTORY)?;
        let dir = Dir::from_fd(fd)?;
        if dir.id().device != self.id.device && is_system_files(dir.as_fd())? {
            return Err(FileError::SystemFiles);
        }
        Ok(dir)
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
        let Some(name) = path.file_name() else { return Ok(Stat::from_system(&fstat(&self.fd)?)) };
        let parent = path.parent().unwrap_or_default();
        if parent.is_root() {
            check_entry(self.fd.as_fd(), name.as_bytes())?;
            return Ok(Stat::from_system(&statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW)?));
        }
        self.open_dir(&parent)?.stat(name)
    }

    /// Reads where a symbolic link leads, as it is written.
    ///
    /// # Errors
    /// The usual ones; an error of kind `InvalidInput` if it is not a link.
    pub fn read_link(&self, path: &RelPath) -> Result<Vec<u8>, FileError> {
        let Some(name) = path.file_name() else { return Err(FileError::IsADirectory) };
        let parent = self.open_dir(&path.parent().unwrap_or_default())?;
        parent.read_link(name)
    }
}

impl FileId {
    /// Identifies what has a path of which no part is a link; `None` where nothing has it, or where a part is one.
    pub fn of_resolved(path: &Path) -> Option<Self> {
        Self::of_open(open_without_links(path, LOOK).ok()?).ok()
    }
}

/// Opens an absolute path of which no part is a link.
#[cfg(target_os = "linux")]
fn open_without_links(path: &Path, flags: OFlags) -> Result<OwnedFd, FileError> {
    let bytes = path.as_os_str().as_bytes();
    let below = RelPath::parse(bytes.strip_prefix(b"/").ok_or(FileError::Outside)?)?;
    let top = open("/", OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, rustix::fs::Mode::empty())?;
    Ok(open_beneath(top.as_fd(), &below, flags)?)
}

/// Opens an absolute path of which no part is a link.
///
/// # Source
/// open(2) of macOS: `O_NOFOLLOW_ANY`.
#[cfg(not(target_os = "linux"))]
fn open_without_links(path: &Path, flags: OFlags) -> Result<OwnedFd, FileError> {
    const NOFOLLOW_ANY: OFlags = OFlags::from_bits_retain(0x2000_0000);
    Ok(open(path, flags | NOFOLLOW_ANY, rustix::fs::Mode::empty())?)
}

/// Returns whether a handle is on a file system whose files are the system's own doors.
///
/// # Source
/// statfs(2), the list of `*_MAGIC` numbers.
#[cfg(target_os = "linux")]
pub(super) fn is_system_files(fd: impl AsFd) -> Result<bool, FileError> {
    const PROC: u64 = 0x9fa0;
    const SYSFS: u64 = 0x6265_6572;
    const DEBUGFS: u64 = 0x6462_6720;
    const TRACEFS: u64 = 0x7472_6163;
    const SECURITYFS: u64 = 0x7363_6673;
    const CGROUP: u64 = 0x0027_e0eb;
    const CGROUP2: u64 = 0x6367_7270;
    const BPF: u64 = 0xcafe_4a11;
    const EFIVARS: u64 = 0xde5e_81e4;
    const BINFMT: u64 = 0x4249_4e4d;
    const CONFIGFS: u64 = 0x6265_6570;
    const FUSECTL: u64 = 0x6573_5543;
    const NSFS: u64 = 0x6e73_6673;
    const PSTORE: u64 = 0x6165_676c;
    const SELINUX: u64 = 0xf97c_ff8c;
    const SMACK: u64 = 0x4341_5d53;
    #[expect(clippy::cast_sign_loss, reason = "the magic numbers are compared as bits")]
    let magic = rustix::fs::fstatfs(fd)?.f_type as u64 & 0xffff_ffff;
    Ok([
        PROC, SYSFS, DEBUGFS, TRACEFS, SECURITYFS, CGROUP, CGROUP2, BPF, EFIVARS, BINFMT, CONFIGFS, FUSECTL,
        NSFS, PSTORE, SELINUX, SMACK,
    ]
    .contains(&magic))
}

/// Other systems have no such files in the tree of folders.
#[cfg(not(target_os = "linux"))]
pub(super) fn is_system_files(_: impl AsFd) -> Result<bool, FileError> {
    Ok(false)
}
