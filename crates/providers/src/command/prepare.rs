//! Making a permitted command ready: its programs, its folders, its environment, how it is held.
//!
//! Looks at the disk, and so runs on a thread that may block. Starts nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use sha2::{Digest, Sha256};

use bailiwick_contract::{Containment, ErrorCode, Failure, Joiner, Network, Pipeline, hex};
use bailiwick_platform::dirs::Dirs;
use bailiwick_platform::fs::{FileId, create_private_dir};
use bailiwick_platform::handle::Handle;
use bailiwick_platform::launch::kept::{Input, KeeperRequest, Lifetime, TerminalSize};
use bailiwick_platform::launch::{
    FolderChanges, HiddenPath, InnerSandboxes, LaunchCommand, OverlayPort, PathGrant, ProcessLimits,
    ProtectedPath, ProxyPort, SandboxRequest, SetGroupId, Step, hides_files, holds_names,
};
use bailiwick_policy::command::{CommandLimits, CommandPolicy, PermittedCommand};
use bailiwick_policy::{AllRoots, PermittedPath, Scope, ScopeRoot};

use super::environment::{EnvironmentSources, environment, let_git_pass};
use super::hold;
use super::program::SearchPath;
use super::temporary::TemporaryFolder;
use crate::display::DisplayAccess;
use crate::egress::{AskAboutHosts, Egress, Proxy, set_variables};
use crate::repositories::{Repositories, Review};

/// How many files each process may have open.
const MAX_OPEN_FILES: u64 = 8_192;
/// The folder for temporary files inside a full sandbox: its own, gone with it.
pub(in super::super) const SANDBOX_TEMPORARY: &str = "/tmp";

/// What is to be run, and where.
#[derive(Debug)]
pub struct CommandRequest {
    /// The command.
    pub command: PermittedCommand,
    /// The working folder.
    pub folder: PermittedPath,
    /// The scope that it runs in.
    pub scope: Arc<Scope>,
    /// What it may do in the scope's folders.
    pub access: FolderAccess,
    /// Where the roots of all scopes are: no program is taken out of any of them.
    pub roots: AllRoots,
    /// The repositories below their folders.
    pub repositories: Arc<Repositories>,
    /// Bailiwick's own folders.
    pub dirs: Dirs,
    /// Whose commands have one loopback interface: what one starts, the next can reach.
    pub network_group: String,
    /// The client and its session, as far as approvals of hosts are bound to them.
    pub client: String,
    /// Asks about hosts that its scope does not name, where the scope wants that.
    pub asks: Option<Arc<dyn AskAboutHosts>>,
    /// The variables that the caller asks for.
    pub environment: BTreeMap<String, String>,
    /// Whether it gets a terminal.
    pub has_terminal: bool,
}

/// What a command may do in the folders of its scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FolderAccess {
    /// Read and write.
    Write,
    /// Read, since the caller asked for no more.
    Read,
    /// Read, since the scope lacks `fs:write`.
    ReadByScope,
    /// Read, since the caller lacks `fs:write`.
    ReadByCaller,
}

impl FolderAccess {
    /// Returns whether a command can write there at a level: without a sandbox nothing keeps it from it.
    pub fn can_write(self, level: Containment) -> bool {
        self == Self::Write || level == Containment::None
    }

    /// Returns what a failed command says of it.
    fn warning(self, scope: &str) -> Option<String> {
        match self {
            Self::Write | Self::Read => None,
            Self::ReadByScope => Some(format!(
                "commands can write nothing in the folders of scope `{scope}`, which lacks fs:write. For the user: \
                 `bailiwick scope allow {scope} fs:write`."
            )),
            Self::ReadByCaller => Some(format!(
                "commands of this caller can write nothing in the folders of scope `{scope}`: its token lacks \
                 fs:write. For the user: give the caller's token the capability fs:write."
            )),
        }
    }
}

