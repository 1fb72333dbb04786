//! What holds a job on Linux: namespaces and a tree of its own, Landlock, seccomp.

use std::ffi::CString;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use landlock::{RulesetCreated, RulesetStatus};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::process::{DumpableBehavior, Pid, Signal, getppid};

use super::filter::Instruction;
use super::job_context::JobContext;
use super::rules::{Reach, Rules};
use super::{namespaces, rules, tree};
use crate::fs::FileId;
use crate::launch::layers::{Names, layer, open};
use crate::launch::process::child::{Child, Stop, at};
use crate::launch::process::prepare::{ContainedPlan, PreparedJob, failed};
use crate::launch::process::supervisor::Streams;
use crate::launch::wire::Order;
use crate::launch::{
    FolderChanges, InnerSandboxes, LaunchCommand, LaunchError, PathGrant, ProcessLimits, SandboxRequest, sys,
};
use bailiwick_contract::command::{Containment, Network};

/// What is added to the score by which the kernel chooses, in thousandths of the memory.
const OOM_SCORE: &[u8] = b"500";

/// What a command puts around itself before it executes its program.
#[derive(Debug)]
pub(in super::super) struct CommandSandbox {
    /// Landlock; none where the program makes sandboxes of its own, which Landlock forbids.
    pub(in super::super) rules: Option<RulesetCreated>,
    pub(in super::super) filter: Vec<Instruction>,
}

/// A program that was opened, and is the file that was checked.
#[derive(Debug)]
pub(in super::super) struct OpenProgram {
    pub(in super::super) file: OwnedFd,
    /// The path by which it is executed where it is a script: its interpreter opens it again.
    pub(in super::super) script: Option<CString>,
}

/// The layers that are in force around this process.
#[derive(Debug, Clone, Copy)]
pub(in super::super) struct ActiveLayers(Names);

/// Enters the sandbox, where there is one.
pub(in super::super) fn enter(
    kit: &JobContext,
    order: &Order,
    port: Option<&OwnedFd>,
) -> Result<ActiveLayers, LaunchError> {
    prefer_to_be_ended();
    rustix::process::set_child_subreaper(Some(rustix::process::getpid())).map_err(failed("subreaper"))?;
    let is_bounded = kit.group.as_ref().is_some_and(|group| group.bound(&order.limits));
    let in_group = if is_bounded { layer::CONTROL_GROUP } else { 0 };
    let layers = Names(layer::SESSION | layer::LIMITS | in_group);
    Ok(ActiveLayers(match order.hold.level {
        Containment::Full => layers.with(enter_namespaces(kit, order, port)?),
        Containment::None | Containment::Partial => layers,
    }))
}

/// Lets the kernel end this process, and all that it starts, before others where memory runs out. It is no boundary: a
/// program that is not held can take it back, and nothing is told where it cannot be done.
fn prefer_to_be_ended() {
    let file = rustix::fs::open("/proc/self/oom_score_adj", OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty());
    let _ = file.and_then(|file| rustix::io::write(&file, OOM_SCORE));
}

/// Collects what a plan is held with, and names what is in force and what stays open.
pub(in super::super) fn shut(
    kit: &JobContext,
    hold: &SandboxRequest,
    limits: ProcessLimits,
    ActiveLayers(mut layers): ActiveLayers,
    terminal: Option<&OwnedFd>,
) -> Result<ContainedPlan, LaunchError> {
    let level = hold.level;
    let network = network_in_force(level, hold.network);
    let shutting = match level {
        Containment::None => None,
        Containment::Partial | Containment::Full => {
            let inner = inner_sandboxes(hold);
            let filter = kit
                .filter(level, network, inner, hold.set_group_id)
                .ok_or("there is no filter for this processor");
            let filter = filter.map_err(failed("seccomp"))?;
            layers = layers.with(layer::NO_CAPABILITIES | layer::NO_NEW_PRIVILEGES | layer::SECCOMP);
            let rules = match inner {
                InnerSandboxes::Allowed => None,
                InnerSandboxes::Refused => {
                    layers = layers.with(layer::LANDLOCK);
                    Some(rules(kit, hold, network, terminal)?)
                }
            };
            Some(CommandSandbox { rules, filter })
        }
    };
    Ok(ContainedPlan {
        shutting,
        network,
        layers,
        open: Names(open_at(kit, level, network, hold, &limits)),
        limits: own_limits(kit, level, limits),
        group: kit.group.clone(),
    })
}

