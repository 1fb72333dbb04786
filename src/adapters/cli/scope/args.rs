//! The words of `scope …`. The doc comments are the help text.

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{ArgGroup, Args, Subcommand, ValueEnum};
use serde::de::DeserializeOwned;
use serde_json::Value;

use bailiwick_config::{
    AfterUntrusted, InputBanner, NetworkRule, OtherHosts, PreviewMode, ProcessLifetime, SandboxLevel,
    SecretCommands, SecretMode, ShellMode, UndoMode, VisibleInput,
};
use bailiwick_contract::Capability;

use super::super::args::{ConfirmArgs, HereArgs, capability};
use crate::scope_setup::grant_change::GrantChange;
use crate::scope_setup::presets::Preset;

/// `scope …`.
#[derive(Debug, Subcommand)]
pub enum ScopeCommand {
    /// List the scopes and what they grant
    List,
    /// Show one scope and its effective permissions
    Show(ScopeIdArgs),
    /// Open one more folder
    Add(ScopeAddArgs),
    /// Let clients take pictures of this computer's screens
    AddScreen(ScopeAddScreenArgs),
    /// Let clients see this computer's desktop, or act on it
    ///
    /// With `--read`: pictures, windows, their elements, the clipboard, battery and volume. With
    /// `--control` also what changes them, and pointer and keyboard, each use with your approval.
    #[command(verbatim_doc_comment)]
    AddDesktop(ScopeAddDesktopArgs),
    /// Let clients use private displays, where programs of a scope show their windows
    ///
    /// Makes a scope with the folders and rules of another one, in which clients make displays of
    /// their own and use everything there: windows, elements, pointer, keyboard, clipboard, pictures.
    #[command(verbatim_doc_comment)]
    AddDisplay(ScopeAddDisplayArgs),
    /// Change a scope: its folders, how commands are sandboxed, its limits
    ///
    /// Limits: runtime-seconds, output-bytes, memory-megabytes, job-memory-megabytes,
    /// processes, file-megabytes, live-processes, process-seconds; `default` ends one.
    #[command(verbatim_doc_comment)]
    Edit(Box<ScopeEditArgs>),
    /// Remove a scope; its files stay
    ///
    /// On a terminal it shows what goes, and asks. `bailiwick config undo` puts it back.
    Remove(ScopeRemoveArgs),
    /// Grant capabilities, files, commands, hosts or windows
    ///
    /// Capabilities: fs:read, search:read, fs:write, git:read, git:write, command:run, process:manage,
    /// package:run, codex:run, history:read, notify:send, system:read, system:control; for desktops
    /// screen:capture, screen:ground, ui:read, ui:control, input:control, window:read, window:control,
    /// clipboard:read, clipboard:write; for private displays display:manage, app:control too.
    #[command(verbatim_doc_comment)]
    Allow(AllowArgs),
    /// Take capabilities and hosts away, close files and windows, forbid commands
    ///
    /// What is denied stays denied, whatever else is granted; `scope allow` ends that.
    #[command(verbatim_doc_comment)]
    Deny(GrantArgs),
}

/// The kinds of scope that can be added.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ScopeKind {
    /// A folder
    Folder,
    /// The computer itself: its screens
    Computer,
}

/// What of the screens clients may take pictures of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ScreenShare {
    /// Whole displays; windows that are withheld are black
    Displays,
    /// Windows, one by one
    Windows,
    /// Windows by the process that they belong to
    Processes,
    /// Nothing any more
    Nothing,
}

/// `scope add`.
#[derive(Debug, Args)]
pub struct ScopeAddArgs {
    /// The folder
    pub folder: PathBuf,
    /// What the scope is about; `scope add-screen` is for the computer
    #[arg(long = "type", value_enum, default_value = "folder", value_name = "TYPE", hide = true)]
    pub kind: ScopeKind,
    /// With `--type computer`: show clients these; default displays and windows
    #[arg(long, hide = true, value_enum, value_name = "WHAT", require_equals = true, num_args = 0.., value_delimiter = ',',
        default_missing_values = ["displays", "windows"], hide_possible_values = true)]
    pub screen: Vec<ScreenShare>,
    /// How it is opened.
    #[command(flatten)]
    pub how: HereArgs,
    /// Show what would change, and change nothing
    #[arg(long)]
    pub dry_run: bool,
}

/// `scope add-screen`.
#[derive(Debug, Args)]
pub struct ScopeAddScreenArgs {
    /// The scope's id, such as `screen`
    pub id: String,
    /// The scope's name for people
    #[arg(long)]
    pub name: Option<String>,
    /// Show clients these: displays, windows, processes; default displays and windows
    #[arg(long, value_enum, value_name = "WHAT", value_delimiter = ',', default_values = ["displays", "windows"],
        hide_possible_values = true)]
    pub screen: Vec<ScreenShare>,
    /// Whether it is asked about.
    #[command(flatten)]
    pub confirm: ConfirmArgs,
}

