//! The command line as it is typed. Its doc comments are the help text.

use std::ffi::OsString;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

use bailiwick_contract::Capability;

use super::ask;
use super::client::{ClientCommand, ClientsAtSetup};
pub use super::policy_args::{
    PolicyCommand, PolicyLearnArgs, PolicyTestArgs, PolicyUntrustedArgs, PolicyWhyArgs,
};
use super::printer::Printer;
use super::scope::ScopeCommand;
pub use super::tunnel_args::{TunnelCommand, TunnelManualArgs};
use super::undo::UndoArgs;
use crate::client_settings::kind::ClientKind;
use crate::scope_setup::open_folder::FolderChoice;
use crate::scope_setup::presets::Preset;

/// Give an AI client one folder, not your whole computer.
///
/// Start with `bailiwick setup FOLDER`. Every command also takes -v (details) and --color WHEN. Exit codes: 0 success, 1 failed,
/// 2 usage, 10 to 22 by error.
/// BAILIWICK_HOME moves config, state and socket; NO_COLOR turns colour off.
#[derive(Debug, Parser)]
#[command(name = "bailiwick", version, verbatim_doc_comment, subcommand_precedence_over_arg = true)]
pub struct Arguments {
    /// What holds for every command.
    #[command(flatten)]
    pub shared: Shared,
    /// The command; without one, `status`.
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// Flags of every command.
#[derive(Debug, Clone, Default, Args)]
pub struct Shared {
    /// Use this config file, and what is beside it
    #[arg(long, global = true, value_name = "PATH")]
    pub config: Option<PathBuf>,
    /// Print one JSON object instead of text
    #[arg(long, global = true)]
    pub json: bool,
    /// Show details
    #[arg(long, short, global = true, hide = true, alias = "details")]
    pub verbose: bool,
    /// When to use colour
    #[arg(long, global = true, hide = true, value_enum, value_name = "WHEN", default_value = "auto")]
    pub color: ColorWhen,
}

/// When colour is used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum ColorWhen {
    /// At a terminal that shows it, unless NO_COLOR is set
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// The commands. Those of the tree are in the order of `definition::GROUPS`; behind them are older names, for one version.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Open a folder for clients, and connect them
    ///
    /// Asks what was not said by flags, shows what clients will be allowed, and writes nothing before your
    /// yes. Makes the config if there is none yet. Running it again changes nothing, unless you name another
    /// preset; what that changes is shown as a diff.
    #[command(verbatim_doc_comment)]
    Setup(SetupArgs),
    /// Show what is open, running and waiting for you
    ///
    /// The same as `bailiwick` alone. With -v it shows the computer, the sandbox and every grant, too.
    #[command(verbatim_doc_comment)]
    Status,
    /// Find problems and fix the safe ones
    ///
    /// Shows problems, and one line if there are none; -v shows every check. Changes nothing without `--fix`, which fixes only
    /// what can mean one thing, shows each change as a diff, and keeps what was there: `doctor --undo` puts it back. `--prove`
    /// does each kind of operation for real in a throw-away installation and shows what it saw. Exits with 1 if something
    /// fails.
    #[command(verbatim_doc_comment)]
    Doctor(DoctorArgs),
    /// Show requests as they come, until Ctrl-C
    Watch(WatchArgs),
    /// Show what was done, by whom, and how it ended
    ///
    /// Views: timeline (newest first), last, show ID, clients, sessions, replay (requests that failed, to try again), and
    /// verify, which exits with 16 if a row was changed, removed or reordered.
    /// An ID is the short one of a row or the whole one. --since takes 30m, 2h, 7d, a date or a time.
    #[command(alias = "history", verbatim_doc_comment)]
    Log(HistoryArgs),
    /// Take back what clients changed in files
    ///
    /// Without an ID, the newest change of any client that was not taken back yet. An ID is that of a row of `bailiwick log`;
    /// that of a batch covers all its steps. Shows what comes back, with each difference, and asks on a terminal. If something
    /// was changed again since, nothing is taken back: that is a conflict, and shown.
    /// An undo is a change, too: `bailiwick undo` with its ID takes it back. Others are undone where they were made: the config by
    /// `config undo`, settings of clients by `client undo`, repairs by `doctor --undo`.
    #[command(verbatim_doc_comment)]
    Undo(UndoArgs),
    /// List, read and stop background processes
    #[command(alias = "processes")]
    Ps(ProcessesArgs),
    /// Answer what clients wait for: approvals, and secrets that programs ask for
    ///
    /// Goes through what waits, in this terminal; --follow does so for whatever comes. A request for approval is shown as it
    /// would run: resolved target, commands, sandbox and network, and on Linux what a command would do (`scope edit ID
    /// --preview off` switches that off). An approval is for this very request of this client: once, for its session, for
    /// a time, or by a rule. No client can approve anything, unless the scope's `clientApprovals` lets it.
    /// Of a secret it says which process it is for, and whose words ask for it; what you type is not shown, goes to that
    /// process, and is kept nowhere. Ctrl-C leaves it waiting.
    #[command(verbatim_doc_comment)]
    Approve(ApproveArgs),
    /// Manage the folders that are open, and for what
    #[command(subcommand)]
    Scope(ScopeCommand),
    /// Connect AI clients, and disconnect them
    #[command(subcommand)]
    Client(ClientCommand),
    /// Manage the tokens of clients
    #[command(subcommand)]
    Token(TokenCommand),
    /// Explain and test how requests are judged
    #[command(subcommand)]
    Policy(PolicyCommand),
    /// Show, check and edit the config
    #[command(subcommand)]
    Config(ConfigCommand),
    /// Serve clients over HTTP and the local socket
    ///
    /// Runs until Ctrl-C. At a terminal it shows requests as they come, a line each, and what waits for you. Ctrl-C ends it
    /// within two seconds; processes that clients started keep running.
    #[command(alias = "start", verbatim_doc_comment)]
    Serve(StartArgs),
    /// Serve one MCP client over standard input and output
    Mcp(McpArgs),
    /// Run Bailiwick in the background when you log in
    ///
    /// A unit of systemd's user manager on Linux, an agent of launchd on macOS, a task of the Task Scheduler on
    /// Windows. It needs no rights but yours, and its file holds no secret.
    #[command(subcommand, verbatim_doc_comment)]
    Service(ServiceCommand),
    /// Let clients elsewhere reach this computer
    ///
    /// ChatGPT and claude.ai connect from the computers of their makers. They need a URL that a tunnel or proxy of yours
    /// forwards to this service. Under it there are only the MCP endpoint and the page on which you let a client in: each
    /// has to log in there, and you say what it may use.
    #[command(subcommand, verbatim_doc_comment)]
    Tunnel(TunnelCommand),
    /// Run one operation and print its result
    #[command(disable_help_flag = true)]
    Call(CallArgs),
    /// Print the completions for a shell
    ///
    /// In bash, zsh and fish they know the ids of your scopes, processes and operations and the names of your
    /// tokens too, by asking this program; in PowerShell and elvish only commands, flags and fixed words.
    #[command(verbatim_doc_comment)]
    Completions(CompletionsArgs),
    /// Write the manual pages, one for each command
    Man(ManArgs),
    /// Remove what Bailiwick has put on this computer
    ///
    /// Lists it and asks: what clients started, the service, entries that `client add` wrote into settings of clients, and
    /// then Bailiwick's own folders. Your files stay, and so does the program, which it names.
    #[command(verbatim_doc_comment)]
    Uninstall(UninstallArgs),
    /// Open the current folder: the same as `setup .`
    #[command(hide = true)]
    Here(HereCommandArgs),
    /// See it work: a real MCP conversation over a folder
    ///
    /// Makes a throw-away installation, opens the folder for reading, starts `bailiwick mcp` as a real
    /// child process, and talks MCP to it: tree, search, read, two requests that must be refused, one
    /// write into a temporary folder, and the history of it all. Your files are not changed.
    #[command(hide = true, verbatim_doc_comment)]
    Try(TryArgs),
    /// Make one file for anyone who helps you, without secrets
    #[command(hide = true)]
    Bundle(BundleArgs),
    /// See what clients could see of the screens
    #[command(subcommand, hide = true)]
    Screen(ScreenCommand),
    /// See which tools and operations a client has, and what they need
    #[command(hide = true)]
    Tools(ToolsArgs),
    /// Print how to connect a client
    #[command(hide = true)]
    Connect(ConnectArgs),
    /// The older name of `doctor --prove`
    #[command(hide = true)]
    SelfTest,
}

