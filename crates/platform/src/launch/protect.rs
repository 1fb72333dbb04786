//! Names inside the roots that stay as they are, such as `.git/config`; also those that do not exist yet.
//!
//! An existing name is mounted read-only over itself. The folders on the way to it are mounted over
//! themselves too, so that none can be renamed away. For a missing name there is a *placeholder* while jobs run: an
//! empty folder, or a file that says nothing to the program that reads it. It is removed after the last job, unless
//! somebody has used it meanwhile; one that a crash left behind is taken over, and removed, by the next job there.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Component, Path, PathBuf};

use bailiwick_contract::id;
use rustix::fs::{
    AtFlags, FileType, FlockOperation, Mode, OFlags, RenameFlags, Stat, Timespec, Timestamps, flock, fstat,
    futimens, linkat, mkdirat, openat, renameat, renameat_with, statat, unlinkat,
};
use rustix::io::Errno;

use super::flags::FOLDER;
use super::wire::Pin;
use super::{FolderChanges, LaunchError, PathGrant, ProtectedPath, SandboxRequest, StandIn};
use crate::fs::FileId;

/// The time of change that marks a placeholder, in seconds since the epoch: nobody has used it since it was made. Even,
/// since some file systems keep every other second.
pub(super) const MARK: Timespec = Timespec { tv_sec: 946_684_806, tv_nsec: 0 };

/// Placeholders that this job needs; removed with the value, by anyone who is the last.
#[derive(Debug, Default)]
pub(super) struct Placeholders(Vec<Placeholder>);

impl Placeholders {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the names, each in the folder whose descriptor is the first of its pair.
    pub(super) fn names(&self) -> Vec<PathBuf> {
        self.0.iter().map(|placeholder| placeholder.name.clone()).collect()
    }

    /// Returns the descriptors, two for each, with which another process can hold them.
    pub(super) fn descriptors(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        self.0.iter().flat_map(|placeholder| [placeholder.parent.as_fd(), placeholder.lock.as_fd()])
    }

    /// Leaves them to the process that has copies of the descriptors. The lock is one for all copies.
    pub(super) fn hand_over(mut self) {
        for placeholder in &mut self.0 {
            placeholder.is_handed_over = true;
        }
    }

    /// Holds what another process handed over.
    pub(super) fn take_over(
        names: Vec<PathBuf>,
        descriptors: &mut impl Iterator<Item = OwnedFd>,
    ) -> Option<Self> {
        let take = |name| {
            let (parent, lock) = (descriptors.next()?, descriptors.next()?);
            Some(Placeholder { parent, name, lock, is_handed_over: false })
        };
        names.into_iter().map(take).collect::<Option<Vec<_>>>().map(Self)
    }
}

/// A descriptor of the folder, the name in it, and the locked placeholder itself.
#[derive(Debug)]
struct Placeholder {
    parent: OwnedFd,
    name: PathBuf,
    lock: OwnedFd,
    /// Another process holds it now, with copies of these descriptors.
    is_handed_over: bool,
}

impl Drop for Placeholder {
    fn drop(&mut self) {
        // Each job holds a shared lock: who gets the exclusive one is the last.
        if self.is_handed_over || flock(&self.lock, FlockOperation::NonBlockingLockExclusive).is_err() {
            return;
        }
        // What somebody has changed, or put in its place, is theirs.
        let found = statat(&self.parent, &self.name, AtFlags::SYMLINK_NOFOLLOW);
        if let (Ok(found), Ok(own)) = (found, fstat(&self.lock))
            && is_placeholder(&found)
            && (found.st_dev, found.st_ino) == (own.st_dev, own.st_ino)
        {
            let _ = remove(&self.parent, &self.name, is_folder(&found));
        }
    }
}

/// Finds what protects the names, and makes placeholders for missing ones.
pub(super) fn protect(hold: &SandboxRequest) -> Result<(Vec<Pin>, Placeholders), LaunchError> {
    let mut pins = Vec::new();
    let mut placeholders = Placeholders::default();
    for protected in &hold.protected {
        let path = &protected.path;
        let root = hold
            .read_write
            .iter()
            .filter(|root| path.starts_with(&root.path))
            .max_by_key(|root| root.path.as_os_str().len());
        // A name outside every root cannot be written anyway.
        let Some(root) = root else { continue };
        protect_one((root, hold.changes), protected, &mut pins, &mut placeholders).map_err(|error| {
            LaunchError::Step {
                step: "protect names".to_owned(),
                reason: format!("{}: {error}", path.display()),
            }
        })?;
    }
    pins.sort_by(|a: &Pin, b: &Pin| a.path.cmp(&b.path).then(b.read_only.cmp(&a.read_only)));
    pins.dedup_by(|later, earlier| later.path == earlier.path);
    Ok((pins, placeholders))
}