/// A command that can be started as it is.
#[derive(Debug)]
pub struct ReadyCommand {
    /// The plan with its programs.
    pub plan: Vec<Step>,
    /// The level at which it is held.
    pub level: Containment,
    /// What it may reach.
    pub network: Network,
    /// Whether a shell reads it, so that the sandbox alone holds it.
    pub advisory: bool,
    /// Whether it can write in the folders of its scope.
    pub writes: bool,
    pub(super) environment: Vec<(OsString, OsString)>,
    pub(super) cwd: Handle,
    pub(super) cwd_path: PathBuf,
    pub(super) hold: SandboxRequest,
    pub(super) limits: ProcessLimits,
    pub(super) temporary: Option<TemporaryFolder>,
    /// What it may reach by a proxy.
    pub(super) egress: Option<Egress>,
    /// What it writes is handed out by, if its changes are discarded.
    pub(super) overlay: Option<Handle>,
    /// What it has left for Git to run later is looked for with this, when it has ended.
    pub review: Option<Review>,
}

/// How a command lasts that is started and left to a keeper.
#[derive(Debug)]
pub struct KeeperSettings {
    /// The folder of the process.
    pub folder: PathBuf,
    /// What standard input is, where there is no terminal.
    pub input: Input,
    /// Its terminal, if it gets one.
    pub terminal: Option<TerminalSize>,
    /// How much of its output is kept, in bytes.
    pub ring_bytes: u64,
    /// Whether it outlives the service.
    pub lifetime: Lifetime,
    /// How long it may run.
    pub max_time: Duration,
}

/// What stays with the service of a command that is left to a keeper.
#[derive(Debug)]
pub(in super::super) struct KeeperRest {
    /// To be handed over once the keeper has it.
    pub temporary: Option<TemporaryFolder>,
    /// What is left in the end.
    pub review: Option<Review>,
    /// What it reaches hosts by.
    pub proxy: Option<Proxy>,
}

/// A program of Bailiwick's own choice, held like a command.
#[derive(Debug)]
pub struct Tool {
    /// The program and its words.
    pub step: Step,
    /// Its whole environment.
    pub environment: Vec<(OsString, OsString)>,
    /// The working folder, opened.
    pub cwd: Handle,
    /// The path of the working folder.
    pub cwd_path: PathBuf,
    /// How it is held.
    pub hold: SandboxRequest,
    /// What it may use up.
    pub limits: ProcessLimits,
    /// What it has left for Git to run later is looked for with this.
    pub review: Option<Review>,
}

impl ReadyCommand {
    /// Creates a program ready that an operation uses for its own work: no caller chose it or its words.
    pub(in super::super) fn of_tool(tool: Tool) -> Self {
        let Tool { step, environment, cwd, cwd_path, hold, limits, review } = tool;
        Self {
            plan: vec![step],
            level: hold.level,
            network: hold.network,
            advisory: false,
            writes: true,
            environment,
            cwd,
            cwd_path,
            hold,
            limits,
            temporary: None,
            egress: None,
            overlay: None,
            review,
        }
    }

    /// Returns the paths that it cannot change, since they are hidden from it.
    pub fn hidden_paths(&self) -> impl Iterator<Item = &Path> {
        let is_enforced = !self.hold.lacks_closed;
        self.hold.closed.iter().filter(move |_| is_enforced).map(|closed| &*closed.path)
    }

    /// Lets what it writes go into memory, where it is read by the port, and gives it no network: nothing of it stays.
    ///
    /// # Errors
    /// `provider_unavailable` where no full sandbox holds it.
    pub fn discarding(mut self) -> Result<(Self, OverlayPort), Failure> {
        let unavailable = |why: String| Failure::new(ErrorCode::ProviderUnavailable, why);
        if self.level < Containment::Full {
            return Err(unavailable(format!("it needs a full sandbox, and this one is `{}`", self.level)));
        }
        let (port, end) =
            OverlayPort::pair().map_err(|error| unavailable(format!("no overlay can be made: {error}")))?;
        (self.network, self.hold.network, self.hold.network_group) = (Network::None, Network::None, None);
        self.hold.changes = FolderChanges::Discarded;
        (self.egress, self.review, self.overlay) = (None, None, Some(end));
        // These name the port of the proxy.
        self.environment.retain(|(_, value)| !value.as_encoded_bytes().contains(&0));
        Ok((self, port))
    }