/// Whether a change is tried, asked about at a terminal, or made at once.
#[derive(Debug, Clone, Copy, Default, Args)]
pub struct ConfirmArgs {
    /// Show what would change, and change nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Do not ask
    #[arg(long, short)]
    pub yes: bool,
}

impl ConfirmArgs {
    /// Returns whether there is something to ask, and someone.
    pub fn asks(self, printer: Printer) -> bool {
        !self.yes && !self.dry_run && ask::is_possible(printer)
    }
}

/// `try`.
#[derive(Debug, Args)]
pub struct TryArgs {
    /// The folder to look at
    #[arg(default_value = ".")]
    pub folder: PathBuf,
}

/// `setup`.
#[derive(Debug, Args)]
pub struct SetupArgs {
    /// The folder to open; without one, and with --yes, only the config is made
    pub folder: Option<PathBuf>,
    /// How it is opened.
    #[command(flatten)]
    pub how: HereArgs,
    /// Which clients are connected.
    #[command(flatten)]
    pub clients: ClientsAtSetup,
    /// Show what would be opened, and change nothing
    #[arg(long)]
    pub dry_run: bool,
}

/// `here`.
#[derive(Debug, Args)]
pub struct HereCommandArgs {
    /// How it is opened.
    #[command(flatten)]
    pub how: HereArgs,
    /// Which clients are connected.
    #[command(flatten)]
    pub clients: ClientsAtSetup,
}