fn protect_one(
    (grant, changes): (&PathGrant, FolderChanges),
    protected: &ProtectedPath,
    pins: &mut Vec<Pin>,
    placeholders: &mut Placeholders,
) -> io::Result<()> {
    let root = grant.path.as_path();
    let Ok(relative) = protected.path.strip_prefix(root) else { return Ok(()) };
    let names: Vec<_> = relative.components().collect();
    if names.is_empty() || names.iter().any(|name| !matches!(name, Component::Normal(_))) {
        return Err(io::Error::other("it must be a plain path below a root"));
    }
    let mut folder = rustix::fs::open(root, FOLDER, Mode::empty())?;
    grant.check(FileId::of_open(&folder)?)?;
    let mut at = root.to_owned();
    for (position, name) in names.iter().enumerate() {
        let parent = at.clone();
        at.push(name);
        let name: &Path = name.as_ref();
        let is_last = position + 1 == names.len();
        let found = match statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) if is_placeholder(&stat) => None,
            Ok(stat) => Some(FileType::from_raw_mode(stat.st_mode)),
            Err(Errno::NOENT) => None,
            // What cannot be looked into now could be later.
            Err(Errno::ACCESS) if parent != root => {
                pins.push(Pin::of(parent, true));
                return Ok(());
            }
            Err(error) => return Err(error.into()),
        };
        match found {
            None => {
                let stand_in = if is_last { &protected.stand_in } else { &StandIn::Folder };
                if changes == FolderChanges::Discarded {
                    pins.push(Pin { stand_in: Some(stand_in.clone()), ..Pin::of(at, true) });
                    return Ok(());
                }
                match hold_placeholder(folder, name, stand_in) {
                    Ok(placeholder) => {
                        placeholders.0.push(placeholder);
                        pins.push(Pin::of(at, true));
                    }
                    // Nobody can make the name where nothing can be written.
                    Err(error) if error.kind() == io::ErrorKind::ReadOnlyFilesystem => {}
                    // Not every file system can have one, and no matter who owns the folder could make it one that can be
                    // written: then the folder stays as it is.
                    Err(_) if parent != root => pins.push(Pin::of(parent, true)),
                    Err(error) => return Err(error),
                }
                return Ok(());
            }
            Some(FileType::Directory) => {
                pins.push(Pin::of(at.clone(), is_last));
                if is_last {
                    return Ok(());
                }
                folder = openat(&folder, name, FOLDER | OFlags::NOFOLLOW, Mode::empty())?;
            }
            Some(FileType::RegularFile) => {
                // A `.git` that is a file, for one: nothing can be below it while it stays a file.
                pins.push(Pin::of(at, true));
                return Ok(());
            }
            // Nothing can be mounted over a link; the folder that holds it stays as it is.
            Some(_) if parent != root => {
                pins.push(Pin::of(parent, true));
                return Ok(());
            }
            Some(_) => {
                return Err(io::Error::other("it is neither a file nor a folder, and is in the root itself"));
            }
        }
    }
    Ok(())
}

/// Returns whether an entry is a placeholder that nobody has used.
fn is_placeholder(stat: &Stat) -> bool {
    let is_marked = stat.st_mtime == MARK.tv_sec && stat.st_mtime_nsec == 0;
    is_marked && (is_folder(stat) || FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile)
}

fn is_folder(stat: &Stat) -> bool {
    FileType::from_raw_mode(stat.st_mode) == FileType::Directory
}

/// Removes a file, or a folder that is empty.
fn remove(parent: &OwnedFd, name: &Path, is_folder: bool) -> Result<(), Errno> {
    unlinkat(parent, name, if is_folder { AtFlags::REMOVEDIR } else { AtFlags::empty() })
}

/// Creates a placeholder, or joins those who hold it.
fn hold_placeholder(parent: OwnedFd, name: &Path, stand_in: &StandIn) -> io::Result<Placeholder> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    for _ in 0..100 {
        let lock = match openat(&parent, name, flags, Mode::empty()) {
            Ok(found) => {
                // Anyone who was the last may remove it before it is locked here: look again after the lock.
                if flock(&found, FlockOperation::NonBlockingLockShared).is_err() {
                    continue;
                }
                let stat = fstat(&found)?;
                if stat.st_nlink == 0 {
                    continue;
                }
                if !is_placeholder(&stat) {
                    return Err(io::Error::other("somebody else made it at this moment"));
                }
                found
            }
            Err(Errno::NOENT) => match make(&parent, name, stand_in) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                made => made?,
            },
            Err(error) => return Err(error.into()),
        };
        return Ok(Placeholder { parent, name: name.to_owned(), lock, is_handed_over: false });
    }
    Err(io::Error::other("it appears and vanishes"))
}

/// Creates a placeholder under another name, and gives it its own once it is whole, marked and locked.
fn make(parent: &OwnedFd, name: &Path, stand_in: &StandIn) -> io::Result<OwnedFd> {
    let temporary = PathBuf::from(format!(".bailiwick-{}.tmp", id::new_id()));
    let is_folder = *stand_in == StandIn::Folder;
    let made = match stand_in {
        StandIn::Folder => {
            mkdirat(parent, &temporary, Mode::from_raw_mode(0o755))?;
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            openat(parent, &temporary, flags, Mode::empty())
        }
        StandIn::File(_) => {
            let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
            openat(parent, &temporary, flags, Mode::from_raw_mode(0o644))
        }
    };
    let finish = |made: Result<OwnedFd, Errno>| -> io::Result<OwnedFd> {
        let made = made?;
        if let StandIn::File(content) = stand_in
            && rustix::io::write(&made, content)? < content.len()
        {
            return Err(io::ErrorKind::WriteZero.into());
        }
        futimens(&made, &Timestamps { last_access: MARK, last_modification: MARK })?;
        flock(&made, FlockOperation::NonBlockingLockShared)?;
        if !is_placeholder(&fstat(&made)?) {
            return Err(io::ErrorKind::Unsupported.into());
        }
        match renameat_with(parent, &temporary, parent, name, RenameFlags::NOREPLACE) {
            // Not every file system can do that.
            Err(Errno::INVAL | Errno::NOSYS) if is_folder => renameat(parent, &temporary, parent, name)?,
            Err(Errno::INVAL | Errno::NOSYS) => {
                linkat(parent, &temporary, parent, name, AtFlags::empty())?;
                remove(parent, &temporary, false)?;
            }
            renamed => renamed?,
        }
        Ok(made)
    };
    finish(made).inspect_err(|_| {
        let _ = remove(parent, &temporary, is_folder);
    })
}