/// Builds the sandbox around this process, which is the init of its namespaces. Returns its layers.
fn enter_namespaces(kit: &JobContext, order: &Order, port: Option<&OwnedFd>) -> Result<u32, LaunchError> {
    match order.hold.inner {
        InnerSandboxes::Refused => kit.owner.map(),
        InnerSandboxes::Allowed => kit.owner.map_for_inner_sandboxes(),
    }
    .map_err(failed("user namespace"))?;
    let mut layers =
        layer::USER_NAMESPACE | layer::MOUNT_NAMESPACE | layer::PROCESS_NAMESPACE | layer::IPC_NAMESPACE;
    if order.hold.network != Network::Full {
        layers |= layer::NETWORK_NAMESPACE;
    }
    if order.hold.network.has_own_loopback() && order.hold.network_group.is_none() {
        namespaces::raise_loopback().map_err(failed("loopback"))?;
    }
    tree::enter(kit, order, port)?;
    namespaces::drop_capabilities().map_err(failed("capabilities"))?;
    rustix::thread::set_no_new_privs(true).map_err(failed("no new privileges"))?;
    // The memory of this process is not for those that it holds.
    rustix::process::set_dumpable_behavior(DumpableBehavior::NotDumpable).map_err(failed("memory"))?;
    Ok(layers)
}

/// Returns whether the plan makes sandboxes of its own: only in a tree of its own, which holds it without Landlock.
fn inner_sandboxes(hold: &SandboxRequest) -> InnerSandboxes {
    match hold.level {
        Containment::Full => hold.inner,
        Containment::None | Containment::Partial => InnerSandboxes::Refused,
    }
}

/// Returns the network that can be had at a level. It is never more than what was asked for, unless nothing is
/// held at all: without a namespace there is no loopback of its own, so there is none.
const fn network_in_force(level: Containment, wanted: Network) -> Network {
    match (level, wanted) {
        (Containment::None, _) | (_, Network::Full) => Network::Full,
        (Containment::Partial, Network::Loopback | Network::Hosts) | (_, Network::None) => Network::None,
        (Containment::Full, Network::Loopback) => Network::Loopback,
        (Containment::Full, Network::Hosts) => Network::Hosts,
    }
}

/// Names what stays open.
fn open_at(
    kit: &JobContext,
    level: Containment,
    network: Network,
    hold: &SandboxRequest,
    limits: &ProcessLimits,
) -> u32 {
    let when = |condition: bool, bits: u32| if condition { bits } else { 0 };
    let limit = when(!kit.binds(limits.processes, level == Containment::Full), open::PROCESS_LIMIT);
    let everywhere = limit
        | when(limits.job_memory_bytes.is_none(), open::JOB_MEMORY)
        | when(hold.lacks_closed, open::CLOSED_FILES);
    let outside_a_tree = open::METADATA
        | open::PROCESS_LIST
        | when(hold.lacks_protected || !hold.protected.is_empty(), open::PROTECTED_NAMES);
    everywhere
        | match level {
            Containment::Full => {
                let is_without_landlock = hold.inner == InnerSandboxes::Allowed;
                let version = if is_without_landlock { 0 } else { kit.landlock_version };
                let own = rules::left_open(version)
                    & !(open::SIGNALS | open::TRUNCATE)
                    & !when(network != Network::Full, open::ABSTRACT_SOCKETS);
                own | when(is_without_landlock, open::INNER_SANDBOXES)
                    | when(hold.lacks_protected, open::PROTECTED_NAMES)
            }
            Containment::Partial => {
                let sockets = when(network != Network::None && kit.landlock_version < 9, open::PATH_SOCKETS);
                let abstract_sockets = when(network == Network::None, open::ABSTRACT_SOCKETS);
                (outside_a_tree | sockets | rules::left_open(kit.landlock_version)) & !abstract_sockets
            }
            Containment::None => {
                outside_a_tree
                    | open::FILES
                    | open::SIGNALS
                    | open::PATH_SOCKETS
                    | open::ABSTRACT_SOCKETS
                    | open::SYSTEM_CALLS
                    | when(hold.network != Network::Full, open::NETWORK)
            }
        }
}