/// The flags of opening a folder: of `here`, and the flags of `setup`.
#[derive(Debug, Clone, Args)]
pub struct HereArgs {
    /// The scope's id; default from the folder's name
    #[arg(long)]
    pub id: Option<String>,
    /// The scope's name for people
    #[arg(long)]
    pub name: Option<String>,
    /// What clients may do there; default coding, for a folder that is not open yet
    #[arg(long, value_enum)]
    pub preset: Option<Preset>,
    /// Let clients run common programs of projects there, in a sandbox
    #[arg(long)]
    pub commands: bool,
    /// Let commands reach the package registries that your tools are set up for, by a proxy
    #[arg(long)]
    pub package_registries: bool,
    /// Don't prompt; use flags and defaults
    #[arg(long, short)]
    pub yes: bool,
    /// Allow opening your whole home folder (not recommended)
    #[arg(long)]
    pub whole_home: bool,
}

impl HereArgs {
    /// Returns how the folder is opened.
    pub fn choice(&self) -> FolderChoice {
        FolderChoice {
            id: self.id.clone(),
            name: self.name.clone(),
            preset: self.preset,
            commands: self.commands,
            package_registries: self.package_registries,
        }
    }
}

/// `serve`.
#[derive(Debug, Args)]
pub struct StartArgs {
    /// Listen on this address; default as configured (127.0.0.1)
    #[arg(long)]
    pub host: Option<IpAddr>,
    /// Listen on this port; default as configured (3939); 0 for any free one
    #[arg(long)]
    pub port: Option<u16>,
    /// Encrypt connections, with the certificate of `http.tls`, or one that Bailiwick makes
    #[arg(long)]
    pub tls: bool,
    /// Write a line for each request also where standard output is no terminal; with --json, an object a line
    #[arg(long)]
    pub log: bool,
    /// Show no requests at a terminal
    #[arg(long, conflicts_with = "log")]
    pub quiet: bool,
    /// What a manager of services cannot give.
    #[command(flatten)]
    pub background: BackgroundArgs,
}

