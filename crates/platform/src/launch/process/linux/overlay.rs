//! Folders whose changes are discarded: over each lies an overlay, whose upper part is in the memory of the job's tree.
//!
//! The service gets the upper parts, and so sees what has changed. Nothing inside leads to them or to the folder below: they
//! are covered before the plan starts.

use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::Path;

use rustix::fs::{Mode, OFlags, fchmod, fstat, mkdirat, openat};
use rustix::io::Errno;
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, fsconfig_create, fsconfig_set_flag, fsconfig_set_string,
    fsmount, fsopen,
};

use super::closed::cover;
use super::tree::{READ_ONLY, READ_WRITE, Tree};
use crate::launch::{FolderChanges, PathGrant, SandboxRequest, handing, sys};

/// The folder at the top of the new tree that holds what is written, until it is covered.
const SHELF: &str = ".bailiwick-overlay";
/// What it is covered by.
const NO_FOLDER: &str = "folder";

/// The overlays of a job.
pub(super) struct Overlays<'a> {
    tree: &'a Tree,
    hold: &'a SandboxRequest,
    shelf: OwnedFd,
    /// The upper part of each root, by its position among the roots.
    uppers: Vec<(u8, OwnedFd)>,
}

impl<'a> Overlays<'a> {
    /// Begins with none; `None` for a job whose changes stay.
    pub(super) fn new(tree: &'a Tree, hold: &'a SandboxRequest) -> io::Result<Option<Self>> {
        if hold.changes == FolderChanges::Lasting {
            return Ok(None);
        }
        let shelf = tree.open_or_make(Path::new(SHELF), true)?;
        Ok(Some(Self { tree, hold, shelf, uppers: Vec::new() }))
    }

    /// Shows a folder under its path, with what is written apart from it.
    pub(super) fn cover(&mut self, grant: &PathGrant) -> io::Result<()> {
        self.tree.bind_granted(grant, READ_ONLY)?;
        let lower = self.tree.open(&grant.path)?;
        let root = self.hold.read_write.iter().position(|root| root == grant);
        let name = root.map_or_else(|| "home".to_owned(), |at| at.to_string());
        let upper = self.make(&format!("{name}-upper"))?;
        fchmod(&upper, Mode::from_raw_mode(fstat(&lower)?.st_mode))?;
        let work = self.make(&format!("{name}-work"))?;
        let overlay = fsopen("overlay", FsOpenFlags::FSOPEN_CLOEXEC)?;
        for (key, folder) in [("lowerdir", &lower), ("upperdir", &upper), ("workdir", &work)] {
            fsconfig_set_string(&overlay, key, format!("/proc/self/fd/{}", folder.as_raw_fd()))?;
        }
        // Other attributes than those of users are not for a namespace of users to set.
        fsconfig_set_flag(&overlay, "userxattr")?;
        fsconfig_create(&overlay)?;
        let attributes = MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NODEV;
        let mount = fsmount(&overlay, FsMountFlags::FSMOUNT_CLOEXEC, attributes)?;
        sys::set_mount_attributes(mount.as_fd(), READ_WRITE, false)?;
        self.tree.attach(&mount, &grant.path, true)?;
        if let Some(at) = root {
            self.uppers.push((u8::try_from(at).map_err(|_| Errno::TOOBIG)?, upper));
        }
        Ok(())
    }

    fn make(&self, name: &str) -> io::Result<OwnedFd> {
        mkdirat(&self.shelf, name, Mode::from_raw_mode(0o700))?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(openat(&self.shelf, name, flags, Mode::empty())?)
    }

    /// Covers what is written, and gives it to the service.
    pub(super) fn hand_out(self, port: Option<&OwnedFd>) -> io::Result<()> {
        mkdirat(&self.shelf, NO_FOLDER, Mode::empty())?;
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let no_folder = openat(&self.shelf, NO_FOLDER, flags, Mode::empty())?;
        cover(&no_folder, &self.shelf)?;
        let port = port.ok_or_else(|| io::Error::other("nobody reads what is written"))?;
        let (roots, uppers): (Vec<u8>, Vec<_>) =
            self.uppers.iter().map(|(at, upper)| (*at, upper.as_fd())).unzip();
        // One byte more, so that there is a message where there are no roots.
        let sent = handing::send(port, &[&[u8::MAX], &roots[..]].concat(), &uppers)?;
        if sent == roots.len() + 1 { Ok(()) } else { Err(io::ErrorKind::WriteZero.into()) }
    }
}
