//! Opening beneath a folder without following any link: one system call where the kernel has it.

use std::ffi::OsStr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;

use rustix::fs::{Mode, OFlags, openat};
use rustix::io::Errno;

use super::RelPath;

/// How often an open that a rename disturbed is tried again.
#[cfg(target_os = "linux")]
const RETRIES: usize = 8;

/// Opens `path` beneath `dir`. No part of it, the last included, may be a symbolic link.
///
/// # Source
/// openat2(2): `RESOLVE_BENEATH`, `RESOLVE_NO_SYMLINKS` (which implies `RESOLVE_NO_MAGICLINKS`).
#[cfg(target_os = "linux")]
pub(super) fn open_beneath(dir: BorrowedFd<'_>, path: &RelPath, flags: OFlags) -> Result<OwnedFd, Errno> {
    use rustix::fs::{ResolveFlags, openat2};

    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
    let mut tries = 0;
    loop {
        match openat2(dir, path.for_system(), flags | OFlags::CLOEXEC, Mode::empty(), resolve) {
            Err(Errno::AGAIN) if tries < RETRIES => tries += 1,
            // Kernels before 5.6, and filters that do not know the call.
            Err(Errno::NOSYS | Errno::PERM) => return open_by_component(dir, path, flags),
            other => return other,
        }
    }
}

/// Opens `path` beneath `dir`, one component at a time.
#[cfg(not(target_os = "linux"))]
pub(super) fn open_beneath(dir: BorrowedFd<'_>, path: &RelPath, flags: OFlags) -> Result<OwnedFd, Errno> {
    open_by_component(dir, path, flags)
}

/// How folders on the way are opened: the right to pass through is enough where the system can say so.
#[cfg(target_os = "linux")]
const STEP: OFlags = OFlags::PATH;
#[cfg(not(target_os = "linux"))]
const STEP: OFlags = OFlags::RDONLY;

/// The portable way: each folder is opened from its parent's handle, never through a link.
pub(super) fn open_by_component(
    dir: BorrowedFd<'_>,
    path: &RelPath,
    flags: OFlags,
) -> Result<OwnedFd, Errno> {
    let folder = STEP | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let Some(name) = path.file_name() else {
        return openat(dir, ".", flags | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty());
    };
    let mut parent: Option<OwnedFd> = None;
    let steps = path.components().count() - 1;
    for component in path.components().take(steps) {
        let at = parent.as_ref().map_or(dir, |fd| fd.as_fd());
        let step = openat(at, OsStr::from_bytes(component), folder, Mode::empty());
        // A link where a folder is needed answers ENOTDIR; say what it is, as openat2 does.
        parent = Some(step.map_err(|errno| link_or(at, component, errno))?);
    }
    let at = parent.as_ref().map_or(dir, |fd| fd.as_fd());
    openat(at, name, flags | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())
        .map_err(|errno| link_or(at, name.as_bytes(), errno))
}

/// Says `ELOOP` where the `ENOTDIR` of an open came from a link.
pub(super) fn link_or(at: BorrowedFd<'_>, name: &[u8], errno: Errno) -> Errno {
    use rustix::fs::{AtFlags, FileType, statat};

    if errno != Errno::NOTDIR {
        return errno;
    }
    match statat(at, OsStr::from_bytes(name), AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) if FileType::from_raw_mode(stat.st_mode).is_symlink() => Errno::LOOP,
        _ => errno,
    }
}