/// The flags of `serve` for managers that give neither an environment nor a place for what is said.
#[derive(Debug, Clone, Default, Args)]
pub struct BackgroundArgs {
    /// Work on the installation in this folder, as by `BAILIWICK_HOME`
    #[arg(long, value_name = "FOLDER", hide = true)]
    pub home: Option<PathBuf>,
    /// Write all that is said to this file, and let go of the console
    #[arg(long, value_name = "FILE", hide = true)]
    pub said: Option<PathBuf>,
}

/// `mcp`.
#[derive(Debug, Default, Args)]
pub struct McpArgs {
    /// Serve with the rights of this token instead of the local user's
    #[arg(long = "token", alias = "caller", value_name = "NAME")]
    pub caller: Option<String>,
}

/// `call`: read by its own parser, since the flags depend on the operation.
#[derive(Debug, Args)]
pub struct CallArgs {
    /// OPERATION [TARGET] [--FIELD VALUE …]; see `bailiwick call --help`
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENTS")]
    pub rest: Vec<OsString>,
}

/// `doctor`.
#[derive(Debug, Args)]
pub struct DoctorArgs {
    /// Fix what is safe to fix
    #[arg(long)]
    pub fix: bool,
    /// With --fix: show the repairs, and change nothing
    #[arg(long, requires = "fix")]
    pub dry_run: bool,
    /// Put back what the last `--fix` changed
    #[arg(long, conflicts_with_all = ["fix", "dry_run"])]
    pub undo: bool,
    /// Test files, Git, commands, processes, screens and undo in a throw-away installation
    #[arg(long, conflicts_with_all = ["fix", "dry_run", "undo"])]
    pub prove: bool,
    /// Write everything that helps with a problem into one file, without secrets
    #[arg(long, value_name = "FILE", conflicts_with_all = ["fix", "dry_run", "undo", "prove"])]
    pub report: Option<PathBuf>,
    /// Show everything that such a file contains
    #[arg(long, value_name = "FILE", conflicts_with_all = ["fix", "dry_run", "undo", "prove", "report"])]
    pub inspect: Option<PathBuf>,
}

/// `bundle`.
#[derive(Debug, Args)]
pub struct BundleArgs {
    /// Write this file; default bailiwick-TIME.zip in the current folder
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Show everything that a bundle holds, and make none
    #[arg(long, value_name = "FILE", conflicts_with = "out")]
    pub inspect: Option<PathBuf>,
}

/// `approve`.
#[derive(Debug, Args)]
pub struct ApproveArgs {
    /// Only the one with this id
    pub id: Option<String>,
    /// List what waits, and ask nothing
    #[arg(long)]
    pub list: bool,
    /// Refuse what waits, and ask nothing
    #[arg(long, alias = "refuse", conflicts_with_all = ["list", "answer"], requires = "id")]
    pub deny: bool,
    /// Stay, and ask for whatever comes, until Ctrl-C
    #[arg(long, short, alias = "stay", conflicts_with_all = ["list", "deny", "id", "answer"])]
    pub follow: bool,
    /// Show a link by which one phone in this network can answer it; the address of this computer there, with a port if need be
    #[arg(long, value_name = "ADDRESS", value_parser = phone_address, conflicts_with_all = ["list", "deny", "follow", "answer"])]
    pub phone: Option<SocketAddr>,
    /// Approve it for one request, which has an hour to come
    #[arg(long, group = "answer", requires = "id", conflicts_with = "list")]
    pub once: bool,
    /// Approve it while this session of the client lasts, a day at most
    #[arg(long, group = "answer", requires = "id", conflicts_with = "list")]
    pub session: bool,
    /// Approve it for so long, such as 30m or 1h; 24h at most
    #[arg(long = "for", value_name = "TIME", group = "answer", requires = "id", conflicts_with = "list")]
    pub time: Option<String>,
    /// Allow it by the scope's rules from now on, and show the change
    #[arg(long, group = "answer", requires = "id", conflicts_with = "list")]
    pub always: bool,
}

