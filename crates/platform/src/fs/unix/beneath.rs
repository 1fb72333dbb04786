//! Opening beneath a folder without following any link: one system call where the kernel has it.

use std::ffi::OsStr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use crate::names::OsStrExt;

use rustix::fs::{Mode, OFlags, openat};
use rustix::io::Errno;

use super::RelPath;
use super::spelling::check_opened;

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
        let step = step.map_err(|errno| link_or(at, component, errno))?;
        check_opened(at, component, step.as_fd())?;
        parent = Some(step);
    }
    let at = parent.as_ref().map_or(dir, |fd| fd.as_fd());
    let opened = openat(at, name, flags | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())
        .map_err(|errno| link_or(at, name.as_bytes(), errno))?;
    check_opened(at, name.as_bytes(), opened.as_fd())?;
    Ok(opened)
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

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn both_ways_of_opening_agree_on_every_path() {
        let top = std::env::temp_dir().join(format!("bailiwick-door-{}", bailiwick_contract::id::new_id()));
        fs::create_dir_all(top.join("root/a/b")).expect("the temporary folder can be written");
        fs::create_dir(top.join("outside")).expect("the temporary folder can be written");
        for file in ["root/f", "root/a/f", "root/a/b/f", "outside/f"] {
            fs::write(top.join(file), file).expect("the temporary folder can be written");
        }
        for (link, leads_to) in [
            ("root/in", "a"),
            ("root/out", "../outside"),
            ("root/a/up", ".."),
            ("root/absolute", "/etc"),
            ("root/file", "f"),
            ("root/nowhere", "missing"),
            ("root/circle", "circle"),
        ] {
            symlink(leads_to, top.join(link)).expect("the temporary folder can be written");
        }
        let root = fs::File::open(top.join("root")).expect("the folder opens");
        let names =
            ["", "a", "b", "f", "in", "out", "up", "absolute", "file", "nowhere", "circle", "missing"];
        let mut opened = 0;
        for first in names {
            for second in names {
                for third in names {
                    let text = format!("{first}/{second}/{third}");
                    let path = RelPath::parse(text.trim_start_matches('/').as_bytes()).expect("a good path");
                    for flags in [OFlags::RDONLY, OFlags::RDONLY | OFlags::DIRECTORY] {
                        let one_call = open_beneath(root.as_fd(), &path, flags);
                        let by_component = open_by_component(root.as_fd(), &path, flags);
                        let told = |result: &Result<OwnedFd, Errno>| {
                            result.as_ref().map_err(|errno| *errno).map(|fd| {
                                let stat = rustix::fs::fstat(fd).expect("an open file has facts");
                                (stat.st_dev, stat.st_ino)
                            })
                        };
                        assert_eq!(told(&one_call), told(&by_component), "{text} {flags:?}");
                        opened += usize::from(one_call.is_ok());
                    }
                }
            }
        }
        assert!(opened > 10, "some paths are good");
        fs::remove_dir_all(top).expect("the temporary folder can be removed");
    }
}