/// Returns the level that a result shows: with the computer's network, what keeps the full level from abstract sockets of the
/// desktop is Landlock, from version 6 of its interface on. Without it the level is no full one.
///
/// A plan that makes sandboxes of its own holds what it starts itself, and is named as such.
pub(in super::super) const fn reported_level(level: Containment, open: Names) -> Containment {
    let is_open = open.0 & open::ABSTRACT_SOCKETS != 0 && open.0 & open::INNER_SANDBOXES == 0;
    match level {
        Containment::Full if is_open => Containment::Partial,
        level => level,
    }
}

/// Returns the limits as they are set: on the number of processes, only where it would bind this job alone.
fn own_limits(kit: &JobContext, level: Containment, limits: ProcessLimits) -> ProcessLimits {
    let processes = limits.processes.map(|limit| match level {
        // Counted within the namespace of users; the supervisor is one of them.
        Containment::Full => limit.saturating_add(1),
        // Counted among all that the user runs.
        Containment::Partial | Containment::None => limit.saturating_add(kit.tasks_of_user()),
    });
    ProcessLimits { processes, ..limits }
}

/// Opens the working folder. In a new tree it is found by its path, and must be the folder that was opened
/// outside, whose descriptor would lead out of the tree.
pub(in super::super) fn open_working_folder(
    order: &Order,
    streams: &Streams,
) -> Result<OwnedFd, LaunchError> {
    let step = "working folder";
    if order.hold.level != Containment::Full {
        return rustix::io::fcntl_dupfd_cloexec(&streams.cwd, 3).map_err(failed(step));
    }
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let opened = rustix::fs::open(&order.cwd_path, flags, Mode::empty()).map_err(failed(step))?;
    let identity = |file| FileId::of_open(file).map_err(failed(step));
    // In an overlay every folder has an identity of its own, and nothing that is written there stays.
    if order.hold.changes == FolderChanges::Lasting && identity(&opened)? != identity(&streams.cwd)? {
        return Err(failed(step)("another folder has taken its place"));
    }
    Ok(opened)
}