    /// Gives it a private display: its socket, its cookie and its bus, and no other.
    ///
    /// # Errors
    /// `provider_unavailable` where no full sandbox keeps it from other displays.
    pub fn show_on(&mut self, access: DisplayAccess) -> Result<(), Failure> {
        if self.level < Containment::Full {
            let why = format!(
                "nothing was run: a program on a private display needs a full sandbox, and here it would be sandboxed at `{}`",
                self.level
            );
            return Err(Failure::new(ErrorCode::ProviderUnavailable, why).hint(hold::full_sandbox_hint()));
        }
        self.environment.retain(|(name, _)| !access.variables.iter().any(|(own, _)| own == name));
        self.environment.extend(access.variables);
        self.hold.read_only.extend(access.read_only);
        Ok(())
    }

    /// Returns the paths that it cannot make, change or remove.
    pub fn protected_paths(&self) -> Vec<PathBuf> {
        self.hold.protected.iter().map(|protected| protected.path.clone()).collect()
    }

    /// Returns the folders that it can write, in the order of an [`OverlayPort`].
    pub fn written_folders(&self) -> Vec<FileId> {
        self.hold.read_write.iter().map(|grant| grant.identity).collect()
    }

    /// Returns the folder for temporary files, where the sandbox has none of its own.
    pub fn temporary_folder(&self) -> Option<&Path> {
        self.temporary.as_ref().map(TemporaryFolder::path)
    }

    /// Notes that the folder of a process names its folder for temporary files.
    pub(in super::super) fn has_process(&mut self) {
        if let Some(temporary) = &mut self.temporary {
            temporary.has_process();
        }
    }

    /// Creates the request for a keeper, and what stays here.
    pub(in super::super) fn into_kept(
        self,
        keeping: KeeperSettings,
    ) -> Result<(KeeperRequest, KeeperRest), Failure> {
        let KeeperSettings { folder, input, terminal, ring_bytes, lifetime, max_time } = keeping;
        let temporary = self.temporary_folder().map(Path::to_owned);
        let (proxy, proxy_end) = start_proxy(self.egress)?.unzip();
        let request = KeeperRequest {
            plan: self.plan,
            environment: self.environment,
            cwd: self.cwd,
            cwd_path: self.cwd_path,
            hold: self.hold,
            proxy: proxy_end,
            limits: self.limits,
            folder,
            input,
            terminal,
            ring_bytes,
            lifetime,
            max_time,
            temporary,
        };
        Ok((request, KeeperRest { temporary: self.temporary, review: self.review, proxy }))
    }
}

impl CommandRequest {
    /// Returns whose commands share a loopback interface. With other hosts it is another one: a proxy that was made for
    /// more is not to be reached from there.
    fn network_group(&self, policy: &CommandPolicy) -> Option<String> {
        match (policy.network, &policy.hosts) {
            (Network::Loopback, _) => Some(self.network_group.clone()),
            (Network::Hosts, Some(rules)) => {
                let texts = Sha256::digest(rules.texts().join("\n"));
                // What was approved for one client is not for others to reach.
                let client = if policy.asks_about_hosts { self.client.as_str() } else { "" };
                Some(format!("{} {} {client}", self.network_group, hex(&texts)))
            }
            (Network::None | Network::Hosts | Network::Full, _) => None,
        }
    }

