//! The tree of folders inside a sandbox: system folders read-only, the roots, a private rest, nothing else.
//!
//! Built beside the old tree and entered with `pivot_root`; the old tree is let go of. Every mount point is
//! opened without following links, as a job that ran before may have made them.

use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use nix::libc;
use rustix::fs::{
    CWD, FileType, Mode, OFlags, ResolveFlags, Timestamps, fstat, futimens, mkdirat, openat, openat2,
    symlinkat,
};
use rustix::io::Errno;
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, MoveMountFlags, OpenTreeFlags, UnmountFlags, fsconfig_create,
    fsconfig_set_flag, fsconfig_set_string, fsmount, fsopen, move_mount, open_tree,
};

use super::super::prepare::failed;
use super::closed;
use super::job_context::{JobContext, SystemPlace};
use super::overlay::Overlays;
use crate::fs::FileId;
use crate::launch::protect::MARK;
use crate::launch::wire::Order;
use crate::launch::{InnerSandboxes, LaunchError, PathGrant, StandIn, sys};
use bailiwick_contract::command::Network;

pub(super) const READ_ONLY: u64 = libc::MOUNT_ATTR_RDONLY | libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NODEV;
pub(super) const READ_WRITE: u64 = libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NODEV;
/// A device can be written although its mount is read-only.
const DEVICE: u64 = libc::MOUNT_ATTR_RDONLY | libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NOEXEC;

/// How many files and folders there can be in `/tmp` and `/dev/shm` together. Each takes about a kilobyte of the kernel's
/// memory.
const MAX_FILES_IN_MEMORY: &str = "200000";

/// The devices that exist inside.
pub(super) const DEVICES: &[&str] = &["null", "zero", "full", "random", "urandom", "tty"];

/// What in `/proc` is the system's, and stays read-only where the rest cannot.
const SHUT_IN_PROC: &[&str] = &["sys", "sysrq-trigger", "irq", "bus", "fs"];

/// Links that programs look for.
const LINKS: &[(&str, &str)] = &[
    ("/proc/self/fd", "dev/fd"),
    ("/proc/self/fd/0", "dev/stdin"),
    ("/proc/self/fd/1", "dev/stdout"),
    ("/proc/self/fd/2", "dev/stderr"),
    ("pts/ptmx", "dev/ptmx"),
    ("/tmp", "var/tmp"),
];

/// Builds the tree of a job and enters it.
pub(super) fn enter(kit: &JobContext, order: &Order, port: Option<&OwnedFd>) -> Result<(), LaunchError> {
    let tree = Tree::new(kit).map_err(failed("private root"))?;
    for place in &kit.system {
        tree.system_place(place).map_err(failed("system folders"))?;
    }
    tree.private_places().map_err(failed("private folders"))?;
    tree.devices().map_err(failed("devices"))?;
    tree.processes(kit, order).map_err(failed("processes"))?;
    let wanted = TreePlan::new(kit, order)?;
    let mut overlays = Overlays::new(&tree, &order.hold).map_err(failed("overlay"))?;
    for (grant, attributes) in &wanted.0 {
        let named = |error: io::Error| io::Error::other(format!("{}: {error}", grant.path.display()));
        let shown = match &mut overlays {
            Some(overlays) if *attributes == READ_WRITE => {
                overlays.cover(grant).map_err(named).map_err(failed("overlay"))?;
                continue;
            }
            _ => tree.bind_granted(grant, *attributes),
        };
        match shown {
            // A folder that may be read but is not there leaves nothing to read.
            Err(error) if error.kind() == io::ErrorKind::NotFound && *attributes == READ_ONLY => {}
            other => other.map_err(named).map_err(failed("folders"))?,
        }
    }
    if order.hold.network == Network::Full
        && let Some(path) = &kit.name_servers
    {
        tree.bind(path, READ_ONLY).map_err(failed("name servers"))?;
    }
    if order.hold.inner == InnerSandboxes::Allowed {
        for path in kit.private_places() {
            tree.hide(&path).map_err(failed("private files"))?;
        }
    }
    closed::fix_for_inner(&tree, &order.hold)?;
    for pin in &order.pins {
        let named = |error: io::Error| io::Error::other(format!("{}: {error}", pin.path.display()));
        let made = pin.stand_in.as_ref().map_or(Ok(()), |stand_in| tree.make_stand_in(&pin.path, stand_in));
        made.and_then(|()| tree.pin(&pin.path, pin.read_only))
            .map_err(named)
            .map_err(failed("protect names"))?;
    }
    if let Some(overlays) = overlays {
        overlays.hand_out(port).map_err(failed("overlay"))?;
    }
    closed::hide(&tree, &order.hold)?;
    tree.enter().map_err(failed("private root"))
}

