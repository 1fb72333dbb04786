//! What holds a job: a session and limits of its own, and where there is `sandbox-exec`, a profile for it.
//!
//! A command that is held becomes `sandbox-exec`, which shuts itself in and becomes this program again, which looks
//! whether that is true, says so, and becomes the program that was asked for ([`super::within`]).

use std::ffi::{CString, OsStr, OsString};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{FileType, stat};
use rustix::io::{FdFlags, fcntl_setfd};
use rustix::process::{Pid, getppid};

use super::job_context::JobContext;
use super::{sys, within};
use crate::fs::FileId;
use crate::launch::layers::{Names, layer, open};
use crate::launch::process::child::{Child, Stop, at};
use crate::launch::process::prepare::{ContainedPlan, PreparedJob, failed};
use crate::launch::process::profile::ProfilePaths;
use crate::launch::process::supervisor::Streams;
use crate::launch::wire::Order;
use crate::launch::{LaunchCommand, LaunchError, ProcessLimits, SandboxRequest};
use bailiwick_contract::command::{Containment, Network};

/// The program that shuts itself in. Part of macOS; its documentation advises against it and names nothing else.
pub(super) const SANDBOX_EXEC: &str = "/usr/bin/sandbox-exec";

/// The layers that are in force around this process.
#[derive(Debug, Clone, Copy)]
pub(in super::super) struct ActiveLayers(Names);

/// What a command puts around itself before it executes its program.
#[derive(Debug)]
pub(in super::super) struct CommandSandbox {
    /// The words before those that tell this program what to do.
    words: Vec<CString>,
}

/// A program that is the file that was checked.
#[derive(Debug)]
pub(in super::super) struct OpenProgram {
    pub(super) path: CString,
    pub(super) identity: FileId,
}

impl OpenProgram {
    /// Returns whether the path still leads to the file that was checked. Between this and its execution another one
    /// could take its place: this system executes files by path only.
    pub(super) fn is_same(&self) -> io::Result<bool> {
        let facts = stat(&self.path)?;
        Ok(identity(&facts) == self.identity
            && FileType::from_raw_mode(facts.st_mode) == FileType::RegularFile)
    }
}

fn identity(facts: &rustix::fs::Stat) -> FileId {
    #[expect(
        clippy::unnecessary_cast,
        clippy::cast_sign_loss,
        reason = "the fields' types differ between systems"
    )]
    FileId { device: facts.st_dev as u64, inode: facts.st_ino as u64 }
}

/// Enters nothing: a command is shut in when it is started.
pub(in super::super) fn enter(
    _: &JobContext,
    order: &Order,
    _: Option<&OwnedFd>,
) -> Result<ActiveLayers, LaunchError> {
    match order.hold.level {
        Containment::Full => Err(failed("containment")("this system has no full level")),
        Containment::None | Containment::Partial => Ok(ActiveLayers(Names(layer::SESSION | layer::LIMITS))),
    }
}

/// Collects what a plan is held with, and names what is in force and what stays open.
pub(in super::super) fn shut(
    kit: &JobContext,
    hold: &SandboxRequest,
    limits: ProcessLimits,
    ActiveLayers(mut layers): ActiveLayers,
    terminal: Option<&OwnedFd>,
) -> Result<ContainedPlan, LaunchError> {
    let shutting = match hold.level {
        Containment::None | Containment::Full => None,
        Containment::Partial => {
            layers = layers.with(layer::SANDBOX_EXEC);
            Some(shutting(kit, hold, terminal)?)
        }
    };
    let network = if hold.level == Containment::None { Network::Full } else { hold.network };
    let has_own_memory_limit = cfg!(target_os = "linux");
    let open = open_at(kit, hold, &limits, has_own_memory_limit);
    let limits = ProcessLimits {
        memory_bytes: limits.memory_bytes.filter(|_| has_own_memory_limit),
        // Counted among all that the user runs.
        processes: limits.processes.map(|limit| limit.saturating_add(kit.tasks_of_user())),
        ..limits
    };
    Ok(ContainedPlan { shutting, network, layers, open: Names(open), limits, group: None })
}

/// Returns the level that a result shows.
pub(in super::super) const fn reported_level(level: Containment, _: Names) -> Containment {
    level
}

/// Names what stays open.
fn open_at(
    kit: &JobContext,
    hold: &SandboxRequest,
    limits: &ProcessLimits,
    has_own_memory_limit: bool,
) -> u32 {
    let when = |condition: bool, bits: u32| if condition { bits } else { 0 };
    let everywhere = open::METADATA
        | open::SYSTEM_CALLS
        | open::DETACHED_PROCESSES
        | when(limits.processes.is_some() && kit.is_root, open::PROCESS_LIMIT)
        | when(limits.memory_bytes.is_some() && !has_own_memory_limit, open::MEMORY_LIMIT)
        | open::JOB_MEMORY
        | when(hold.lacks_closed, open::CLOSED_FILES);
    everywhere
        | match hold.level {
            Containment::Partial | Containment::Full => {
                when(is_any_missing(hold), open::PROTECTED_NAMES)
                    | when(hold.network == Network::Loopback, open::LOCAL_SERVICES)
            }
            Containment::None => {
                open::FILES
                    | open::PROCESS_LIST
                    | open::SIGNALS
                    | open::PATH_SOCKETS
                    | open::ABSTRACT_SOCKETS
                    | when(hold.lacks_protected || !hold.protected.is_empty(), open::PROTECTED_NAMES)
                    | when(hold.network != Network::Full, open::NETWORK)
            }
        }
}