    /// Finds the programs, opens the folder, and makes the private home.
    ///
    /// # Errors
    /// `not_found` and `permission_denied` for programs, those of a file for the folder,
    /// `provider_unavailable` where the computer cannot hold it as strongly as it must be held.
    pub fn prepare(&self) -> Result<ReadyCommand, Failure> {
        let policy = self.command.hold();
        let level = hold::level(policy.sandbox)?;
        hold::strict_unless_full(level, self.command.otherwise())?;
        hold::must_be_full(level, self.command.must_be_full())?;
        let asks = self.asks.clone().filter(|_| policy.asks_about_hosts);
        let egress = policy.hosts.as_ref().map(|rules| Egress::new(self.scope.id(), Arc::clone(rules), asks));
        hold::must_be_full(level, egress.as_ref().map(|_| "the scope's network names hosts"))?;
        let (folder, place) = self.folder.open_dir()?;
        let cwd_path = place.on_disk()?;

        let closed = closed_folders(&self.roots, &self.dirs);
        let search = SearchPath::new(&policy.search_path, &closed);
        let mut program_folders = BTreeSet::new();
        let plan = self.command.plan();
        let pipelines = std::iter::once((None, &plan.first))
            .chain(plan.rest.iter().map(|(joiner, pipeline)| (Some(*joiner), pipeline)));
        let steps: Result<Vec<Step>, Failure> = pipelines
            .map(|(joiner, pipeline)| step(joiner, pipeline, &search, &mut program_folders))
            .collect();
        // Such a command can set any variable for what it starts; a list of names would hold nothing.
        let runs_any = level == Containment::Full && self.scope.commands().runs_any_program();
        let steps = steps.map_err(|failure| {
            match failure.code {
                ErrorCode::NotFound if runs_any => failure.hint(
                    "A program of the project runs by its path: `.venv/bin/NAME`, `node_modules/.bin/NAME`, `./NAME`.",
                ),
                _ => failure,
            }
        })?;

        let trusted = search.trusted();
        let home = self.dirs.state.join("homes").join(format!("scope-{}", self.scope.id()));
        let temporary = private_home(&home, level)?;
        let Roots { folders, protected, lacks_protected, closed, lacks_closed, review } =
            Roots::new(&self.repositories, &self.scope, self.access, &cwd_path, level)?;
        let mut variables = environment(
            &EnvironmentSources {
                search_path: &trusted,
                home: &home,
                temporary: temporary.as_ref().map_or(Path::new(SANDBOX_TEMPORARY), TemporaryFolder::path),
                fixed: &policy.environment,
                allowed: (!runs_any).then_some(&policy.allowed_environment),
                has_terminal: self.has_terminal,
            },
            &self.environment,
        )?;
        if !closed.is_empty() {
            let_git_pass(&mut variables);
        }
        if egress.is_some() {
            set_variables(&mut variables);
        }
        let mut read_only = unique(trusted.iter().cloned().chain(program_folders));
        read_only.extend(readable(&self.roots, &policy.read_paths)?);
        let writes = self.access.can_write(level);
        let read_write = if writes {
            folders
        } else {
            read_only.extend(folders);
            Vec::new()
        };
        Ok(ReadyCommand {
            plan: steps,
            level,
            network: policy.network,
            advisory: self.command.is_advisory(),
            writes,
            environment: variables,
            cwd: folder.into_handle(),
            cwd_path,
            hold: SandboxRequest {
                level,
                network: policy.network,
                network_group: self.network_group(policy),
                read_only,
                read_write,
                protected,
                lacks_protected,
                closed,
                lacks_closed,
                home: granted(&home)?,
                inner: InnerSandboxes::Refused,
                set_group_id: SetGroupId::Refused,
                changes: FolderChanges::Lasting,
            },
            limits: process_limits(policy.limits),
            temporary,
            egress,
            overlay: None,
            review,
        })
    }
}

/// Returns what bounds the processes of a command.
pub(in super::super) fn process_limits(limits: CommandLimits) -> ProcessLimits {
    ProcessLimits {
        memory_bytes: limits.memory_bytes,
        job_memory_bytes: Some(limits.job_memory_bytes),
        processes: limits.processes,
        file_bytes: limits.file_bytes,
        open_files: MAX_OPEN_FILES,
    }
}

/// Starts the proxy of a command that may reach hosts. Returns it with the end of its port that goes to the launcher.
pub(super) fn start_proxy(egress: Option<Egress>) -> Result<Option<(Proxy, Handle)>, Failure> {
    let Some(egress) = egress else { return Ok(None) };
    let (port, end) = ProxyPort::pair().map_err(|error| {
        Failure::new(
            ErrorCode::ProviderUnavailable,
            format!("nothing was run: no proxy can be made: {error}"),
        )
    })?;
    Ok(Some((Proxy::start(port, egress), end)))
}

/// The roots of a scope, as a command gets them.
#[derive(Debug)]
pub(in super::super) struct Roots {
    /// The folders.
    pub folders: Vec<PathGrant>,
    /// Names in them that stay as they are: what Git runs later.
    pub protected: Vec<ProtectedPath>,
    /// Whether some of those may be missing.
    pub lacks_protected: bool,
    /// Files and folders in them that it cannot read.
    pub closed: Vec<HiddenPath>,
    /// Whether some of those may be missing, or none is enforced.
    pub lacks_closed: bool,
    /// Tells afterwards what the command has left.
    pub review: Option<Review>,
}