/// The folders of a job, in the order in which they are mounted.
struct TreePlan<'a>(Vec<(&'a PathGrant, u64)>);

impl<'a> TreePlan<'a> {
    fn new(kit: &JobContext, order: &'a Order) -> Result<Self, LaunchError> {
        let length = |grant: &&PathGrant| grant.path.as_os_str().len();
        let mut written: Vec<&PathGrant> = order.hold.read_write.iter().chain([&order.hold.home]).collect();
        // Shorter ones first: what is below a folder that can be written needs no mount of its own.
        written.sort_by_key(length);
        let mut wanted: Vec<(&PathGrant, u64)> = Vec::new();
        for grant in written {
            let path = &grant.path;
            if !path.is_absolute() || path.parent().is_none() {
                let reason =
                    format!("{}: only a folder below the top can be a root in a sandbox", path.display());
                return Err(failed("folders")(reason));
            }
            if !wanted.iter().any(|(above, _)| path.starts_with(&above.path)) {
                wanted.push((grant, READ_WRITE));
            }
        }
        let mut read: Vec<&PathGrant> = order.hold.read_only.iter().collect();
        read.sort_by_key(length);
        for grant in read {
            let path = &grant.path;
            let exists = kit.system.iter().any(|place| path.starts_with(place.path()))
                || wanted.iter().any(|(above, _)| path.starts_with(&above.path));
            if path.is_absolute() && path.parent().is_some() && !exists {
                wanted.push((grant, READ_ONLY));
            }
        }
        wanted.sort_by(|(a, _), (b, _)| a.path.cmp(&b.path));
        Ok(Self(wanted))
    }
}

/// The new tree, mounted but not yet entered.
pub(super) struct Tree {
    top: OwnedFd,
}

impl Tree {
    fn new(kit: &JobContext) -> io::Result<Self> {
        let tmpfs = fsopen("tmpfs", FsOpenFlags::FSOPEN_CLOEXEC)?;
        fsconfig_set_string(&tmpfs, "size", kit.memory_for_files.to_string())?;
        fsconfig_set_string(&tmpfs, "nr_inodes", MAX_FILES_IN_MEMORY)?;
        fsconfig_set_string(&tmpfs, "mode", "0755")?;
        fsconfig_create(&tmpfs)?;
        let attributes = MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NODEV;
        let top = fsmount(&tmpfs, FsMountFlags::FSMOUNT_CLOEXEC, attributes)?;
        // Over the old root: paths still lead to the old tree, this descriptor to the new one.
        move_mount(&top, "", CWD, "/", MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)?;
        Ok(Self { top })
    }

    /// Opens a place inside, which must exist.
    pub(super) fn open(&self, path: &Path) -> io::Result<OwnedFd> {
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
        Ok(openat2(&self.top, inside(path), OFlags::PATH | OFlags::CLOEXEC, Mode::empty(), resolve)?)
    }

