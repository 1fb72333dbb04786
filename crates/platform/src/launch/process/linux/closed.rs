//! Hiding files of the roots: over each lies an empty one that nobody can read, rename or remove.
//!
//! The folders on the way to one cannot be renamed either, or the next plan could find it where it is not closed. The
//! kernel renames no folder that something is mounted on, in whatever copy of the mount: so they are mounted on in a
//! copy of the root that nobody can reach. In the root itself files are moved freely from folder to folder. A plan that
//! makes sandboxes of its own can leave that copy behind: for it they are mounted over themselves.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use rustix::fs::{
    FileType, Mode, OFlags, ResolveFlags, Stat, Timespec, Timestamps, fstat, ftruncate, futimens, mkdirat,
    openat, openat2,
};
use rustix::mount::{MoveMountFlags, OpenTreeFlags, move_mount, open_tree};

use super::super::prepare::failed;
use super::tree::{READ_ONLY, Tree};
use crate::launch::{HiddenPath, InnerSandboxes, LaunchError, SandboxRequest, sys};

/// The folder at the top of the new tree that holds what is mounted, until it is covered.
const SHELF: &str = ".bailiwick-closed";
/// The longest file that is blank instead of one that cannot be read.
const MAX_BLANK_BYTES: usize = 64 << 10;
/// What is mounted over folders.
const NO_FOLDER: &str = "folder";

/// Keeps the folders on the way to closed files where they are, for a plan that makes sandboxes of its own.
pub(super) fn fix_for_inner(tree: &Tree, hold: &SandboxRequest) -> Result<(), LaunchError> {
    if hold.inner == InnerSandboxes::Refused {
        return Ok(());
    }
    for root in &hold.read_write {
        for folder in folders_above(&hold.closed, &root.path) {
            let path = root.path.join(folder);
            match tree.pin(&path, false) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                other => other.map_err(|error| failed("closed files")(named(&path, error)))?,
            }
        }
    }
    Ok(())
}

/// Hides the closed files of a plan.
pub(super) fn hide(tree: &Tree, hold: &SandboxRequest) -> Result<(), LaunchError> {
    if hold.closed.is_empty() {
        return Ok(());
    }
    let shelf = MountFolder::new(tree).map_err(failed("closed files"))?;
    for (number, closed) in hold.closed.iter().enumerate() {
        let covered = shelf.cover_closed(closed, number);
        covered.map_err(|error| failed("closed files")(named(&closed.path, error)))?;
    }
    for (number, root) in hold.read_write.iter().enumerate() {
        let above = folders_above(&hold.closed, &root.path);
        if !above.is_empty() && hold.inner == InnerSandboxes::Refused {
            shelf
                .fix_folders(&root.path, &above, number)
                .map_err(|error| failed("closed files")(named(&root.path, error)))?;
        }
    }
    shelf.close().map_err(failed("closed files"))
}

fn named(path: &Path, error: io::Error) -> io::Error {
    io::Error::other(format!("{}: {error}", path.display()))
}

/// Returns the folders between a root and what is closed below it, as paths beneath the root.
fn folders_above<'a>(closed: &'a [HiddenPath], root: &Path) -> BTreeSet<&'a Path> {
    let below = closed.iter().filter_map(|closed| closed.path.strip_prefix(root).ok());
    below.flat_map(|path| path.ancestors().skip(1)).filter(|folder| !folder.as_os_str().is_empty()).collect()
}

/// The folder that holds what is mounted.
struct MountFolder<'a> {
    tree: &'a Tree,
    folder: OwnedFd,
    no_folder: OwnedFd,
}

impl<'a> MountFolder<'a> {
    fn new(tree: &'a Tree) -> io::Result<Self> {
        let folder = tree.open_or_make(Path::new(SHELF), true)?;
        mkdirat(&folder, NO_FOLDER, Mode::empty())?;
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let no_folder = openat(&folder, NO_FOLDER, flags, Mode::empty())?;
        Ok(Self { tree, folder, no_folder })
    }

    /// Covers a closed file or folder. What is gone since it was found needs no cover.
    fn cover_closed(&self, closed: &HiddenPath, number: usize) -> io::Result<()> {
        let place = match self.tree.open(&closed.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            other => other?,
        };
        let stat = fstat(&place)?;
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::Directory => cover(&self.no_folder, &place),
            FileType::RegularFile => cover(&self.file_like(&stat, number, closed.reads_blank)?, &place),
            // Nothing is kept in it.
            _ => Ok(()),
        }
    }

    /// Creates a file that nobody can read, or with nothing to read in it. Git takes it for the file that it covers by its
    /// length and time.
    fn file_like(&self, stat: &Stat, number: usize, reads_blank: bool) -> io::Result<OwnedFd> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let blank = usize::try_from(stat.st_size).ok().filter(|size| reads_blank && *size <= MAX_BLANK_BYTES);
        let mode = if blank.is_some() { Mode::from_raw_mode(0o444) } else { Mode::empty() };
        let file = openat(&self.folder, number.to_string(), flags, mode)?;
        match blank {
            Some(size) => File::from(file.try_clone()?).write_all(&vec![b'\n'; size])?,
            None => ftruncate(&file, stat.st_size.cast_unsigned())?,
        }
        #[expect(clippy::cast_possible_wrap, reason = "nanoseconds are less than a thousand million")]
        let modified = Timespec { tv_sec: stat.st_mtime, tv_nsec: stat.st_mtime_nsec as _ };
        futimens(&file, &Timestamps { last_access: modified, last_modification: modified })?;
        Ok(file)
    }

    /// Keeps folders below a root where they are.
    fn fix_folders(&self, root: &Path, folders: &BTreeSet<&Path>, number: usize) -> io::Result<()> {
        let flags = OpenTreeFlags::OPEN_TREE_CLONE
            | OpenTreeFlags::OPEN_TREE_CLOEXEC
            | OpenTreeFlags::AT_EMPTY_PATH
            | OpenTreeFlags::AT_RECURSIVE;
        let copy = open_tree(self.tree.open(root)?, "", flags)?;
        let place = Path::new(SHELF).join(format!("root-{number}"));
        self.tree.attach(&copy, &place, true)?;
        let copy = self.tree.open(&place)?;
        // The deepest first: what is covered leads nowhere.
        for folder in folders.iter().rev() {
            let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
            match openat2(&copy, *folder, OFlags::PATH | OFlags::CLOEXEC, Mode::empty(), resolve) {
                Ok(place) => cover(&self.no_folder, &place)?,
                Err(rustix::io::Errno::NOENT) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// Covers the shelf itself, with all that can be reached through it.
    fn close(self) -> io::Result<()> {
        cover(&self.no_folder, &self.folder)
    }
}

/// Mounts a file or folder of the shelf over a place.
pub(super) fn cover(by: &OwnedFd, place: &OwnedFd) -> io::Result<()> {
    let flags = OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC;
    let mount = open_tree(by, "", flags | OpenTreeFlags::AT_EMPTY_PATH)?;
    sys::set_mount_attributes(mount.as_fd(), READ_ONLY, false)?;
    let flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH | MoveMountFlags::MOVE_MOUNT_T_EMPTY_PATH;
    Ok(move_mount(&mount, "", place, "", flags)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folders_on_the_way_are_those_below_the_root() {
        let closed = ["/app/.env", "/app/a/b/.env", "/app/a/.ssh", "/other/c/.env"]
            .map(|path| HiddenPath { path: path.into(), reads_blank: false });
        let found: Vec<&Path> = folders_above(&closed, Path::new("/app")).into_iter().collect();
        assert_eq!(found, ["a", "a/b"].map(Path::new));
    }
}
