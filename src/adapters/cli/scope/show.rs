//! `scope show`: everything about one scope, and what it comes to with all defaults.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Serialize;

use crate::adapters::offer::standing;
use bailiwick_config::{
    AfterUntrusted, NetworkRule, OtherHosts, ProcessLifetime, SandboxLevel, ScopeConfig, ScopePolicy,
    ShellMode, UndoMode,
};
use bailiwick_contract::{Caller, Capability, Failure, Network, ScopeType, Transport};
use bailiwick_engine::operations::FAMILIES;
use bailiwick_engine::registry::Registry;
use bailiwick_policy::command::Rules;
use bailiwick_policy::{CapabilityStatus, OwnFolders, RootPaths, Scope};

use super::super::commands_setup;
use super::super::grants::{Closure, closure, describe_grants};
use super::super::home::Home;
use super::super::printer::{Report, labelled, one_line};
use super::list::{screen_words, type_name};
use super::output::ScopeShowOutput;
use super::report::{place_of, runs_commands, without_values};

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
pub struct Effective {
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
pub fn effective(home: &Home, config: &ScopeConfig, paths: &RootPaths) -> Result<Effective, Failure> {
    let scope = Scope::compile(config, paths, &OwnFolders::of(&home.dirs))?;
    let capability =
        |it: &Capability| CapabilityOutput { capability: *it, standing: scope.standing(*it).into() };
    let registry = Registry::new(FAMILIES);
    let person = Caller::local(Transport::Cli);
    let open =
        registry.operations().filter(|entry| standing(&person, &scope, entry) != CapabilityStatus::Denied);
    Ok(Effective {
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

/// Tells everything about a scope.
///
/// # Errors
/// `unknown_scope`; or what makes the scope unusable.
pub fn run(home: &Home, id: &str) -> Result<Report, Failure> {
    let config = home.config()?;
    let scope = &config.scopes[place_of(&config, id)?];
    let effective = effective(home, scope, &RootPaths::new(&config.scopes))?;
    // A broken token file is the business of `doctor`.
    let tokens: Vec<String> = home.tokens().map_or_else(
        |_| Vec::new(),
        |tokens| {
            let opens = |ids: &[String]| ids.iter().any(|it| it == "*" || it == id);
            tokens.records().iter().filter(|it| opens(&it.scopes)).map(|it| it.name.clone()).collect()
        },
    );
    let text = text(scope, &effective, &tokens)?;
    Ok(Report::of(text, &ScopeShowOutput { ok: true, scope: without_values(scope), effective, tokens }))
}

/// Says what else needs approval, a line for each kind.
fn asked_words(policy: &ScopePolicy) -> String {
    let mut lines = Vec::new();
    if !policy.ask_operations.is_empty() {
        lines.push(format!("each time: {}", one_line(&policy.ask_operations.join(", "))));
    }
    if !policy.ask_first_use.is_empty() {
        lines.push(format!("the first time in a session: {}", one_line(&policy.ask_first_use.join(", "))));
    }
    if policy.after_untrusted == AfterUntrusted::Ask {
        lines.push(
            "for a day after a client has read the network, the screen or files that are not trusted: what can send data,\n\
             opens sensitive files or changes another scope"
                .to_owned(),
        );
    }
    if let Some(NetworkRule::Hosts(list)) = &policy.network
        && list.otherwise == OtherHosts::Ask
    {
        lines.push("each host that the scope does not name".to_owned());
    }
    lines.join("\n")
}

fn text(scope: &ScopeConfig, effective: &Effective, tokens: &[String]) -> Result<String, Failure> {
    let mut lines = vec![("type", type_name(scope).to_owned())];
    let roots: Vec<String> = effective
        .roots
        .iter()
        .map(|root| {
            let shown = one_line(&root.path.display().to_string());
            let name =
                if effective.roots.len() > 1 { format!("{}: ", one_line(&root.name)) } else { String::new() };
            match &root.problem {
                Some(problem) => format!("{name}{shown}\n  NOT SERVED: {}", one_line(problem)),
                None => format!("{name}{shown}"),
            }
        })
        .collect();
    if scope.scope_type == ScopeType::Folder {
        lines.push(("folders", roots.join("\n")));
    }
    lines.extend(describe_grants(scope));
    lines.push((
        "operations",
        format!(
            "{} are open; `bailiwick client tools --scope {}` lists them",
            effective.operations.len(),
            scope.id
        ),
    ));
    if scope.scope_type == ScopeType::Folder {
        let policy = &scope.policy;
        let mut files = "files with secrets (.env, keys, credentials) are closed".to_owned();
        files.push_str(match closure(scope) {
            Closure::Everything => "",
            Closure::Programs => " to file operations and to commands",
            Closure::FileOperations => {
                " to file operations; programs that run here can read them (a full sandbox closes them)"
            }
        });
        if !policy.open_sensitive.is_empty() {
            files.push_str(&format!("\nopen all the same: {}", one_line(&policy.open_sensitive.join(", "))));
        }
        if !policy.closed_files.is_empty() {
            files.push_str(&format!("\nclosed too: {}", one_line(&policy.closed_files.join(", "))));
        }
        if !policy.ask_files.is_empty() {
            files.push_str(&format!("\nneed your approval: {}", one_line(&policy.ask_files.join(", "))));
        }
        if !policy.untrusted_files.is_empty() {
            files.push_str(&format!("\nnot trusted: {}", one_line(&policy.untrusted_files.join(", "))));
        }
        if policy.refuse_hard_links {
            files.push_str("\nfiles with several names (hard links) are refused");
        }
        lines.push(("files", files));
    } else {
        lines.push(("screens", screen_words(scope)));
    }
    let asked = asked_words(&scope.policy);
    if !asked.is_empty() {
        lines.push(("approval", asked));
    }
    lines.push((
        "limits",
        format!(
            "{} s for one operation, {} bytes for its result",
            effective.max_runtime_seconds, effective.max_output_bytes
        ),
    ));
    let tokens = if tokens.is_empty() {
        "no token".to_owned()
    } else {
        format!("tokens {}", one_line(&tokens.join(", ")))
    };
    lines.push(("opened by", format!("programs that you start on this computer (stdio), and {tokens}")));
    let title = scope.name.as_ref().map(|name| format!(" ({})", one_line(name))).unwrap_or_default();
    let mut text = format!("Scope `{}`{title}\n{}", scope.id, labelled(&lines));
    if let Some(commands) = &effective.commands {
        text.push_str("commands\n");
        text.push_str(&labelled(&commands_setup::describe(scope)?));
        let bound = |bytes: Option<u64>| bytes.map_or("no bound".to_owned(), |it| format!("{} MB", it >> 20));
        let limits = format!(
            "memory {} (each process: {}), {} processes, files of {}\nstarted ones: {} at a time, {} s each, lifetime {}",
            match scope.policy.max_job_memory_megabytes {
                Some(megabytes) => format!("{megabytes} MB"),
                None => "an eighth of the computer's, or 2048 MB if that is more".to_owned(),
            },
            bound(commands.max_memory_bytes),
            commands.max_processes.map_or("any number of".to_owned(), |it| it.to_string()),
            bound(commands.max_file_bytes),
            commands.max_live_processes,
            commands.max_process_seconds,
            commands.process_lifetime.as_str(),
        );
        text.push_str(&labelled(&[("limits", limits)]));
    }
    Ok(text)
}
