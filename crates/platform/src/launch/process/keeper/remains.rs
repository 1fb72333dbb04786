//! What a process leaves outside of its sandbox, and what becomes of it at the end.

use std::ffi::CString;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, chmodat, fchmod, openat, statat, unlinkat};

use crate::launch::wire::KeeperOrder;

/// How deep folders are removed; what is deeper stays.
const MAX_DEPTH: usize = 256;

/// What is let go of at the end.
#[derive(Debug, Default)]
pub(super) struct Remains {
    /// Held open so that the placeholders for protected names count as used. The launcher removes them, as a
    /// namespace in which they are mounted cannot.
    _placeholders: Vec<OwnedFd>,
    /// A folder, and the name in it of the one that is removed.
    temporary: Option<(OwnedFd, CString)>,
}

impl Remains {
    /// Takes the descriptors that the order tells of.
    pub(super) fn take_over(kept: &KeeperOrder, mut rest: impl Iterator<Item = OwnedFd>) -> Option<Self> {
        let temporary = match &kept.temporary {
            None => None,
            Some(name) => Some((rest.next()?, CString::new(name.as_os_str().as_bytes()).ok()?)),
        };
        Some(Self { _placeholders: rest.collect(), temporary })
    }

    /// Removes the temporary folder with everything in it.
    pub(super) fn remove(self) {
        if let Some((parent, name)) = self.temporary {
            remove(parent.as_fd(), &name, 0);
        }
    }
}

/// Removes a file, or a folder with everything in it, as far as that can be done. Follows no links.
fn remove(parent: BorrowedFd<'_>, name: &CString, depth: usize) {
    if unlinkat(parent, name, AtFlags::empty()).is_ok() || depth > MAX_DEPTH {
        return;
    }
    let is_folder = statat(parent, name, AtFlags::SYMLINK_NOFOLLOW)
        .is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Directory);
    if !is_folder {
        return;
    }
    let open = |flags| openat(parent, name, flags | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty());
    let opened = open(OFlags::RDONLY | OFlags::DIRECTORY).or_else(|_| {
        // A folder may have been shut by its owner, who is this user. Somebody may have put a link in its place by now,
        // which this does not follow.
        allow_all(parent, name);
        open(OFlags::RDONLY | OFlags::DIRECTORY)
    });
    if let Ok(folder) = &opened {
        let _ = fchmod(folder, Mode::RWXU);
    }
    if let Ok(folder) = opened
        && let Ok(entries) = Dir::read_from(&folder)
    {
        let names = entries.flatten().map(|entry| entry.file_name().to_owned());
        for name in names.filter(|name| !matches!(name.as_bytes(), b"." | b"..")).collect::<Vec<_>>() {
            remove(folder.as_fd(), &name, depth + 1);
        }
    }
    let _ = unlinkat(parent, name, AtFlags::REMOVEDIR);
}

/// Lets the owner of a folder do everything with it. Follows no link.
///
/// # Source
/// open(2): a handle of `O_PATH` is the very file, whatever has its name by now.
#[cfg(target_os = "linux")]
fn allow_all(parent: BorrowedFd<'_>, name: &CString) {
    use std::os::fd::AsRawFd;

    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    if let Ok(folder) = openat(parent, name, flags, Mode::empty()) {
        let itself = format!("/proc/self/fd/{}", folder.as_raw_fd());
        let _ = chmodat(rustix::fs::CWD, itself, Mode::RWXU, AtFlags::empty());
    }
}

/// Lets the owner of a folder do everything with it. Follows no link.
#[cfg(not(target_os = "linux"))]
fn allow_all(parent: BorrowedFd<'_>, name: &CString) {
    let _ = chmodat(parent, name, Mode::RWXU, AtFlags::SYMLINK_NOFOLLOW);
}
