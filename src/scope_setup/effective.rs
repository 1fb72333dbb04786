//! What a scope comes to, with all defaults.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Serialize;

use bailiwick_config::{PreviewMode, ProcessLifetime, SandboxLevel, ScopeConfig, ShellMode, UndoMode};
use bailiwick_contract::{Caller, Capability, Failure, Network, Transport};
use bailiwick_engine::operations::FAMILIES;
use bailiwick_engine::registry::Registry;
use bailiwick_policy::command::Rules;
use bailiwick_policy::{CapabilityStatus, OwnFolders, RootPaths, Scope};

use super::offer::standing;
use super::scope_words::runs_commands;
use crate::installation::home::Home;

/// How a scope stands to a capability.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum StandingOutput {
    /// It is granted.
    Granted,
    /// It is set to `ask`: each request needs approval.
    Ask,
    /// It is not granted.
    Denied,
}

impl From<CapabilityStatus> for StandingOutput {
    fn from(standing: CapabilityStatus) -> Self {
        match standing {
            CapabilityStatus::Granted => Self::Granted,
            CapabilityStatus::Ask => Self::Ask,
            CapabilityStatus::Denied => Self::Denied,
        }
    }
}

/// A capability, and how the scope stands to it.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CapabilityOutput {
    /// The capability.
    pub capability: Capability,
    /// How the scope stands to it: denying beats asking, asking beats granting.
    pub standing: StandingOutput,
}

/// A folder of the scope.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RootOutput {
    /// The name in `rootName:path`.
    pub name: String,
    /// The folder.
    pub path: PathBuf,
    /// Why it is not served, if so.
    pub problem: Option<String>,
}

/// How commands are held, and what they get.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CommandsOutput {
    /// How strongly they are held.
    pub sandbox: SandboxLevel,
    /// What they reach.
    pub network: Network,
    /// The hosts that they reach by a proxy; null where the network names none.
    pub hosts: Option<Vec<String>>,
    /// What happens to command strings that need a shell.
    pub shell: ShellMode,
    /// Whose changes can be taken back.
    pub undo: UndoMode,
    /// Whether you see what one would do before you approve it.
    pub preview: PreviewMode,
    /// Programs that rules allow, and that can run any code.
    pub any_code: Vec<String>,
    /// Programs that rules allow, and of which that is not known.
    pub other_programs: Vec<String>,
    /// The folders in which programs are looked up.
    pub search_path: Vec<PathBuf>,
    /// Further folders that they may read.
    pub read_paths: Vec<PathBuf>,
    /// The most memory for each process of a command, in bytes; null for no bound of its own.
    pub max_memory_bytes: Option<u64>,
    /// The most memory for a command with all that it starts, in bytes.
    pub max_job_memory_bytes: u64,
    /// The most processes of one command; null for no bound.
    pub max_processes: Option<u64>,
    /// The largest file that they may write, in bytes; null for no bound.
    pub max_file_bytes: Option<u64>,
    /// How long started processes live.
    pub process_lifetime: ProcessLifetime,
    /// The most started processes at a time.
    pub max_live_processes: u32,
    /// The longest time for a started process, in seconds.
    pub max_process_seconds: u64,
}

/// What a scope comes to, with all defaults.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EffectiveScope {
    /// Every capability.
    pub capabilities: Vec<CapabilityOutput>,
    /// The folders.
    pub roots: Vec<RootOutput>,
    /// The operations that are open to you here.
    pub operations: Vec<&'static str>,
    /// The longest time for one operation, in seconds.
    pub max_runtime_seconds: u64,
    /// The largest result, in bytes.
    pub max_output_bytes: u64,
    /// How commands are held; null where none can be run.
    pub commands: Option<CommandsOutput>,
    /// Whether displays can be captured.
    pub displays: bool,
    /// Whether windows can be listed and captured.
    pub windows: bool,
    /// Whether windows can be found by their process.
    pub window_processes: bool,
}

/// Finds out what a scope comes to. `paths` are those of the whole config.
///
/// # Errors
/// When the scope would be refused.
pub fn effective(home: &Home, config: &ScopeConfig, paths: &RootPaths) -> Result<EffectiveScope, Failure> {
    let scope = Scope::compile(config, paths, &OwnFolders::of(&home.dirs))?;
    let capability =
        |it: &Capability| CapabilityOutput { capability: *it, standing: scope.standing(*it).into() };
    let registry = Registry::new(FAMILIES);
    let person = Caller::local(Transport::Cli);
    let open =
        registry.operations().filter(|entry| standing(&person, &scope, entry) != CapabilityStatus::Denied);
    Ok(EffectiveScope {
        capabilities: Capability::ALL.iter().map(capability).collect(),
        roots: scope
            .roots()
            .iter()
            .map(|root| RootOutput {
                name: root.name.clone(),
                path: root.path.clone(),
                problem: root.problem().map(|failure| failure.message.clone()),
            })
            .collect(),
        operations: open.map(|entry| entry.spec.name).collect(),
        max_runtime_seconds: scope.max_runtime().as_secs(),
        max_output_bytes: scope.max_output_bytes() as u64,
        commands: runs_commands(config).then(|| commands(config, &scope)).transpose()?,
        displays: scope.screen().shows_displays(),
        windows: scope.screen().shows_windows(),
        window_processes: scope.screen().shows_processes(),
    })
}

fn commands(config: &ScopeConfig, scope: &Scope) -> Result<CommandsOutput, Failure> {
    let (hold, processes) = (scope.commands().hold(), scope.processes());
    let (any_code, other): (Vec<_>, Vec<_>) =
        Rules::compile(&config.policy)?.implications().into_iter().partition(|(_, why)| why.is_some());
    let names = |list: Vec<(String, Option<&str>)>| list.into_iter().map(|(name, _)| name).collect();
    Ok(CommandsOutput {
        sandbox: hold.sandbox,
        network: hold.network,
        hosts: hold.hosts.as_ref().map(|rules| rules.texts().to_vec()),
        shell: config.policy.shell,
        undo: config.policy.undo,
        preview: config.policy.preview,
        any_code: names(any_code),
        other_programs: names(other),
        search_path: hold.search_path.clone(),
        read_paths: hold.read_paths.clone(),
        max_memory_bytes: hold.limits.memory_bytes,
        max_job_memory_bytes: hold.limits.job_memory_bytes,
        max_processes: hold.limits.processes,
        max_file_bytes: hold.limits.file_bytes,
        process_lifetime: processes.lifetime,
        max_live_processes: processes.max_live,
        max_process_seconds: processes.max_time.as_secs(),
    })
}
