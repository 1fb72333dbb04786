//! What the launcher prepares once, for all jobs.

use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::{Duration, Instant};

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, readlinkat, statat};

use super::cgroup::{JobGroup, JobGroups, visible_groups};
use super::filter::{Instruction, filter};
use super::namespaces::Owner;
use crate::launch::{InnerSandboxes, SetGroupId, sys};
use crate::machine;
use bailiwick_contract::command::{Containment, Network};

/// The folders that every program may read; those that exist.
const SYSTEM: &[&str] = &[
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/opt",
    "/etc",
    "/nix/store",
    "/gnu/store",
    "/sys/devices/system/cpu",
    "/sys/devices/system/node",
    // The font cache. Without it each program that shows or draws text reads all fonts first.
    "/var/cache/fontconfig",
];

/// The most that a job can have in memory as files, whatever the computer has.
const MAX_MEMORY_FOR_FILES: u64 = 2 << 30;

/// How long what was found in `/etc` holds.
const MAX_AGE: Duration = Duration::from_secs(60);
/// How long the number of the user's processes holds.
const MAX_AGE_OF_TASKS: Duration = Duration::from_secs(5);

/// The least number of processes that a namespace can be limited to.
///
/// # Source
/// kernel/pid.c: `RESERVED_PIDS`, of which `pid_max` must be more.
const LEAST_OWN_LIMIT: u64 = 301;

/// A place of the system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum SystemPlace {
    /// A folder.
    Folder(PathBuf),
    /// A link, as `/bin` is on most systems, and where it leads to.
    Link(PathBuf, PathBuf),
}

impl SystemPlace {
    pub(super) fn path(&self) -> &Path {
        match self {
            Self::Folder(path) | Self::Link(path, _) => path,
        }
    }
}

/// What every job of this launcher uses.
#[derive(Debug)]
pub(in super::super) struct JobContext {
    /// `/dev/null`, for reading and writing.
    pub(in super::super) null: OwnedFd,
    /// The user that this is, whom each sandbox maps to itself.
    pub(super) owner: Owner,
    /// The folders of the system.
    pub(super) system: Vec<SystemPlace>,
    /// Where `/etc/resolv.conf` leads to, if outside of these folders.
    pub(super) name_servers: Option<PathBuf>,
    /// The version of Landlock's interface; 0 without.
    pub(super) landlock_version: u32,
    /// The places that every program may read, opened.
    readable: Vec<OwnedFd>,
    readable_since: Instant,
    /// How many processes and threads the user runs, counted not long ago.
    tasks: Option<(Instant, u64)>,
    /// The filters of ordinary commands, by level and by whether there is a network.
    filters: Vec<(Containment, bool, Vec<Instruction>)>,
    limits_namespaces: bool,
    /// How many bytes of files a job can have in memory, in `/tmp` and `/dev/shm`.
    pub(super) memory_for_files: u64,
    /// The control groups of jobs, where there are any.
    groups: Option<JobGroups>,
    /// That of the job whose supervisor this process is.
    pub(super) group: Option<Rc<JobGroup>>,
}

impl JobContext {
    pub(in super::super) fn new() -> io::Result<Self> {
        let owner = Owner::current();
        let places = SYSTEM.iter().map(PathBuf::from).chain([visible_groups()]);
        let system: Vec<_> = places.filter_map(|path| look(&path)).collect();
        let name_servers = leads_outside(&system);
        Ok(Self {
            null: rustix::fs::open("/dev/null", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())?,
            owner,
            readable: readable(&system, owner),
            readable_since: Instant::now(),
            tasks: None,
            system,
            name_servers,
            landlock_version: sys::landlock_version(),
            filters: filters(),
            limits_namespaces: has_process_limits_in_namespaces(),
            memory_for_files: memory_for_files(),
            groups: JobGroups::divide(),
            group: None,
        })
    }

    /// Looks again at what can change, where that was long ago.
    pub(in super::super) fn refresh(&mut self, level: Containment) {
        if self.readable_since.elapsed() > MAX_AGE {
            self.readable = readable(&self.system, self.owner);
            self.readable_since = Instant::now();
        }
        // Root is not bound by a number of processes, and a sandbox has a count of its own.
        let counts = self.owner.user() != 0 && level != Containment::Full;
        if counts && self.tasks.is_none_or(|(counted, _)| counted.elapsed() > MAX_AGE_OF_TASKS) {
            self.tasks = Some((Instant::now(), tasks_of(self.owner)));
        }
    }

