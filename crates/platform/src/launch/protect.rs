//! Names inside the roots that stay as they are, such as `.git/config`; also those that do not exist yet.
//!
//! An existing name is mounted read-only over itself. The folders on the way to it are mounted over
//! themselves too, so that none can be renamed away. For a missing name there is a *placeholder*: an empty
//! folder that stands in its place while jobs run, and is removed after the last one.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Component, Path, PathBuf};

use rustix::fs::{
    AtFlags, FileType, FlockOperation, Mode, OFlags, RawMode, flock, fstat, mkdirat, openat, statat, unlinkat,
};
use rustix::io::Errno;

use super::flags::FOLDER;
use super::wire::Pin;
use super::{Hold, LaunchError};

/// The mode that marks an empty folder as a placeholder. Nobody makes such a folder otherwise.
const PLACEHOLDER_MODE: RawMode = 0o1555;

/// Placeholders that this job needs; removed with the value, by whoever is the last.
#[derive(Debug, Default)]
pub(super) struct Placeholders(Vec<Placeholder>);

impl Placeholders {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Gives the names, each in the folder whose descriptor is the first of its pair.
    pub(super) fn names(&self) -> Vec<PathBuf> {
        self.0.iter().map(|placeholder| placeholder.name.clone()).collect()
    }

    /// Gives the descriptors, two for each, with which another process can hold them.
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
        if !self.is_handed_over && flock(&self.lock, FlockOperation::NonBlockingLockExclusive).is_ok() {
            // Only an empty folder can be removed so.
            let _ = unlinkat(&self.parent, &self.name, AtFlags::REMOVEDIR);
        }
    }
}

/// Finds what protects the names, and makes placeholders for missing ones.
pub(super) fn protect(hold: &Hold) -> Result<(Vec<Pin>, Placeholders), LaunchError> {
    let mut pins = Vec::new();
    let mut placeholders = Placeholders::default();
    for path in &hold.protected {
        let root = hold
            .read_write
            .iter()
            .filter(|root| path.starts_with(root))
            .max_by_key(|root| root.as_os_str().len());
        // A name outside every root cannot be written anyway.
        let Some(root) = root else { continue };
        protect_one(root, path, &mut pins, &mut placeholders).map_err(|error| LaunchError::Step {
            step: "protect names".to_owned(),
            reason: format!("{}: {error}", path.display()),
        })?;
    }
    pins.sort_by(|a: &Pin, b: &Pin| a.path.cmp(&b.path).then(b.read_only.cmp(&a.read_only)));
    pins.dedup_by(|later, earlier| later.path == earlier.path);
    Ok((pins, placeholders))
}

fn protect_one(
    root: &Path,
    path: &Path,
    pins: &mut Vec<Pin>,
    placeholders: &mut Placeholders,
) -> io::Result<()> {
    let Ok(relative) = path.strip_prefix(root) else { return Ok(()) };
    let names: Vec<_> = relative.components().collect();
    if names.is_empty() || names.iter().any(|name| !matches!(name, Component::Normal(_))) {
        return Err(io::Error::other("it must be a plain path below a root"));
    }
    let mut folder = rustix::fs::open(root, FOLDER, Mode::empty())?;
    let mut at = root.to_owned();
    for (position, name) in names.iter().enumerate() {
        let parent = at.clone();
        at.push(name);
        let name: &Path = name.as_ref();
        let is_last = position + 1 == names.len();
        match statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW) {
            Err(Errno::NOENT) => {
                placeholders.0.push(hold_placeholder(folder, name)?);
                pins.push(Pin { path: at, read_only: true });
                return Ok(());
            }
            Err(error) => return Err(error.into()),
            Ok(stat) => match FileType::from_raw_mode(stat.st_mode) {
                FileType::Directory if is_placeholder(&stat) => {
                    placeholders.0.push(hold_placeholder(folder, name)?);
                    pins.push(Pin { path: at, read_only: true });
                    return Ok(());
                }
                FileType::Directory => {
                    pins.push(Pin { path: at.clone(), read_only: is_last });
                    if is_last {
                        return Ok(());
                    }
                    folder = openat(&folder, name, FOLDER | OFlags::NOFOLLOW, Mode::empty())?;
                }
                FileType::RegularFile => {
                    // A `.git` that is a file, for one: nothing can be below it while it stays a file.
                    pins.push(Pin { path: at, read_only: true });
                    return Ok(());
                }
                // Nothing can be mounted over a link; the folder that holds it stays as it is.
                _ if parent != root => {
                    pins.push(Pin { path: parent, read_only: true });
                    return Ok(());
                }
                _ => {
                    return Err(io::Error::other(
                        "it is neither a file nor a folder, and stands in the root itself",
                    ));
                }
            },
        }
    }
    Ok(())
}

/// Tells whether an entry is a placeholder: it is made without any right to write, whatever the umask.
fn is_placeholder(stat: &rustix::fs::Stat) -> bool {
    stat.st_mode & 0o1222 == 0o1000
}

/// Makes a placeholder, or joins those who hold it.
fn hold_placeholder(parent: OwnedFd, name: &Path) -> io::Result<Placeholder> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    for _ in 0..100 {
        match mkdirat(&parent, name, Mode::from_raw_mode(PLACEHOLDER_MODE)) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(error) => return Err(error.into()),
        }
        // Whoever was the last may remove it before it is locked here: look again after the lock.
        let Ok(found) = openat(&parent, name, flags, Mode::empty()) else { continue };
        if flock(&found, FlockOperation::NonBlockingLockShared).is_err() {
            continue;
        }
        let stat = fstat(&found)?;
        if stat.st_nlink > 0 && is_placeholder(&stat) {
            let name = name.to_owned();
            return Ok(Placeholder { parent, name, lock: found, is_handed_over: false });
        }
        if stat.st_nlink > 0 {
            return Err(io::Error::other("somebody else made it at this moment"));
        }
    }
    Err(io::Error::other("it appears and vanishes"))
}
