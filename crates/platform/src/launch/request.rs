//! What is asked of the launcher, and what it answers.

use std::borrow::Cow;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::fs::FileId;
use crate::handle::Handle;
use bailiwick_contract::command::{Containment, Joiner, Network, Redirect};

/// A plan to run, with everything that it gets. What is not named here, it does not get.
#[derive(Debug)]
pub struct LaunchRequest {
    /// The pipelines, in order; at least one.
    pub plan: Vec<Step>,
    /// The whole environment.
    pub environment: Vec<(OsString, OsString)>,
    /// The working folder, opened.
    pub cwd: Handle,
    /// The path of the working folder. Inside a sandbox it is opened by this path and must be the same folder.
    pub cwd_path: PathBuf,
    /// How strongly the plan is held.
    pub hold: SandboxRequest,
    /// The plan's end of a [`ProxyPort`](super::ProxyPort), of [`Network::Hosts`] and of nothing else: a NUL in a value of
    /// the environment is replaced by the number of the port there. Of [`FolderChanges::Discarded`], and of nothing else,
    /// the plan's end of an [`OverlayPort`](super::OverlayPort).
    pub port: Option<Handle>,
    /// What it may use up.
    pub limits: ProcessLimits,
    /// Standard input of the first command of each pipeline; none means `/dev/null`.
    pub stdin: Option<Handle>,
    /// Standard output of the last command of each pipeline.
    pub stdout: Handle,
    /// Standard error of all commands.
    pub stderr: Handle,
}

/// One pipeline of a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// When it starts, as seen from the step before; none for the first.
    pub joiner: Option<Joiner>,
    /// The commands of the pipe; at least one.
    pub commands: Vec<LaunchCommand>,
}

impl Step {
    /// Returns whether it starts after a step of which the last command succeeded, or did not.
    pub(super) fn is_due(&self, succeeded: bool) -> bool {
        match self.joiner {
            None | Some(Joiner::Then) => true,
            Some(Joiner::And) => succeeded,
            Some(Joiner::Or) => !succeeded,
        }
    }
}

/// Gives standard input, output and error as redirections leave them. `nothing` is what is read from, and written to, for
/// nothing.
pub(super) fn redirected<T: Copy>(
    [mut stdin, mut stdout, mut stderr]: [T; 3],
    redirects: &[Redirect],
    nothing: (T, T),
) -> [T; 3] {
    for redirect in redirects {
        match redirect {
            Redirect::StdinFromNull => stdin = nothing.0,
            Redirect::StdoutToNull => stdout = nothing.1,
            Redirect::StderrToNull => stderr = nothing.1,
            Redirect::StderrToStdout => stderr = stdout,
            Redirect::StdoutToStderr => stdout = stderr,
        }
    }
    [stdin, stdout, stderr]
}

/// One program to start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LaunchCommand {
    /// The absolute path of the program.
    pub program: PathBuf,
    /// The identity of the file that was checked under that path. Another file does not start.
    pub identity: FileId,
    /// The arguments, `argv[0]` included; at least one.
    pub argv: Vec<OsString>,
    /// What is done with the standard streams, in the written order.
    pub redirects: Vec<Redirect>,
}

/// How strongly a plan is held, and what exists for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SandboxRequest {
    /// The level that must be in force, or nothing starts.
    pub level: Containment,
    /// What may be reached over the network.
    pub network: Network,
    /// Plans of one group have one loopback interface, as long as any of them runs; `None` for one of its own. Of
    /// [`Network::Loopback`] and [`Network::Hosts`] at the level full only.
    pub network_group: Option<String>,
    /// Folders and files that can be read beside the system's own.
    pub read_only: Vec<PathGrant>,
    /// Folders that can be read and written: the roots.
    pub read_write: Vec<PathGrant>,
    /// Names inside the roots that stay as they are, also those that do not exist yet.
    pub protected: Vec<ProtectedPath>,
    /// Whether `protected` is known to lack names that it should have: the result then says that names stay open.
    pub lacks_protected: bool,
    /// Files and folders in the roots that the plan cannot read, rename or remove. Only the full level hides them.
    pub closed: Vec<HiddenPath>,
    /// Whether `closed` is known to lack what it should have, or is not enforced: the result then says so.
    pub lacks_closed: bool,
    /// The private folder, used as `HOME`; can be read and written.
    pub home: PathGrant,
    /// Whether the plan may make sandboxes of its own inside.
    pub inner: InnerSandboxes,
    /// Whether the plan may let folders hand on their group.
    pub set_group_id: SetGroupId,
    /// What becomes of what the plan writes.
    pub changes: FolderChanges,
}