/// Reads the address for a phone; without a port any free one is used.
fn phone_address(text: &str) -> Result<SocketAddr, String> {
    let address = text.parse().or_else(|_| text.parse::<IpAddr>().map(|address| SocketAddr::new(address, 0)));
    address.map_err(|_| "it is not an address such as 192.168.1.20 or 192.168.1.20:8080".to_owned())
}

/// The views of the history.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum HistoryView {
    /// What was done, newest first
    Timeline,
    /// The last operation, and what to do next
    Last,
    /// One operation in full: `log show ID`
    #[value(name = "show", alias = "get")]
    Get,
    /// Who connects in which way, with counts
    #[value(name = "clients", alias = "connections")]
    Connections,
    /// The connections of clients one by one, with counts
    Sessions,
    /// Requests that failed, as templates to try again
    #[value(name = "replay", alias = "failed-replay")]
    FailedReplay,
    /// Check that no row was changed, removed or reordered
    Verify,
}

/// Which rows of the history are shown: flags of `log` and `watch`.
#[derive(Debug, Clone, Default, Args)]
pub struct RowFilter {
    /// Only this scope
    #[arg(long, value_name = "ID")]
    pub scope: Option<String>,
    /// Only from this time on
    #[arg(long, value_name = "WHEN")]
    pub since: Option<String>,
    /// Only what failed or was refused
    #[arg(long)]
    pub failed: bool,
    /// Only this operation, or family (git)
    #[arg(long, value_name = "NAME")]
    pub op: Option<String>,
    /// Only this client, or token
    #[arg(long, value_name = "NAME")]
    pub client: Option<String>,
    /// Only rows that contain this text
    #[arg(long, value_name = "TEXT")]
    pub query: Option<String>,
}

/// `watch`.
#[derive(Debug, Args)]
pub struct WatchArgs {
    /// Which rows.
    #[command(flatten)]
    pub only: RowFilter,
}

/// `log`.
#[derive(Debug, Args)]
pub struct HistoryArgs {
    /// What to show
    #[arg(value_enum, default_value = "timeline", hide_possible_values = true)]
    pub view: HistoryView,
    /// The operation's id, for `show`
    pub id: Option<String>,
    /// Which rows.
    #[command(flatten)]
    pub only: RowFilter,
    /// At most this many rows
    #[arg(long, short = 'n', default_value_t = 20)]
    pub limit: u32,
    /// Show times in UTC
    #[arg(long)]
    pub utc: bool,
    /// Continue from a previous page
    #[arg(long)]
    pub cursor: Option<String>,
    /// Stay, and show each operation as it ends, until Ctrl-C
    #[arg(long, short)]
    pub follow: bool,
}

/// `ps`.
#[derive(Debug, Args)]
pub struct ProcessesArgs {
    /// What to do; default list
    #[command(subcommand)]
    pub command: Option<ProcessesCommand>,
}

/// `ps …`.
#[derive(Debug, Subcommand)]
pub enum ProcessesCommand {
    /// List the processes of every scope: the same as `ps` alone
    #[command(hide = true)]
    List,
    /// Print what a process printed
    #[command(alias = "read")]
    Logs(ProcessReadArgs),
    /// Stop a process and everything that it started
    Stop(ProcessStopArgs),
}

