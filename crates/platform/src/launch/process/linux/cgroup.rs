//! Control groups of jobs, where the service manager has handed this program one of its own (`Delegate=` of systemd).
//!
//! A group is a bound of the kernel's behind the one that is measured: what a job takes faster than it is measured ends there.
//! Whatever cannot be done is left out, and the measured bound holds as it does without groups. No job fails for it.

use std::cell::Cell;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use rustix::fs::{AtFlags, Mode, OFlags, mkdirat, open, openat, unlinkat};

use super::descendants::read_small;
use crate::launch::{MemoryExcess, ProcessLimits};

/// Where the unified hierarchy is: alone, or beside those of version 1.
const HIERARCHIES: &[&str] = &["/sys/fs/cgroup", "/sys/fs/cgroup/unified"];
/// What jobs are bounded by.
const CONTROLLERS: &[&str] = &["memory", "pids"];
/// The group below the unit's into which systemd puts this program where the unit has `DelegateSubgroup=`: so the unit's own
/// is this program's to divide, and holds no processes itself. Else a unit that starts again beside kept processes could not.
///
/// # Source
/// systemd.resource-control(5): "DelegateSubgroup="; systemd, docs/CGROUP_DELEGATION.md.
const OWN: &str = "service";
/// How the group of a unit ends.
const UNIT: &str = ".service";
/// How the groups of jobs begin.
const JOB: &str = "job-";
/// How much more than the limit a job may take before the kernel ends it: a measurement that comes in time can say more.
const SLACK: u64 = 8;

/// The groups of this launcher's jobs.
#[derive(Debug)]
pub(in super::super) struct JobGroups {
    folder: OwnedFd,
    made: u64,
    /// Those that could not be removed when they ended.
    ended: Vec<Rc<JobGroup>>,
}

/// The group of one job.
#[derive(Debug)]
pub(in super::super) struct JobGroup {
    name: String,
    folder: OwnedFd,
    /// Opened before the sandbox: who opened it counts, not who writes.
    processes: OwnedFd,
    /// The limit on memory, once it is in force.
    limit: Cell<Option<u64>>,
}

impl JobGroups {
    /// Divides the group of this program. `None` where it has none that is its own.
    pub(super) fn divide() -> Option<Self> {
        let own = read_small("/proc/self/cgroup")?;
        HIERARCHIES
            .iter()
            .find_map(|hierarchy| Self::below(&folder_of(Path::new(hierarchy), &own)?, CONTROLLERS))
    }

    /// Divides a group, so that others below it have these controllers.
    fn below(folder: &Path, controllers: &[&str]) -> Option<Self> {
        let has = read_small(folder.join("cgroup.controllers").to_str()?)?;
        let is_there = |wanted: &&str| has.split_ascii_whitespace().any(|it| it == *wanted);
        controllers.iter().all(is_there).then_some(())?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let opened = open(folder, flags, Mode::empty()).ok()?;
        for controller in controllers {
            write(&opened, "cgroup.subtree_control", &format!("+{controller}"))?;
        }
        let groups = Self { folder: opened, made: 0, ended: Vec::new() };
        groups.sweep();
        Some(groups)
    }

    /// Creates the group of a new job.
    pub(super) fn create(&mut self) -> Option<Rc<JobGroup>> {
        self.made += 1;
        let name = format!("{JOB}{}-{}", rustix::process::getpid().as_raw_nonzero(), self.made);
        mkdirat(&self.folder, &name, Mode::RWXU).ok()?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let folder = openat(&self.folder, &name, flags, Mode::empty()).ok()?;
        let processes =
            openat(&folder, "cgroup.procs", OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty()).ok()?;
        Some(Rc::new(JobGroup { name, folder, processes, limit: Cell::new(None) }))
    }

    /// Ends a group, and what is left in it.
    pub(super) fn end(&mut self, group: Rc<JobGroup>) {
        group.kill();
        self.ended.push(group);
        let folder = &self.folder;
        // What is killed takes a moment to vanish: it is tried again after the next job.
        self.ended.retain(|group| unlinkat(folder, &group.name, AtFlags::REMOVEDIR).is_err());
    }

    /// Removes what an earlier launcher has left. Groups with processes stay: those are kept ones.
    fn sweep(&self) {
        let Ok(entries) = rustix::fs::Dir::read_from(&self.folder) else { return };
        for entry in entries.flatten() {
            if entry.file_name().to_bytes().starts_with(JOB.as_bytes()) {
                let _ = unlinkat(&self.folder, entry.file_name(), AtFlags::REMOVEDIR);
            }
        }
    }
}