    /// Creates the control group of a new job, where there are any.
    pub(in super::super) fn create_group(&mut self) -> Option<Rc<JobGroup>> {
        self.groups.as_mut().and_then(JobGroups::create)
    }

    /// Takes the group of the job whose supervisor this process is.
    pub(in super::super) fn set_group(&mut self, group: Option<Rc<JobGroup>>) {
        (self.groups, self.group) = (None, group);
    }

    /// Ends the group of a job that is over.
    pub(in super::super) fn end_group(&mut self, group: Rc<JobGroup>) {
        if let Some(groups) = &mut self.groups {
            groups.end(group);
        }
    }

    /// Lets go of what only starts need, in a process that makes no more of them.
    pub(in super::super) fn let_go(&mut self) {
        self.readable = Vec::new();
        self.system = Vec::new();
        self.filters = Vec::new();
    }

    /// Returns how many processes and threads this user runs, roughly.
    pub(super) fn tasks_of_user(&self) -> u64 {
        self.tasks.map_or(0, |(_, tasks)| tasks)
    }

    /// Returns the places that every program may read.
    pub(super) fn readable(&self) -> impl Iterator<Item = std::os::fd::BorrowedFd<'_>> {
        self.readable.iter().map(AsFd::as_fd)
    }

    /// Returns the filter for a level and a kind of network.
    pub(super) fn filter(
        &self,
        level: Containment,
        network: Network,
        inner: InnerSandboxes,
        set_group_id: SetGroupId,
    ) -> Option<Vec<Instruction>> {
        match (inner, set_group_id) {
            (InnerSandboxes::Allowed, _) | (_, SetGroupId::Allowed) => {
                filter(level, network, inner, set_group_id)
            }
            (InnerSandboxes::Refused, SetGroupId::Refused) => {
                let wanted = (level, network != Network::None);
                let mut filters = self.filters.iter();
                filters
                    .find(|(level, has_network, _)| (*level, *has_network) == wanted)
                    .map(|it| it.2.clone())
            }
        }
    }

    /// Returns what of the system only its owner may read, where that owner is root, whom this is. Landlock closes it
    /// otherwise.
    pub(super) fn private_places(&self) -> Vec<PathBuf> {
        let mut found = Vec::new();
        if self.owner.user() == 0 {
            find_private(Path::new("/etc"), &mut found);
        }
        found
    }

    /// Returns the limit that a namespace of processes sets itself, for root, whom no other limit binds.
    pub(super) fn own_process_limit(&self, processes: Option<u64>) -> Option<u64> {
        processes
            .filter(|limit| self.owner.user() == 0 && self.limits_namespaces && *limit >= LEAST_OWN_LIMIT)
    }

    /// Returns whether a limit on processes binds this user in a sandbox of its own.
    pub(super) fn binds(&self, processes: Option<u64>, in_namespace: bool) -> bool {
        match processes {
            None => true,
            Some(_) if self.owner.user() != 0 => true,
            Some(_) => in_namespace && self.own_process_limit(processes).is_some(),
        }
    }
}

/// Returns an eighth of the memory, and at most [`MAX_MEMORY_FOR_FILES`].
fn memory_for_files() -> u64 {
    (machine::memory_bytes() / 8).min(MAX_MEMORY_FOR_FILES)
}

fn filters() -> Vec<(Containment, bool, Vec<Instruction>)> {
    let kinds = [Containment::Partial, Containment::Full]
        .into_iter()
        .flat_map(|level| [Network::None, Network::Full].map(|network| (level, network)));
    kinds
        .filter_map(|(level, network)| {
            let filter = filter(level, network, InnerSandboxes::Refused, SetGroupId::Refused)?;
            Some((level, network != Network::None, filter))
        })
        .collect()
}

fn tasks_of(owner: Owner) -> u64 {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let entries = rustix::fs::open("/proc", flags, Mode::empty()).and_then(rustix::fs::Dir::new);
    let Ok(entries) = entries else { return 0 };
    let processes = entries.flatten().filter(|entry| entry.file_name().to_bytes()[0].is_ascii_digit());
    let tasks = processes.map(|entry| {
        let path = [b"/proc/", entry.file_name().to_bytes(), b"/task"].concat();
        match rustix::fs::stat(path.as_slice()) {
            // Two of the links are the folder's own.
            Ok(stat) if stat.st_uid == owner.user() => stat.st_nlink.saturating_sub(2),
            _ => 0,
        }
    });
    #[expect(clippy::unnecessary_cast, reason = "the field's type differs between processors")]
    tasks.map(|links| links as u64).sum()
}