/// `ps logs`.
#[derive(Debug, Args)]
pub struct ProcessReadArgs {
    /// The process's id
    pub id: String,
    /// Continue until it ends
    #[arg(long, short)]
    pub follow: bool,
    /// Start with the last N lines
    #[arg(long, short = 'n', alias = "tail", value_name = "N")]
    pub lines: Option<usize>,
}

/// `ps stop`.
#[derive(Debug, Args)]
pub struct ProcessStopArgs {
    /// The process's id
    pub id: Option<String>,
    /// Stop all processes of every scope, also of scopes that are gone
    #[arg(long, conflicts_with = "id")]
    pub all: bool,
    /// Kill what is left after this many seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 5)]
    pub grace: u64,
}

/// `service …`.
#[derive(Debug, Subcommand)]
pub enum ServiceCommand {
    /// Write the service's file for this system, have it checked, and start it
    Install(ConfirmArgs),
    /// Start the service
    Start,
    /// Stop the service; processes that clients started keep running
    Stop,
    /// Show service status
    Status,
    /// Show service logs
    Logs(ServiceLogsArgs),
    /// Stop it and remove its file
    Remove(ConfirmArgs),
}

/// `service logs`.
#[derive(Debug, Args)]
pub struct ServiceLogsArgs {
    /// Start with the last N lines
    #[arg(long, short = 'n', value_name = "N", default_value_t = 50)]
    pub lines: u32,
    /// Continue until Ctrl-C
    #[arg(long, short)]
    pub follow: bool,
}

/// `screen …`.
#[derive(Debug, Subcommand)]
pub enum ScreenCommand {
    /// Ask the displays, and show what each scope shows of them and what to change
    Status,
}

/// Reads a capability by its name; completions and suggestions know them all.
pub fn capability() -> impl TypedValueParser<Value = Capability> {
    let names: Vec<&'static str> = Capability::ALL.iter().map(|it| it.as_str()).collect();
    PossibleValuesParser::new(names)
        .map(|name| Capability::parse(&name).expect("only names of capabilities are possible"))
}

/// `client connect`.
#[derive(Debug, Args)]
pub struct ConnectArgs {
    /// A client that connects from elsewhere; default those of this computer
    pub client: Option<RemoteClient>,
    /// Only print what to enter; do not watch
    #[arg(long, requires = "client")]
    pub no_wait: bool,
}

/// A client that connects from the computers of its maker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum RemoteClient {
    /// ChatGPT.
    Chatgpt,
    /// claude.ai, Claude Desktop and the phone apps.
    Claude,
}

impl RemoteClient {
    /// Returns its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Chatgpt => "ChatGPT",
            Self::Claude => "Claude",
        }
    }
}

/// `token …`.
#[derive(Debug, Subcommand)]
pub enum TokenCommand {
    /// Make a token and print it, once
    Create(TokenCreateArgs),
    /// List the tokens (not their values, which are kept nowhere)
    List,
    /// Give a token a new value; the old one opens nothing any more
    Rotate(TokenRotateArgs),
    /// Remove a token, or end a login
    Revoke(TokenNameArgs),
    /// Print a one-time code, for the page on which a client logs in
    Code,
}

/// `token create`.
#[derive(Debug, Args)]
pub struct TokenCreateArgs {
    /// The name that the history shows
    pub name: String,
    /// A scope that it opens; repeat for more; default all
    #[arg(long, value_name = "ID")]
    pub scope: Vec<String>,
    /// A capability that it may use, where the scope grants it; repeat for more; default all
    #[arg(long, value_name = "NAME", value_parser = capability(), hide_possible_values = true)]
    pub capability: Vec<Capability>,
    /// When it expires: a number of days (30d) or hours (8h), or a date (2027-01-31)
    #[arg(long, value_name = "WHEN")]
    pub expires: Option<String>,
    /// Show what it would open, and make none
    #[arg(long)]
    pub dry_run: bool,
}