impl JobGroup {
    /// Bounds the job. Returns whether its memory is bounded now.
    pub(super) fn bound(&self, limits: &ProcessLimits) -> bool {
        let set = |name: &str, value: u64| write(&self.folder, name, &value.to_string());
        if let Some(processes) = limits.processes {
            let _ = set("pids.max", processes);
        }
        let Some(limit) = limits.job_memory_bytes else { return false };
        let most = limit.saturating_add(limit / SLACK);
        // Where there is no swap, there is no such file.
        let _ = set("memory.swap.max", most);
        let is_bounded = set("memory.oom.group", 1).and_then(|()| set("memory.max", most)).is_some();
        self.limit.set(is_bounded.then_some(limit));
        is_bounded
    }

    /// Puts the calling process into the group. It is in none where that fails.
    pub(in super::super) fn join(&self) {
        let _ = rustix::io::write(&self.processes, b"0");
    }

    /// Kills all processes in it.
    ///
    /// # Source
    /// Linux 5.14, "cgroup: introduce cgroup.kill".
    fn kill(&self) {
        let _ = write(&self.folder, "cgroup.kill", "1");
    }

    /// Returns what was taken, if the kernel has ended the job for its memory.
    pub(in super::super) fn excess(&self) -> Option<MemoryExcess> {
        let limit = self.limit.get()?;
        let was_ended = was_ended(&read(&self.folder, "memory.events")?);
        was_ended.then_some(MemoryExcess { limit, taken: limit.saturating_add(limit / SLACK) })
    }
}

/// Returns whether a group was at its own limit, and lost processes for memory.
///
/// # Source
/// Documentation/admin-guide/cgroup-v2.rst, `memory.events`: `oom_kill` alone counts those that the whole computer's want of
/// memory has ended, too.
fn was_ended(events: &str) -> bool {
    let number = |name: &str| -> Option<u64> {
        events.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')?.parse().ok())
    };
    [number("oom"), number("oom_kill")].iter().all(|count| count.is_some_and(|count| count > 0))
}

/// Returns the folder of the control groups that commands see: with the limits that programs look for. The names of other groups
/// show what runs on the computer.
pub(super) fn visible_groups() -> PathBuf {
    let top = Path::new(HIERARCHIES[0]);
    let is_unified = read_small(&format!("{}/cgroup.controllers", HIERARCHIES[0])).is_some();
    // Those of version 1 are one for each controller, and programs look at several.
    let own = read_small("/proc/self/cgroup").filter(|_| is_unified);
    own.and_then(|own| own_group(top, &own)).unwrap_or_else(|| top.to_owned())
}

/// Returns the folder of a process's group: of the unit's where that is divided, so that those of jobs are in it.
fn own_group(hierarchy: &Path, own: &str) -> Option<PathBuf> {
    let plain = || {
        let path = own.lines().find_map(|line| line.strip_prefix("0::/"))?;
        let is_plain = path.split('/').all(|part| !matches!(part, "" | "." | ".."));
        is_plain.then(|| hierarchy.join(path))
    };
    folder_of(hierarchy, own).or_else(plain)
}

/// Returns the folder of the unit's group, by what a process of it says of itself, if it is this program's to divide.
///
/// # Source
/// cgroups(7): the line of the unified hierarchy begins `0::`; a process outside of its namespace's top has `/..` there.
fn folder_of(hierarchy: &Path, own: &str) -> Option<PathBuf> {
    let path = own.lines().find_map(|line| line.strip_prefix("0::/"))?;
    let unit = path.strip_suffix(OWN)?.strip_suffix('/').filter(|unit| unit.ends_with(UNIT))?;
    unit.split('/').all(|part| !matches!(part, "" | "." | ".." | UNIT)).then(|| hierarchy.join(unit))
}

fn write(folder: &OwnedFd, name: &str, text: &str) -> Option<()> {
    let file = openat(folder, name, OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty()).ok()?;
    (rustix::io::write(&file, text.as_bytes()) == Ok(text.len())).then_some(())
}