    /// Opens a place inside, made where it is missing: as a folder, or as an empty file.
    pub(super) fn open_or_make(&self, path: &Path, is_folder: bool) -> io::Result<OwnedFd> {
        match self.open(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            other => return other,
        }
        let path = inside(path);
        let name = path.file_name().ok_or(Errno::INVAL)?;
        let parent = match path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => self.open_or_make(parent, true)?,
            _ => rustix::io::fcntl_dupfd_cloexec(&self.top, 3)?,
        };
        if is_folder {
            mkdirat(&parent, name, Mode::from_raw_mode(0o755))?;
            let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            Ok(openat(&parent, name, flags, Mode::empty())?)
        } else {
            let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
            Ok(openat(&parent, name, flags, Mode::from_raw_mode(0o444))?)
        }
    }

    /// Shows a file or folder of the old tree under the same path in the new one.
    fn bind(&self, path: &Path, attributes: u64) -> io::Result<()> {
        self.attach_clone(&clone_of(path)?, path, attributes)
    }

    /// Shows what was granted. The path may lead elsewhere by now: what counts is what was opened by it.
    pub(super) fn bind_granted(&self, grant: &PathGrant, attributes: u64) -> io::Result<()> {
        let mount = clone_of(&grant.path)?;
        grant.check(FileId::of_open(&mount)?)?;
        self.attach_clone(&mount, &grant.path, attributes)
    }

    fn attach_clone(&self, mount: &OwnedFd, target: &Path, attributes: u64) -> io::Result<()> {
        sys::set_mount_attributes(mount.as_fd(), attributes, true)?;
        let is_folder = FileType::from_raw_mode(fstat(mount)?.st_mode) == FileType::Directory;
        self.attach(mount, target, is_folder)
    }

    pub(super) fn attach(&self, mount: &OwnedFd, target: &Path, is_folder: bool) -> io::Result<()> {
        let place = self.open_or_make(target, is_folder)?;
        let flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH | MoveMountFlags::MOVE_MOUNT_T_EMPTY_PATH;
        Ok(move_mount(mount, "", &place, "", flags)?)
    }

    fn system_place(&self, place: &SystemPlace) -> io::Result<()> {
        match place {
            SystemPlace::Folder(path) => match self.bind(path, READ_ONLY) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
                other => other,
            },
            SystemPlace::Link(path, leads_to) => match symlinkat(leads_to, &self.top, inside(path)) {
                Ok(()) | Err(Errno::EXIST) => Ok(()),
                Err(error) => Err(error.into()),
            },
        }
    }

    /// Creates the folders that only this job has. They share one file system in memory with the new root,
    /// and can be written although it cannot.
    fn private_places(&self) -> io::Result<()> {
        for path in ["tmp", "dev/shm"] {
            let made = self.open_or_make(Path::new(path), true)?;
            rustix::fs::chmodat(&self.top, path, Mode::from_raw_mode(0o1777), rustix::fs::AtFlags::empty())?;
            let flags = OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC;
            let mount = open_tree(&made, "", flags | OpenTreeFlags::AT_EMPTY_PATH)?;
            self.attach(&mount, Path::new(path), true)?;
        }
        self.open_or_make(Path::new("var"), true)?;
        for (leads_to, path) in LINKS {
            symlinkat(*leads_to, &self.top, *path)?;
        }
        Ok(())
    }

    fn devices(&self) -> io::Result<()> {
        for name in DEVICES {
            let path = Path::new("/dev").join(name);
            let flags = OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC;
            let mount = match open_tree(CWD, &path, flags) {
                // A container may lack `/dev/tty`, for one.
                Err(Errno::NOENT) => continue,
                other => other?,
            };
            sys::set_mount_attributes(mount.as_fd(), DEVICE, false)?;
            self.attach(&mount, &path, false)?;
        }
        let terminals = fsopen("devpts", FsOpenFlags::FSOPEN_CLOEXEC)?;
        fsconfig_set_flag(&terminals, "newinstance")?;
        fsconfig_set_string(&terminals, "ptmxmode", "0666")?;
        fsconfig_set_string(&terminals, "mode", "0620")?;
        fsconfig_create(&terminals)?;
        let attributes = MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NOEXEC;
        let mount = fsmount(&terminals, FsMountFlags::FSMOUNT_CLOEXEC, attributes)?;
        self.attach(&mount, Path::new("dev/pts"), true)
    }

    /// Mounts `/proc` with the processes of this job alone. It is read-only: as root, its files of the
    /// system could be written without any capability.
    fn processes(&self, kit: &JobContext, order: &Order) -> io::Result<()> {
        let processes = fsopen("proc", FsOpenFlags::FSOPEN_CLOEXEC)?;
        fsconfig_create(&processes)?;
        let attributes = MountAttrFlags::MOUNT_ATTR_NOSUID
            | MountAttrFlags::MOUNT_ATTR_NODEV
            | MountAttrFlags::MOUNT_ATTR_NOEXEC;
        let mount = fsmount(&processes, FsMountFlags::FSMOUNT_CLOEXEC, attributes)?;
        if let Some(limit) = kit.own_process_limit(order.limits.processes) {
            let file = openat(&mount, "sys/kernel/pid_max", OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty())?;
            rustix::io::write(&file, limit.to_string().as_bytes())?;
        }
        match order.hold.inner {
            InnerSandboxes::Refused => {
                sys::set_mount_attributes(mount.as_fd(), libc::MOUNT_ATTR_RDONLY, false)?;
                self.attach(&mount, Path::new("proc"), true)
            }
            // Anyone who makes a namespace of users writes to files of its own process.
            InnerSandboxes::Allowed => {
                self.attach(&mount, Path::new("proc"), true)?;
                SHUT_IN_PROC.iter().try_for_each(|name| {
                    match self.pin(&Path::new("/proc").join(name), true) {
                        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
                        other => other,
                    }
                })
            }
        }
    }

    /// Hides a file or folder of the system behind an empty one.
    fn hide(&self, path: &Path) -> io::Result<()> {
        let place = match self.open(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            other => other?,
        };
        let mount = if FileType::from_raw_mode(fstat(&place)?.st_mode) == FileType::Directory {
            let empty = fsopen("tmpfs", FsOpenFlags::FSOPEN_CLOEXEC)?;
            fsconfig_create(&empty)?;
            fsmount(&empty, FsMountFlags::FSMOUNT_CLOEXEC, MountAttrFlags::MOUNT_ATTR_RDONLY)?
        } else {
            let flags = OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC;
            let null = open_tree(CWD, "/dev/null", flags)?;
            sys::set_mount_attributes(null.as_fd(), DEVICE, false)?;
            null
        };
        let flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH | MoveMountFlags::MOVE_MOUNT_T_EMPTY_PATH;
        Ok(move_mount(&mount, "", &place, "", flags)?)
    }

    /// Mounts a place of a root over itself, so that it cannot be renamed or replaced.
    pub(super) fn pin(&self, path: &Path, read_only: bool) -> io::Result<()> {
        let place = self.open(path)?;
        let flags = OpenTreeFlags::OPEN_TREE_CLONE
            | OpenTreeFlags::OPEN_TREE_CLOEXEC
            | OpenTreeFlags::AT_EMPTY_PATH
            | OpenTreeFlags::AT_RECURSIVE;
        let mount = open_tree(&place, "", flags)?;
        sys::set_mount_attributes(mount.as_fd(), if read_only { READ_ONLY } else { READ_WRITE }, true)?;
        let flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH | MoveMountFlags::MOVE_MOUNT_T_EMPTY_PATH;
        Ok(move_mount(&mount, "", &place, "", flags)?)
    }

    /// Creates a stand-in for a missing name, marked as such.
    fn make_stand_in(&self, path: &Path, stand_in: &StandIn) -> io::Result<()> {
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(Errno::INVAL.into());
        };
        let parent = self.open(parent)?;
        let flags = OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let made = match stand_in {
            StandIn::Folder => mkdirat(&parent, name, Mode::from_raw_mode(0o755)).and_then(|()| {
                openat(&parent, name, flags | OFlags::RDONLY | OFlags::DIRECTORY, Mode::empty())
            }),
            StandIn::File(content) => {
                let flags = flags | OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL;
                let made = openat(&parent, name, flags, Mode::from_raw_mode(0o644));
                made.and_then(|made| rustix::io::write(&made, content).map(|_| made))
            }
        };
        match made {
            Ok(made) => Ok(futimens(&made, &Timestamps { last_access: MARK, last_modification: MARK })?),
            // That of a command that runs.
            Err(Errno::EXIST) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Creates the new tree the only one.
    fn enter(self) -> io::Result<()> {
        sys::set_mount_attributes(self.top.as_fd(), READ_ONLY, false)?;
        rustix::process::fchdir(&self.top)?;
        rustix::process::pivot_root(".", ".")?;
        // The old root is over the new one now; nothing of it stays.
        rustix::mount::unmount(".", UnmountFlags::DETACH)?;
        Ok(rustix::process::chdir("/")?)
    }
}

/// Creates a mount of what a path leads to, with all that is mounted below it.
fn clone_of(path: &Path) -> io::Result<OwnedFd> {
    let flags = OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC;
    Ok(open_tree(CWD, path, flags | OpenTreeFlags::AT_RECURSIVE)?)
}

/// Returns a path relative to the top of the new tree.
fn inside(path: &Path) -> &Path {
    let bytes = path.as_os_str().as_bytes();
    Path::new(OsStr::from_bytes(bytes.strip_prefix(b"/").unwrap_or(bytes)))
}