impl Roots {
    /// Looks at the roots of a scope before a command starts in a folder.
    ///
    /// # Errors
    /// `permission_denied` where too many files are closed to commands.
    pub fn new(
        repositories: &Arc<Repositories>,
        scope: &Arc<Scope>,
        access: FolderAccess,
        cwd: &Path,
        level: Containment,
    ) -> Result<Self, Failure> {
        let grant =
            |root: &Arc<ScopeRoot>| Some(PathGrant { path: root.current_path()?, identity: root.open_id()? });
        let folders: Vec<PathGrant> = scope.roots().iter().filter_map(grant).collect();
        let mut roots = Self {
            folders,
            protected: Vec::new(),
            lacks_protected: access.can_write(level),
            closed: Vec::new(),
            lacks_closed: true,
            review: None,
        };
        let mut review = Review::default();
        if holds_names(level) {
            let found = repositories.survey(scope, &roots.folders, cwd, hides_files(level))?;
            roots.lacks_closed = !found.is_complete || !hides_files(level);
            roots.closed = found.closed;
            review = found.review;
            // Where nothing can be written every name stays as it is.
            if access.can_write(level) {
                roots.lacks_protected = !found.is_complete;
                roots.protected = found.protected;
            }
        }
        if level > Containment::None {
            review.warn_of_failure(access.warning(scope.id()));
        }
        roots.review = Some(review);
        Ok(roots)
    }
}

/// Returns the folders that clients can write, and Bailiwick's own: nothing in them is ever a program.
pub(in super::super) fn closed_folders(roots: &AllRoots, dirs: &Dirs) -> Vec<FileId> {
    let own = [&dirs.config, &dirs.state, &dirs.runtime];
    roots.ids().chain(own.into_iter().filter_map(|path| FileId::of(path))).collect()
}

fn step(
    joiner: Option<Joiner>,
    pipeline: &Pipeline,
    search: &SearchPath<'_>,
    program_folders: &mut BTreeSet<PathBuf>,
) -> Result<Step, Failure> {
    let mut commands = Vec::with_capacity(pipeline.commands.len());
    for command in &pipeline.commands {
        let program = search.find(command.program())?;
        program_folders.insert(program.real_folder);
        commands.push(LaunchCommand {
            program: program.path,
            identity: program.identity,
            argv: command.argv.iter().map(OsString::from).collect(),
            redirects: command.redirects.clone(),
        });
    }
    Ok(Step { joiner, commands })
}

/// Creates the private home of a scope's commands, which stays from one command to the next, for caches; and, where
/// the sandbox has no `/tmp` of its own, a folder for temporary files.
fn private_home(home: &Path, level: Containment) -> Result<Option<TemporaryFolder>, Failure> {
    let made = create_private_dir(home).and_then(|()| match level {
        Containment::Full => Ok(None),
        Containment::Partial | Containment::None => TemporaryFolder::new(home).map(Some),
    });
    made.map_err(|error| {
        Failure::new(
            ErrorCode::ProviderUnavailable,
            format!("the private home folder of the scope's commands cannot be made: {}", error.kind()),
        )
        .hint("For the user: `bailiwick doctor` checks the owner of Bailiwick's state folder and the space left there.")
    })
}

/// Grants the folders that exist, each once.
pub(in super::super) fn unique(paths: impl Iterator<Item = PathBuf>) -> Vec<PathGrant> {
    let mut seen = BTreeSet::new();
    paths.filter(|path| seen.insert(path.clone())).filter_map(|path| PathGrant::of(&path)).collect()
}

/// Grants the paths of the config that exist, without links that what runs in a scope could have made.
///
/// # Errors
/// `permission_denied` for a path through such a link.
pub(in super::super) fn readable(roots: &AllRoots, paths: &[PathBuf]) -> Result<Vec<PathGrant>, Failure> {
    let mut grants = Vec::with_capacity(paths.len());
    for path in paths {
        let identity = roots.resolve(path)?.and_then(|resolved| FileId::of_resolved(&resolved));
        grants.extend(identity.map(|identity| PathGrant { path: path.clone(), identity }));
    }
    Ok(grants)
}

/// Grants a folder of Bailiwick's own, which was made before.
///
/// # Errors
/// `provider_unavailable` where it is gone again.
pub(in super::super) fn granted(folder: &Path) -> Result<PathGrant, Failure> {
    PathGrant::of(folder).ok_or_else(|| {
        Failure::new(ErrorCode::ProviderUnavailable, "a private folder of the scope's commands is gone")
    })
}