/// `scope add-desktop`.
#[derive(Debug, Args)]
#[command(group(ArgGroup::new("right").required(true).args(["read", "control"])))]
pub struct ScopeAddDesktopArgs {
    /// The scope's id, such as `desk`
    pub id: String,
    /// The scope's name for people
    #[arg(long)]
    pub name: Option<String>,
    /// Let clients see
    #[arg(long)]
    pub read: bool,
    /// Let clients see and act
    #[arg(long)]
    pub control: bool,
    /// Whether it is asked about.
    #[command(flatten)]
    pub confirm: ConfirmArgs,
}

/// `scope add-display`.
#[derive(Debug, Args)]
pub struct ScopeAddDisplayArgs {
    /// The scope's id, such as `play`
    pub id: String,
    /// The folder scope whose programs are shown
    #[arg(long = "for", value_name = "SCOPE")]
    pub of: String,
    /// Whether it is asked about.
    #[command(flatten)]
    pub confirm: ConfirmArgs,
}

/// `scope edit`.
#[derive(Debug, Default, Args)]
pub struct ScopeEditArgs {
    /// The scope
    pub id: String,
    /// Give it another name for people
    #[arg(long)]
    pub name: Option<String>,
    /// Open one more folder in it
    #[arg(long, value_name = "FOLDER")]
    pub add_root: Vec<PathBuf>,
    /// Close one of its folders
    #[arg(long, value_name = "FOLDER")]
    pub remove_root: Vec<PathBuf>,
    /// Grant this instead: read-only, coding or full
    #[arg(long, value_enum, value_name = "PRESET", hide_possible_values = true)]
    pub preset: Option<Preset>,
    /// Enable commands with a starter rule set
    #[arg(long)]
    pub commands: bool,
    /// Remove a rule from every list
    #[arg(long = "remove-rule", alias = "forget", value_name = "RULE")]
    pub forget: Vec<String>,
    /// Hosts that are not named: deny or ask
    #[arg(long, value_name = "WHAT", hide_possible_values = true,
        value_parser = word::<OtherHosts>(&["deny", "ask"]))]
    pub other_hosts: Option<OtherHosts>,
    /// What commands reach: none, loopback or full
    #[arg(long, value_name = "WHAT", hide_possible_values = true,
        value_parser = word::<NetworkRule>(&["none", "loopback", "full"]))]
    pub network: Option<NetworkRule>,
    /// Sandbox commands: auto, full, partial or none
    #[arg(long, value_name = "LEVEL", hide_possible_values = true,
        value_parser = word::<SandboxLevel>(&["auto", "full", "partial", "none"]))]
    pub sandbox: Option<SandboxLevel>,
    /// Any program, texts for bash: off or sandboxed
    #[arg(long, value_name = "MODE", hide_possible_values = true,
        value_parser = word::<ShellMode>(&["off", "sandboxed"]))]
    pub shell: Option<ShellMode>,
    /// What undo covers: files or commands
    #[arg(long, value_name = "WHAT", hide_possible_values = true,
        value_parser = word::<UndoMode>(&["files", "commands"]))]
    pub undo: Option<UndoMode>,
    /// After text of strangers was read: off or ask
    #[arg(long, value_name = "WHAT", hide_possible_values = true,
        value_parser = word::<AfterUntrusted>(&["off", "ask"]))]
    pub after_untrusted: Option<AfterUntrusted>,
    /// Files that strangers may have written
    #[arg(long, hide = true, value_name = "GLOB")]
    pub untrusted_files: Vec<String>,
    /// Whether you see what a command would do before you approve it, and whether its changes are taken over then: show, commit or off. The concept page of the policy explains it
    #[arg(long, value_name = "WHAT", hide = true,
        value_parser = word::<PreviewMode>(&["show", "commit", "off"]))]
    pub preview: Option<PreviewMode>,
    /// What answers show in the place of secrets: off, redact or handles. The concept page of secrets explains it
    #[arg(long, value_name = "WHAT", hide = true,
        value_parser = word::<SecretMode>(&["off", "redact", "handles"]))]
    pub secrets: Option<SecretMode>,
    /// Whether commands are given secrets by their handles: ask or allow
    #[arg(long, value_name = "WHAT", hide = true,
        value_parser = word::<SecretCommands>(&["ask", "allow"]))]
    pub secret_commands: Option<SecretCommands>,
    /// Let sandboxed commands read this folder
    #[arg(long, value_name = "FOLDER")]
    pub read_path: Vec<PathBuf>,
    /// Look up programs here first
    #[arg(long, value_name = "FOLDER")]
    pub search_path: Vec<PathBuf>,
    /// Give every command this variable
    #[arg(long, value_name = "NAME=VALUE")]
    pub env: Vec<String>,
    /// Let clients set this variable
    #[arg(long, value_name = "NAME")]
    pub allow_env: Vec<String>,
    /// Take away a variable, or the right to set it
    #[arg(long, value_name = "NAME")]
    pub unset_env: Vec<String>,
    /// Started ones live: durable, service, client
    #[arg(long, value_name = "HOW", hide_possible_values = true,
        value_parser = word::<ProcessLifetime>(&["durable", "service", "client"]))]
    pub process_lifetime: Option<ProcessLifetime>,
    /// Set a limit, see below
    #[arg(long, value_name = "NAME=NUMBER")]
    pub limit: Vec<String>,
    /// The longest time for one operation
    #[arg(long, hide = true, value_parser = clap::value_parser!(u64).range(1..))]
    pub max_runtime_seconds: Option<u64>,
    /// The largest result
    #[arg(long, hide = true, value_parser = clap::value_parser!(u64).range(1_000..))]
    pub max_output_bytes: Option<u64>,
    /// Refuse hard links: true or false
    #[arg(long, value_name = "BOOL", hide_possible_values = true)]
    pub refuse_hard_links: Option<bool>,
    /// Show displays, windows, processes, nothing
    #[arg(long, value_enum, value_name = "WHAT", require_equals = true, num_args = 0.., value_delimiter = ',',
        default_missing_values = ["displays", "windows"], hide_possible_values = true)]
    pub screen: Vec<ScreenShare>,
    /// Whether clients that have input:control may use pointer and keyboard: off, ask or allow
    #[arg(long, value_name = "WHAT", hide = true,
        value_parser = word::<VisibleInput>(&["off", "ask", "allow"]))]
    pub visible_input: Option<VisibleInput>,
    /// Whether your display shows who uses pointer and keyboard: show or off
    #[arg(long, value_name = "WHAT", hide = true, value_parser = word::<InputBanner>(&["show", "off"]))]
    pub input_banner: Option<InputBanner>,
    /// Let --add-root open the whole home folder
    #[arg(long, hide = true)]
    pub whole_home: bool,
    /// Whether it is asked about.
    #[command(flatten)]
    pub confirm: ConfirmArgs,
}