/// A file or folder that is hidden.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HiddenPath {
    /// The absolute path.
    pub path: PathBuf,
    /// Whether a file can be read all the same, and has nothing but line feeds, as many as it has bytes.
    pub reads_blank: bool,
}

/// A name that stays as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProtectedPath {
    /// The absolute path.
    pub path: PathBuf,
    /// What is in its place while it is missing.
    pub stand_in: StandIn,
}

/// What stands for a name that does not exist, so that nothing else can be made there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StandIn {
    /// An empty folder.
    Folder,
    /// A file with this content.
    File(Cow<'static, [u8]>),
}

/// A folder or file that a plan can reach: a path, and what must be found there.
///
/// Somebody may put a link in the place of a folder after it was checked. What is opened by the path for a sandbox is
/// therefore compared with the identity, and nothing starts where they differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathGrant {
    /// The absolute path.
    pub path: PathBuf,
    /// The identity of what was checked under that path.
    pub identity: FileId,
}

impl PathGrant {
    /// Grants what a path leads to now, links followed; `None` where nothing is there.
    pub fn of(path: &Path) -> Option<Self> {
        Some(Self { path: path.to_owned(), identity: FileId::of(path)? })
    }

    /// Grants what has this very path; `None` where nothing has it, or where a part of the path is a link.
    pub fn of_resolved(path: &Path) -> Option<Self> {
        Some(Self { path: path.to_owned(), identity: FileId::of_resolved(path)? })
    }

    /// Checks what was opened by the path.
    ///
    /// # Errors
    /// Where it is something else than what was granted.
    #[cfg(unix)]
    pub(super) fn check(&self, opened: FileId) -> std::io::Result<()> {
        if opened == self.identity {
            return Ok(());
        }
        Err(std::io::Error::other("something else has taken its place since it was checked"))
    }
}

/// Whether the mode of a file or folder may get the bit `S_ISGID`.
///
/// It lets others run a file as its group. On a folder it hands on the group, which Git does in a repository that several
/// users share; a filter cannot tell one from the other.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum SetGroupId {
    /// It cannot be set.
    #[default]
    Refused,
    /// It can: for programs that Bailiwick chose, and that set it on folders alone.
    Allowed,
}

/// Whether a held program may shut others in more tightly than it is held itself.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum InnerSandboxes {
    /// It cannot make namespaces or mounts.
    #[default]
    Refused,
    /// It can, beneath its own: for programs that bring a sandbox for what they start. At the level full, Landlock is
    /// left out then, which forbids all mounts: the private tree, the namespaces and the filter hold it. At partial
    /// it makes no difference; on macOS, which lets nobody into a second sandbox, such programs fail.
    Allowed,
}

/// What becomes of what a plan writes in its folders.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum FolderChanges {
    /// It stays.
    #[default]
    Lasting,
    /// It goes into memory, where the service reads it by an [`OverlayPort`](super::OverlayPort), and ends with the plan. At
    /// the level full on Linux, without any network.
    Discarded,
}

/// What a plan and each of its processes may use up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProcessLimits {
    /// Address space of each process, in bytes.
    pub memory_bytes: Option<u64>,
    /// Memory of all processes of the plan and of its files in memory, in bytes. What takes more is ended.
    pub job_memory_bytes: Option<u64>,
    /// Processes and threads at one time.
    pub processes: Option<u64>,
    /// Size of each written file, in bytes.
    pub file_bytes: Option<u64>,
    /// Open files of each process.
    pub open_files: u64,
}

/// More memory than a plan may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryExcess {
    /// What it may take, in bytes.
    pub limit: u64,
    /// What it was found to take.
    pub taken: u64,
}

/// What was in force around a plan, as the processes themselves found it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActiveSandbox {
    /// The level.
    pub level: Containment,
    /// What could be reached over the network; never more than was asked for, unless `level` is none.
    pub network: Network,
    /// Whether killing relies on following processes one by one, without a namespace of their own.
    pub degraded: bool,
    /// What is in force.
    pub layers: Vec<&'static str>,
    /// What stays open that the full level shuts.
    pub open: Vec<&'static str>,
}

/// How a plan ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanEnd {
    /// The exit code of the last command that ran, unless a signal ended it.
    pub exit_code: Option<i32>,
    /// The signal that ended the last command that ran.
    pub signal: Option<i32>,
    /// What was in force.
    pub held: ActiveSandbox,
    /// How many processes were still there at the end, and were killed.
    pub left_killed: u32,
    /// What it took when it was ended for taking more memory than it may.
    pub memory_excess: Option<MemoryExcess>,
}