fn read(folder: &OwnedFd, name: &str) -> Option<String> {
    let file = openat(folder.as_fd(), name, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()).ok()?;
    let mut bytes = [0; 1024];
    let length = rustix::io::read(&file, &mut bytes).ok()?;
    str::from_utf8(&bytes[..length]).ok().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use std::process::{Child, Command};

    use rustix::fs::CWD;

    use super::*;

    #[test]
    fn a_group_is_found_by_the_line_of_the_unified_hierarchy_and_is_never_the_top() {
        let of = |text: &str| folder_of(Path::new("/sys/fs/cgroup"), text);
        let unit = "user.slice/user-1000.slice/user@1000.service/app.slice/bailiwick.service";
        let found = of(&format!("4:memory:/other\n0::/{unit}/service\n"));
        assert_eq!(found, Some(Path::new("/sys/fs/cgroup").join(unit)));
        for none in [
            "",
            "0::/\n",
            "0::/service\n",
            "0::/a.service\n",
            "0::/a.service/myservice\n",
            "0::/a.scope/service\n",
            "0::/.service/service\n",
            "0::/../x.service/service\n",
            "0::/a/../b.service/service\n",
            "4:memory:/a.service/service\n",
            "0::/a.service/service (deleted)\n",
        ] {
            assert_eq!(of(none), None, "{none:?}");
        }
    }

    #[test]
    fn of_the_control_groups_commands_see_their_own() {
        let of = |text: &str| own_group(Path::new("/sys/fs/cgroup"), text);
        let seen = |text: &str| of(text).expect("a group").display().to_string();
        let unit = "user.slice/user@1000.service/app.slice/bailiwick.service";
        assert_eq!(seen(&format!("0::/{unit}/service\n")), format!("/sys/fs/cgroup/{unit}"));
        assert_eq!(seen(&format!("0::/{unit}\n")), format!("/sys/fs/cgroup/{unit}"));
        assert_eq!(seen("0::/user.slice/a.scope\n"), "/sys/fs/cgroup/user.slice/a.scope");
        // The top of a container's own, and what is above it.
        for none in ["0::/\n", "0::/../x\n", "4:memory:/a\n"] {
            assert_eq!(of(none), None, "{none:?}");
        }
        let visible = visible_groups();
        assert!(visible.starts_with("/sys/fs/cgroup"), "{visible:?}");
    }

    #[test]
    fn a_job_was_ended_for_its_memory_if_its_own_group_was_full() {
        let events = |oom: u64, killed: u64| {
            format!("low 0\nhigh 0\nmax 9\noom {oom}\noom_kill {killed}\noom_group_kill {killed}\n")
        };
        assert!(was_ended(&events(1, 3)));
        assert!(!was_ended(&events(0, 0)));
        assert!(!was_ended(&events(0, 1)), "the computer had no more memory");
        assert!(!was_ended(&events(1, 0)) && !was_ended(""));
    }

    /// A group of the hierarchy that can be had here, without controllers; removed with what is in it.
    struct TestGroup(PathBuf);

    impl TestGroup {
        fn create() -> Option<Self> {
            let name = format!("bailiwick-test-{}", rustix::process::getpid().as_raw_nonzero());
            let made = |top: &&str| {
                read_small(&format!("{top}/cgroup.controllers"))?;
                let path = Path::new(top).join(&name);
                mkdirat(CWD, &path, Mode::RWXU).ok().map(|()| path)
            };
            HIERARCHIES.iter().find_map(made).map(Self)
        }
    }

    impl Drop for TestGroup {
        fn drop(&mut self) {
            let _ = unlinkat(CWD, &self.0, AtFlags::REMOVEDIR);
        }
    }

    fn sleep() -> Child {
        Command::new("sleep").arg("1000").spawn().expect("it starts")
    }

    #[test]
    fn a_job_is_in_its_group_and_what_is_left_in_it_ends_with_it() {
        // An ordinary user may divide only what was handed over.
        let Some(place) = TestGroup::create() else { return };
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let opened = open(&place.0, flags, Mode::empty()).expect("it is there");
        mkdirat(&opened, "job-1-1", Mode::RWXU).expect("a group that was left");
        let mut groups = JobGroups::below(&place.0, &[]).expect("divided");
        let names = || -> Vec<String> {
            let entries = rustix::fs::Dir::read_from(&opened).expect("read").flatten();
            let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
            names.filter(|name| name.starts_with(JOB)).collect()
        };
        assert_eq!(names(), Vec::<String>::new(), "what an earlier one has left is gone");
        let group = groups.create().expect("made");
        let mut left = sleep();
        rustix::io::write(&group.processes, left.id().to_string().as_bytes()).expect("joined");
        assert_eq!(names(), [group.name.as_str()]);
        // Without the controller there is no bound, and none is claimed.
        let limits = ProcessLimits {
            memory_bytes: None,
            job_memory_bytes: Some(1 << 30),
            processes: None,
            file_bytes: None,
            open_files: 64,
        };
        assert!(!group.bound(&limits) && group.excess().is_none());
        groups.end(group);
        assert!(!left.wait().expect("ended").success());
        let another = groups.create().expect("made");
        groups.end(another);
        assert_eq!(names(), Vec::<String>::new());
        assert!(JobGroups::below(&place.0, &["memory", "no-such-controller"]).is_none());
    }
}