/// `scope remove`.
#[derive(Debug, Args)]
pub struct ScopeRemoveArgs {
    /// The scope
    pub id: String,
    /// Whether it is asked about.
    #[command(flatten)]
    pub confirm: ConfirmArgs,
}

/// A scope by id.
#[derive(Debug, Args)]
pub struct ScopeIdArgs {
    /// The scope
    pub id: String,
}

/// `scope allow`.
#[derive(Debug, Args)]
pub struct AllowArgs {
    /// What is granted.
    #[command(flatten)]
    pub grant: GrantArgs,
    /// Have each request need your approval
    #[arg(long)]
    pub ask: bool,
}

/// What `scope allow` grants and `scope deny` takes away.
#[derive(Debug, Args)]
pub struct GrantArgs {
    /// The scope
    pub id: String,
    /// Capabilities, such as fs:write
    #[arg(required_unless_present_any = ["files", "command", "app", "title", "host", "package_registries", "operation", "first_use"], value_parser = capability(),
        hide_possible_values = true)]
    pub capabilities: Vec<Capability>,
    /// Sensitive files to open, or further files to close
    #[arg(long, value_name = "GLOB")]
    pub files: Vec<String>,
    /// Commands by a rule, such as 'npm run *'
    #[arg(long, value_name = "RULE")]
    pub command: Vec<String>,
    /// Windows of apps, such as 'signal*'
    #[arg(long, value_name = "GLOB")]
    pub app: Vec<String>,
    /// Windows by their title
    #[arg(long, value_name = "GLOB")]
    pub title: Vec<String>,
    /// Hosts that commands may reach, such as '*.example.org'
    #[arg(long, value_name = "HOST")]
    pub host: Vec<String>,
    /// The hosts of your package registries, as your tools name them
    #[arg(long)]
    pub package_registries: bool,
    /// With --ask: operations, such as git.commit or 'git.*'
    #[arg(long, value_name = "NAME")]
    pub operation: Vec<String>,
    /// With allow: ask the first time in a session (capability, program)
    #[arg(long, value_name = "NAME")]
    pub first_use: Vec<String>,
    /// Whether it is asked about.
    #[command(flatten)]
    pub confirm: ConfirmArgs,
}

impl GrantArgs {
    /// Returns what is granted, or taken away.
    pub fn change(&self) -> GrantChange {
        GrantChange {
            capabilities: self.capabilities.clone(),
            files: self.files.clone(),
            commands: self.command.clone(),
            apps: self.app.clone(),
            titles: self.title.clone(),
            hosts: self.host.clone(),
            package_registries: self.package_registries,
            operations: self.operation.clone(),
            first_use: self.first_use.clone(),
        }
    }
}

/// Reads a word as the config reads it.
fn word<T: DeserializeOwned + Clone + Send + Sync + 'static>(
    words: &'static [&'static str],
) -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(words.iter().copied())
        .map(|word| serde_json::from_value(Value::String(word)).expect("the words are those of the config"))
}