/// Collects what the job may reach, seen from the tree in which it will run.
fn rules(
    kit: &JobContext,
    hold: &SandboxRequest,
    network: Network,
    terminal: Option<&OwnedFd>,
) -> Result<RulesetCreated, LaunchError> {
    let mut rules = Rules::new(network)?;
    if let Some(terminal) = terminal {
        rules.allow(terminal.as_fd(), Reach::Device)?;
    }
    for place in kit.readable() {
        rules.allow(place, Reach::Read)?;
    }
    let mut allow_if = |path: &Path, check: &dyn Fn(&OwnedFd) -> io::Result<()>, reach, missing| {
        let named = |error: io::Error| failed("landlock")(format!("{}: {error}", path.display()));
        match rustix::fs::open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()) {
            Ok(place) => {
                check(&place).map_err(named)?;
                rules.allow(place.as_fd(), reach)
            }
            Err(Errno::NOENT) if missing == IfMissing::IsFine => Ok(()),
            Err(error) => Err(named(error.into())),
        }
    };
    // The path may lead elsewhere by now: what counts is what was opened by it.
    let mut allow_granted = |grant: &PathGrant, reach, missing| {
        // An overlay has an identity of its own; what is below it was checked when that was made.
        let is_overlay = reach == Reach::Write && hold.changes == FolderChanges::Discarded;
        let check = |place: &OwnedFd| match is_overlay {
            true => Ok(()),
            false => grant.check(FileId::of_open(place)?),
        };
        allow_if(&grant.path, &check, reach, missing)
    };
    let written: Vec<_> = hold.read_write.iter().chain([&hold.home]).collect();
    // What is below a folder that can be written is allowed with it. Opened by its own path, it could be a
    // link that an earlier job made.
    let is_below =
        |path: &Path| written.iter().any(|above| path != above.path && path.starts_with(&above.path));
    for grant in hold.read_only.iter().filter(|grant| !is_below(&grant.path)) {
        allow_granted(grant, Reach::Read, IfMissing::IsFine)?;
    }
    for grant in written.iter().filter(|grant| !is_below(&grant.path)) {
        allow_granted(grant, Reach::Write, IfMissing::IsAnError)?;
    }
    let mut allow = |path: &Path, reach, missing| allow_if(path, &|_| Ok(()), reach, missing);
    allow(Path::new("/proc"), Reach::Read, IfMissing::IsAnError)?;
    for device in tree::DEVICES {
        allow(&Path::new("/dev").join(device), Reach::Device, IfMissing::IsFine)?;
    }
    if hold.level == Containment::Full {
        allow(Path::new("/"), Reach::List, IfMissing::IsAnError)?;
        for path in ["/tmp", "/dev/shm"] {
            allow(Path::new(path), Reach::Write, IfMissing::IsAnError)?;
        }
        allow(Path::new("/dev/pts"), Reach::Device, IfMissing::IsAnError)?;
        if network == Network::Full
            && let Some(path) = &kit.name_servers
        {
            allow(path, Reach::Read, IfMissing::IsFine)?;
        }
    }
    Ok(rules.finish())
}

/// What it means that a place does not exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum IfMissing {
    IsFine,
    IsAnError,
}

/// Opens a program and compares it with what was checked.
pub(in super::super) fn open_program(command: &LaunchCommand) -> Result<OpenProgram, LaunchError> {
    let step = "open program";
    let flags = OFlags::CLOEXEC | OFlags::NOCTTY | OFlags::NONBLOCK;
    // A program that can be executed but not read is no script that an interpreter could read.
    let (file, readable) = match rustix::fs::open(&command.program, flags | OFlags::RDONLY, Mode::empty()) {
        Ok(file) => (file, true),
        Err(Errno::ACCESS) => {
            let file = rustix::fs::open(&command.program, flags | OFlags::PATH, Mode::empty());
            (file.map_err(failed(step))?, false)
        }
        Err(error) => return Err(failed(step)(error)),
    };
    if FileId::of_open(&file).map_err(failed(step))? != command.identity {
        return Err(LaunchError::ProgramChanged(command.program.clone()));
    }
    let mut start = [0; 2];
    let is_script = readable && matches!(rustix::io::pread(&file, &mut start, 0), Ok(2)) && start == *b"#!";
    let script = is_script
        .then(|| CString::new(command.program.as_os_str().as_bytes()))
        .transpose()
        .map_err(failed(step))?;
    Ok(OpenProgram { file, script })
}

/// Lets this process end with the one that forked it.
pub(in super::super) fn end_with(parent: Pid) -> Result<(), Stop> {
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL)).map_err(at("death signal"))?;
    // Died before that took effect?
    if getppid() != Some(parent) {
        return Err(at("death signal")(io::Error::from(io::ErrorKind::NotConnected)));
    }
    Ok(())
}

/// Is for systems on which a program is shut in by another one that starts it.
pub(in super::super) const fn is_shut_in_later(_: &PreparedJob) -> bool {
    false
}