fn look(path: &Path) -> Option<SystemPlace> {
    let stat = statat(CWD, path, AtFlags::SYMLINK_NOFOLLOW).ok()?;
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::Directory => Some(SystemPlace::Folder(path.to_owned())),
        FileType::Symlink => {
            let leads_to = readlinkat(CWD, path, Vec::new()).ok()?;
            let leads_to = PathBuf::from(std::ffi::OsString::from_vec(leads_to.into_bytes()));
            Some(SystemPlace::Link(path.to_owned(), leads_to))
        }
        _ => None,
    }
}

fn leads_outside(system: &[SystemPlace]) -> Option<PathBuf> {
    #[expect(clippy::disallowed_methods, reason = "a file of the system, not of a scope")]
    let path = Path::new("/etc/resolv.conf").canonicalize().ok()?;
    (!system.iter().any(|place| path.starts_with(place.path()))).then_some(path)
}

/// Opens what every program may read.
///
/// As root, files that others may not read are left out of `/etc`: without capabilities root still owns them.
fn readable(system: &[SystemPlace], owner: Owner) -> Vec<OwnedFd> {
    let mut paths = Vec::new();
    for place in system {
        let SystemPlace::Folder(path) = place else { continue };
        if owner.user() == 0 && path == Path::new("/etc") {
            find_public(path, &mut paths);
        } else {
            paths.push(path.clone());
        }
    }
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    paths.iter().filter_map(|path| rustix::fs::open(path, flags, Mode::empty()).ok()).collect()
}

/// Finds what others may read in a folder: the folder as a whole, if that is everything in it.
fn find_public(folder: &Path, found: &mut Vec<PathBuf>) -> AllReadable {
    let mut below = Vec::new();
    let mut whole = AllReadable::Yes;
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let entries = rustix::fs::open(folder, flags, Mode::empty()).and_then(rustix::fs::Dir::new);
    let Ok(entries) = entries else { return AllReadable::No };
    for entry in entries {
        let Ok(entry) = entry else { return AllReadable::No };
        let name = OsStr::from_bytes(entry.file_name().to_bytes());
        if name == "." || name == ".." {
            continue;
        }
        let path = folder.join(name);
        let Ok(stat) = statat(CWD, &path, AtFlags::SYMLINK_NOFOLLOW) else { continue };
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::Directory if stat.st_mode & 0o005 == 0o005 => {
                if find_public(&path, &mut below) == AllReadable::No {
                    whole = AllReadable::No;
                }
            }
            // A link has no content of its own: what it leads to has.
            FileType::Symlink => {}
            FileType::RegularFile if stat.st_mode & 0o004 != 0 => below.push(path),
            _ => whole = AllReadable::No,
        }
    }
    match whole {
        AllReadable::Yes => found.push(folder.to_owned()),
        AllReadable::No => found.append(&mut below),
    }
    whole
}

/// Finds what others may not read in a folder.
fn find_private(folder: &Path, found: &mut Vec<PathBuf>) {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let entries = rustix::fs::open(folder, flags, Mode::empty()).and_then(rustix::fs::Dir::new);
    for entry in entries.into_iter().flatten().flatten() {
        let name = OsStr::from_bytes(entry.file_name().to_bytes());
        if name == "." || name == ".." {
            continue;
        }
        let path = folder.join(name);
        let Ok(stat) = statat(CWD, &path, AtFlags::SYMLINK_NOFOLLOW) else { continue };
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::Symlink => {}
            FileType::Directory if stat.st_mode & 0o005 == 0o005 => find_private(&path, found),
            FileType::RegularFile if stat.st_mode & 0o004 != 0 => {}
            _ => found.push(path),
        }
    }
}

/// Whether all of a folder may be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AllReadable {
    Yes,
    No,
}

/// Returns whether each namespace of processes has a limit of its own. In older kernels the same file is the
/// limit of the whole machine, which must not be touched.
///
/// # Source
/// Linux 6.14, "pid: allow pid_max to be set per pid namespace".
fn has_process_limits_in_namespaces() -> bool {
    let uname = rustix::system::uname();
    let release = uname.release().to_string_lossy();
    let mut numbers =
        release.split(|c: char| !c.is_ascii_digit()).map(|part| part.parse::<u32>().unwrap_or(0));
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0)) >= (6, 14)
}