/// Returns whether a name that must stay as it is does not exist: where letters' case does not count, it could be made
/// under another spelling.
fn is_any_missing(hold: &SandboxRequest) -> bool {
    hold.lacks_protected || hold.protected.iter().any(|name| name.path.symlink_metadata().is_err())
}

fn shutting(
    kit: &JobContext,
    hold: &SandboxRequest,
    terminal: Option<&OwnedFd>,
) -> Result<CommandSandbox, LaunchError> {
    let step = "sandbox";
    let terminal = terminal.map(|terminal| rustix::termios::ttyname(terminal, Vec::new()));
    let terminal = terminal.transpose().map_err(failed(step))?;
    let terminal = terminal.map(|name| PathBuf::from(OsStr::from_bytes(name.as_bytes())));
    let own = real(&kit.own_program);
    // The profile holds paths, so that this is the last look at what they lead to.
    for grant in hold.read_only.iter().chain(&hold.read_write).chain([&hold.home]) {
        let found = FileId::of(&grant.path).map_or(Ok(()), |found| grant.check(found));
        found.map_err(|error| failed(step)(format!("{}: {error}", grant.path.display())))?;
    }
    let places = ProfilePaths::of(hold, &own, terminal, real).map_err(failed(step))?;
    let profile = places.profile(hold.network);
    let mut words: Vec<OsString> = vec![SANDBOX_EXEC.into(), "-p".into(), profile.text.into()];
    for parameter in profile.parameters {
        words.extend(["-D".into(), parameter]);
    }
    words.extend([own.into_os_string(), within::NAME.into()]);
    let words = words.iter().map(|word| CString::new(word.as_bytes()));
    Ok(CommandSandbox { words: words.collect::<Result<_, _>>().map_err(failed(step))? })
}

/// Returns a path without links, as the system compares it; the path itself where nothing is there.
pub(super) fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

/// Returns the working folder that was opened.
pub(in super::super) fn open_working_folder(_: &Order, streams: &Streams) -> Result<OwnedFd, LaunchError> {
    rustix::io::fcntl_dupfd_cloexec(&streams.cwd, 3).map_err(failed("working folder"))
}

/// Compares a program with what was checked.
pub(in super::super) fn open_program(command: &LaunchCommand) -> Result<OpenProgram, LaunchError> {
    let step = "open program";
    let path = CString::new(command.program.as_os_str().as_bytes()).map_err(failed(step))?;
    let program = OpenProgram { path, identity: command.identity };
    match program.is_same() {
        Ok(true) => Ok(program),
        Ok(false) => Err(LaunchError::ProgramChanged(command.program.clone())),
        Err(error) => Err(failed(step)(error)),
    }
}

/// Looks whether the process that forked this one is still there. Nothing ends this one when that ends later: the
/// launcher does.
pub(in super::super) fn end_with(parent: Pid) -> Result<(), Stop> {
    if getppid() == Some(parent) {
        Ok(())
    } else {
        Err(at("death signal")(io::Error::from(io::ErrorKind::NotConnected)))
    }
}

/// Does nothing yet: the next program shuts itself in.
#[expect(clippy::unnecessary_wraps, reason = "other systems shut in here")]
pub(in super::super) const fn shut_in(_: &CommandSandbox) -> Result<(), Stop> {
    Ok(())
}

/// Returns whether a command is shut in after this program was left, and says so then.
pub(in super::super) const fn is_shut_in_later(prepared: &PreparedJob) -> bool {
    prepared.shutting.is_some()
}

/// Executes the program of a command, or what shuts it in. Returns only if that fails.
pub(in super::super) fn execute(child: &Child<'_>, say: &OwnedFd, wait: Option<&OwnedFd>) -> Stop {
    let environment = &child.prepared.environment;
    let Some(shutting) = &child.prepared.shutting else {
        return match child.program.is_same() {
            Ok(true) => at("execute")(sys::execute(&child.program.path, &child.argv, environment)),
            Ok(false) => at("open program")(io::Error::from(io::ErrorKind::NotFound)),
            Err(error) => at("open program")(error),
        };
    };
    for end in [Some(say), wait].into_iter().flatten() {
        if let Err(error) = fcntl_setfd(end, FdFlags::empty()) {
            return at("descriptors")(error);
        }
    }
    let task = within::Task { say: say.as_raw_fd(), wait: wait.map(AsRawFd::as_raw_fd) };
    let words: Vec<CString> = shutting
        .words
        .iter()
        .cloned()
        .chain(task.words(child.program))
        .chain(child.argv.iter().cloned())
        .collect();
    let Some(program) = words.first() else {
        return at("execute")(io::Error::from(io::ErrorKind::NotFound));
    };
    at("execute")(sys::execute(program, &words, environment))
}

/// Does nothing: the memory of a process is not open to others without a right of its own.
#[expect(clippy::unnecessary_wraps, reason = "other systems must do something")]
pub(in super::super) const fn hide_memory() -> Result<(), LaunchError> {
    Ok(())
}