/// Executes the program of a command. Returns only if that fails.
pub(in super::super) fn execute(child: &Child<'_>, _: &OwnedFd, _: Option<&OwnedFd>) -> Stop {
    let program = match &child.program.script {
        Some(path) => sys::Program::Path(path),
        None => sys::Program::Open(child.program.file.as_fd()),
    };
    at("execute")(sys::execute(program, &child.argv, &child.prepared.environment))
}

/// Keeps the memory of this process from other processes of this user.
pub(in super::super) fn hide_memory() -> Result<(), LaunchError> {
    rustix::process::set_dumpable_behavior(DumpableBehavior::NotDumpable).map_err(failed("memory"))
}

/// Gives up all privileges, puts Landlock and seccomp in force, and reads back from the kernel that they are.
pub(in super::super) fn shut_in(shutting: &CommandSandbox) -> Result<(), Stop> {
    namespaces::drop_capabilities().map_err(at("capabilities"))?;
    rustix::thread::set_no_new_privs(true).map_err(at("no new privileges"))?;
    if let Some(rules) = &shutting.rules {
        let rules = rules.try_clone().map_err(at("landlock"))?;
        let status = rules.restrict_self().map_err(|error| at("landlock")(io::Error::other(error)))?;
        if status.ruleset == RulesetStatus::NotEnforced {
            return Err(at("landlock")(not_in_force()));
        }
    }
    sys::set_seccomp_filter(&shutting.filter).map_err(at("seccomp"))?;
    let mut text = [0; 8192];
    let length = rustix::fs::open("/proc/self/status", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())
        .and_then(|file| rustix::io::read(&file, &mut text))
        .map_err(at("read back"))?;
    let lines = || text[..length].split(|byte| *byte == b'\n');
    for expected in
        ["NoNewPrivs:\t1", "Seccomp:\t2", "CapEff:\t0000000000000000", "CapPrm:\t0000000000000000"]
    {
        if !lines().any(|line| line == expected.as_bytes()) {
            return Err(at("read back")(not_in_force()));
        }
    }
    Ok(())
}

fn not_in_force() -> io::Error {
    io::Error::other("it is not in force")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::launch::SetGroupId;

    #[test]
    fn with_the_computers_network_an_old_landlock_is_no_full_level() {
        let mut kit = JobContext::new().expect("made");
        let limits = ProcessLimits {
            memory_bytes: None,
            job_memory_bytes: Some(1 << 30),
            processes: None,
            file_bytes: None,
            open_files: 64,
        };
        let home = PathGrant::of(&std::env::temp_dir()).expect("it is there");
        for (version, network, inner, expected) in [
            (5, Network::Full, InnerSandboxes::Refused, Containment::Partial),
            (1, Network::Full, InnerSandboxes::Refused, Containment::Partial),
            (6, Network::Full, InnerSandboxes::Refused, Containment::Full),
            (9, Network::Full, InnerSandboxes::Refused, Containment::Full),
            (1, Network::Loopback, InnerSandboxes::Refused, Containment::Full),
            (1, Network::None, InnerSandboxes::Refused, Containment::Full),
            (9, Network::Full, InnerSandboxes::Allowed, Containment::Full),
        ] {
            kit.landlock_version = version;
            let hold = SandboxRequest {
                level: Containment::Full,
                network,
                network_group: None,
                read_only: Vec::new(),
                read_write: Vec::new(),
                protected: Vec::new(),
                lacks_protected: false,
                closed: Vec::new(),
                lacks_closed: false,
                home: home.clone(),
                inner,
                set_group_id: SetGroupId::Refused,
                changes: FolderChanges::Lasting,
            };
            let open = Names(open_at(&kit, hold.level, network, &hold, &limits));
            let reported = reported_level(hold.level, open);
            assert_eq!(reported, expected, "{version} {network} {inner:?}");
            let names = open.show(open::NAMES);
            let is_named = names.contains(&"abstractSockets");
            assert_eq!(
                is_named,
                network == Network::Full && (version < 6 || inner == InnerSandboxes::Allowed),
                "{version}"
            );
        }
    }
}