/// `token rotate`.
#[derive(Debug, Args)]
pub struct TokenRotateArgs {
    /// The token's name or id
    pub name: String,
    /// When the new value expires: as for `create`, or never; default as before
    #[arg(long, value_name = "WHEN")]
    pub expires: Option<String>,
    /// Whether it is asked about.
    #[command(flatten)]
    pub confirm: ConfirmArgs,
}

/// A token by name.
#[derive(Debug, Args)]
pub struct TokenNameArgs {
    /// The token's name or id
    pub name: String,
    /// Whether it is asked about.
    #[command(flatten)]
    pub confirm: ConfirmArgs,
}

/// `man`.
#[derive(Debug, Args)]
pub struct ManArgs {
    /// The folder; `~/.local/share/man/man1` is where `man` looks
    pub folder: PathBuf,
}

/// `uninstall`.
#[derive(Debug, Args)]
pub struct UninstallArgs {
    /// List what would be removed, and change nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Keep config, tokens, history and earlier versions of files
    #[arg(long)]
    pub keep_data: bool,
    /// Do not ask
    #[arg(long, short)]
    pub yes: bool,
}

/// `completions`.
#[derive(Debug, Args)]
pub struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    pub shell: Shell,
}

/// `client tools`.
#[derive(Debug, Args)]
pub struct ToolsArgs {
    /// What a client with this token sees, instead of the local user
    #[arg(long, value_name = "NAME", alias = "caller")]
    pub token: Option<String>,
    /// What this client sees: with the token that `client add` made for it
    #[arg(long, value_enum, value_name = "CLIENT", conflicts_with = "token", hide_possible_values = true)]
    pub client: Option<ClientKind>,
    /// Only in this scope
    #[arg(long, value_name = "ID")]
    pub scope: Option<String>,
    /// Also what is not open, and what it would need
    #[arg(long)]
    pub all: bool,
}

/// `config …`.
#[derive(Debug, Subcommand)]
pub enum ConfigCommand {
    /// Show which files are used, and why
    Path,
    /// Print the config; values of environment variables are not shown
    Show(ConfigShowArgs),
    /// Look for everything that is wrong in the config, or in a file
    ///
    /// Names the place, the field and the smallest change for each mistake; changes nothing.
    /// Exits with 0 if the file would be accepted, and with 1 if not.
    #[command(verbatim_doc_comment)]
    Validate(ConfigValidateArgs),
    /// Change the config in your editor ($VISUAL or $EDITOR)
    ///
    /// The editor gets a copy. What it leaves is checked, shown as a diff, and written only if it is in
    /// order and you say yes. A copy that is not valid is kept, and named.
    /// Exits with 1 if the copy is not valid, and with 14 if there is nobody to ask.
    #[command(verbatim_doc_comment)]
    Edit(ConfigEditArgs),
    /// Restore the config as it was before the last change
    ///
    /// The last 20 configs that commands of this program have replaced are kept. Each call goes one change further
    /// back; what it changes is shown, and asked about on a terminal.
    #[command(verbatim_doc_comment)]
    Undo(ConfigUndoArgs),
}

/// `config undo`.
#[derive(Debug, Args)]
pub struct ConfigUndoArgs {
    /// Write without asking
    #[arg(long, short)]
    pub yes: bool,
    /// Show what would change, and change nothing
    #[arg(long)]
    pub dry_run: bool,
}

/// `config show`.
#[derive(Debug, Args)]
pub struct ConfigShowArgs {
    /// Include default values
    #[arg(long)]
    pub defaults: bool,
}

/// `config validate`.
#[derive(Debug, Args)]
pub struct ConfigValidateArgs {
    /// The file; default the config in force
    pub file: Option<PathBuf>,
}

/// `config edit`.
#[derive(Debug, Args)]
pub struct ConfigEditArgs {
    /// Continue with this copy, which an earlier edit has left
    #[arg(long, value_name = "FILE")]
    pub from: Option<PathBuf>,
    /// Whether it is asked about.
    #[command(flatten)]
    pub confirm: ConfirmArgs,
}
