//! The command line as it is typed. Its doc comments are the help text.

use std::ffi::OsString;
use std::net::IpAddr;
use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

use bailiwick_contract::Capability;

use super::client::{ClientCommand, ClientKind, ClientsAtSetup};
use super::scope::ScopeCommand;

/// Lets an AI client work on your computer, inside the bounds that you set.
///
/// Start with `bailiwick setup FOLDER`. Exit codes: 0 success, 1 failed, 2 usage,
/// 10 to 22 by error.
/// BAILIWICK_HOME moves config, state and socket; NO_COLOR turns colour off.
#[derive(Debug, Parser)]
#[command(name = "bailiwick", version, verbatim_doc_comment)]
pub struct Arguments {
    /// What holds for every command.
    #[command(flatten)]
    pub shared: Shared,
    /// The command.
    #[command(subcommand)]
    pub command: Command,
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
}

/// The commands, in the order in which a person meets them.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// See it work: a real MCP conversation over a folder
    ///
    /// Makes a throw-away installation, opens the folder for reading, starts `bailiwick mcp` as a real
    /// child process, and talks MCP to it: tree, search, read, two requests that must be refused, one
    /// write into a temporary folder, and the history of it all. Your files are not changed.
    #[command(verbatim_doc_comment)]
    Try(TryArgs),
    /// Open a folder for clients, and print how to connect them
    ///
    /// Asks what was not said by flags, shows what clients will be allowed, and writes nothing before your
    /// yes. Makes the config if there is none yet. Running it again changes nothing, unless you name another
    /// preset; what that changes is shown as a diff.
    #[command(verbatim_doc_comment)]
    Setup(SetupArgs),
    /// Open the current folder: the same as `setup .`
    Here(HereCommandArgs),
    /// Serve clients over HTTP and the local socket, until Ctrl-C
    ///
    /// At a terminal it shows requests as they come, a line each, and what waits for you. Ctrl-C ends it within
    /// two seconds; processes that clients started keep running.
    #[command(verbatim_doc_comment)]
    Start(StartArgs),
    /// Serve one MCP client over standard input and output
    Mcp(McpArgs),
    /// Run one operation and print its result
    #[command(disable_help_flag = true)]
    Call(CallArgs),
    /// Tell whether it is set up and running, and what is open
    Status(StatusArgs),
    /// Say what is wrong, and fix what is safe to fix
    ///
    /// Changes nothing without `--fix`, which fixes only what can mean one thing, shows each change as a diff, and
    /// keeps what was there: `doctor --undo` puts it back. `--prove` does each kind of operation for real in a
    /// throw-away installation and shows what it saw. Exits with 1 if something fails.
    #[command(verbatim_doc_comment)]
    Doctor(DoctorArgs),
    /// Make one file for anyone who helps you, without secrets
    Bundle(BundleArgs),
    /// Enter the passwords and other secrets that programs wait for
    ///
    /// Requests of clients cannot be approved one by one yet; this is about secrets alone. It goes through what
    /// waits, in this terminal. It says which process a secret is for, and whose words ask for
    /// it; what you type is not shown, goes to that process, and is kept nowhere. Ctrl-C leaves it waiting.
    #[command(verbatim_doc_comment)]
    Approve(ApproveArgs),
    /// Show what was done: by whom, where, and how it ended
    ///
    /// Views: timeline (newest first), last, sessions, connections, get ID, failed-replay, and verify,
    /// which exits with 16 if a row was changed, removed or reordered.
    #[command(verbatim_doc_comment)]
    History(HistoryArgs),
    /// Show what was started and continues; read what it prints; end it
    Processes(ProcessesArgs),
    /// Have your session start the service and keep it running
    ///
    /// A unit of systemd's user manager on Linux, an agent of launchd on macOS, a task of the Task Scheduler on
    /// Windows. It needs no rights but yours, and its file holds no secret.
    #[command(subcommand, verbatim_doc_comment)]
    Service(ServiceCommand),
    /// Manage the scopes: which folders are open, and for what
    #[command(subcommand)]
    Scope(ScopeCommand),
    /// See what clients could see of the screens
    #[command(subcommand)]
    Screen(ScreenCommand),
    /// Manage the tokens by which clients are known
    #[command(subcommand)]
    Token(TokenCommand),
    /// See how the policy judges a request
    #[command(subcommand)]
    Policy(PolicyCommand),
    /// See which tools and operations a client has, and what they need
    Tools(ToolsArgs),
    /// Find, read, check and edit the config
    #[command(subcommand)]
    Config(ConfigCommand),
    /// Put Bailiwick into the settings of AI clients, and take it out
    #[command(subcommand)]
    Client(ClientCommand),
    /// Print how to connect a client
    ///
    /// For ChatGPT and Claude, which connect from elsewhere, it then shows each step of the client as it is made, until the first
    /// call or Ctrl-C.
    #[command(verbatim_doc_comment)]
    Connect(ConnectArgs),
    /// Let clients elsewhere reach this computer, by a public URL
    ///
    /// ChatGPT and claude.ai connect from the computers of their makers. They need a URL that a tunnel or proxy of yours
    /// forwards to this service. Under it there are only the MCP endpoint and the page on which you let a client in: each
    /// has to log in there, and you say what it may use.
    #[command(subcommand, verbatim_doc_comment)]
    Tunnel(TunnelCommand),
    /// The older name of `doctor --prove`
    #[command(hide = true)]
    SelfTest,
    /// Print the completions for a shell
    ///
    /// In bash, zsh and fish they know the ids of your scopes, processes and operations and the names of your
    /// tokens too, by asking this program; in PowerShell and elvish only commands, flags and fixed words.
    #[command(verbatim_doc_comment)]
    Completions(CompletionsArgs),
    /// Write the manual pages, one for each command
    Man(ManArgs),
}

/// `try`.
#[derive(Debug, Args)]
pub struct TryArgs {
    /// The folder to look at
    #[arg(default_value = ".")]
    pub folder: PathBuf,
}

/// What a scope is opened for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Preset {
    /// Read, search and list files
    ReadOnly,
    /// And change files, and use Git
    Coding,
    /// And run common programs of projects, in a sandbox
    Full,
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
    /// Ask nothing: take what the flags say, and the defaults
    #[arg(long, short)]
    pub yes: bool,
    /// Open the whole home folder (or one that contains it), which holds more than you think
    #[arg(long)]
    pub whole_home: bool,
}

/// `start`.
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

/// The flags of `start` for managers that give neither an environment nor a place for what is said.
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
    #[arg(long, value_name = "NAME")]
    pub caller: Option<String>,
}

/// `call`: read by its own parser, since the flags depend on the operation.
#[derive(Debug, Args)]
pub struct CallArgs {
    /// OPERATION [TARGET] [--FIELD VALUE …]; see `bailiwick call --help`
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENTS")]
    pub rest: Vec<OsString>,
}

/// `status`.
#[derive(Debug, Args)]
pub struct StatusArgs {
    /// Tell everything
    #[arg(long)]
    pub details: bool,
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
    /// Do each kind of operation for real in a throw-away installation, and tell what was seen
    #[arg(long, conflicts_with_all = ["fix", "dry_run", "undo"])]
    pub prove: bool,
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
    #[arg(long, conflicts_with = "list", requires = "id")]
    pub refuse: bool,
    /// Stay, and ask for whatever comes, until Ctrl-C
    #[arg(long, conflicts_with_all = ["list", "refuse", "id"])]
    pub stay: bool,
}

/// The views of the history.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum HistoryView {
    /// What was done, newest first
    Timeline,
    /// The last operation, and what to do next
    Last,
    /// The connections of clients one by one, with counts
    Sessions,
    /// Who connects in which way, with counts
    Connections,
    /// One operation in full: `history get ID`
    Get,
    /// Requests that failed, as templates to try again
    FailedReplay,
    /// Check that no row was changed, removed or reordered
    Verify,
}

/// `history`.
#[derive(Debug, Args)]
pub struct HistoryArgs {
    /// What to show
    #[arg(value_enum, default_value = "timeline")]
    pub view: HistoryView,
    /// The operation's id, for `get`
    pub id: Option<String>,
    /// Only this scope
    #[arg(long)]
    pub scope: Option<String>,
    /// Only rows that contain this text
    #[arg(long)]
    pub query: Option<String>,
    /// At most this many rows
    #[arg(long, default_value_t = 20)]
    pub limit: u32,
    /// Continue where an earlier answer ended
    #[arg(long)]
    pub cursor: Option<String>,
    /// Stay, and show each operation as it ends, until Ctrl-C
    #[arg(long, short)]
    pub follow: bool,
}

/// `processes`.
#[derive(Debug, Args)]
pub struct ProcessesArgs {
    /// What to do; default list
    #[command(subcommand)]
    pub command: Option<ProcessesCommand>,
}

/// `processes …`.
#[derive(Debug, Subcommand)]
pub enum ProcessesCommand {
    /// List the processes of every scope
    List,
    /// Print what a process printed
    Read(ProcessReadArgs),
    /// End a process and everything that it started
    Stop(ProcessStopArgs),
}

/// `processes read`.
#[derive(Debug, Args)]
pub struct ProcessReadArgs {
    /// The process's id
    pub id: String,
    /// Continue until it ends
    #[arg(long, short)]
    pub follow: bool,
    /// Begin with the last so many lines
    #[arg(long, value_name = "LINES")]
    pub tail: Option<usize>,
}

/// `processes stop`.
#[derive(Debug, Args)]
pub struct ProcessStopArgs {
    /// The process's id
    pub id: Option<String>,
    /// End all processes of every scope, also of scopes that are gone: for uninstalling
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
    Install(ServiceInstallArgs),
    /// Start the service
    Start,
    /// End the service; processes that clients started keep running
    Stop,
    /// Tell its state, by asking it
    Status,
    /// Show what it said
    Logs(ServiceLogsArgs),
    /// End it and remove its file
    Remove(ServiceRemoveArgs),
}

/// `service install`.
#[derive(Debug, Args)]
pub struct ServiceInstallArgs {
    /// Show what would be written, and change nothing
    #[arg(long)]
    pub dry_run: bool,
}

/// `service logs`.
#[derive(Debug, Args)]
pub struct ServiceLogsArgs {
    /// The newest so many lines
    #[arg(long, default_value_t = 50)]
    pub lines: u32,
    /// Continue until Ctrl-C
    #[arg(long, short)]
    pub follow: bool,
}

/// `service remove`.
#[derive(Debug, Args)]
pub struct ServiceRemoveArgs {
    /// Say what would be removed, and change nothing
    #[arg(long)]
    pub dry_run: bool,
}

/// `screen …`.
#[derive(Debug, Subcommand)]
pub enum ScreenCommand {
    /// Ask the displays, and tell what each scope shows of them and what to change
    Status,
}

/// Reads a capability by its name; completions and suggestions know them all.
pub fn capability() -> impl TypedValueParser<Value = Capability> {
    let names: Vec<&'static str> = Capability::ALL.iter().map(|it| it.as_str()).collect();
    PossibleValuesParser::new(names)
        .map(|name| Capability::parse(&name).expect("only names of capabilities are possible"))
}

/// `connect`.
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

/// `tunnel …`.
#[derive(Debug, Subcommand)]
pub enum TunnelCommand {
    /// Have Cloudflare forward a URL to this computer, until Ctrl-C
    ///
    /// Runs `cloudflared`, which you install before. No account is needed. The URL is a new one each time, and clients have to
    /// be connected again then: for a lasting one, set up a tunnel of your own and use `tunnel manual`.
    #[command(verbatim_doc_comment)]
    Cloudflare(TunnelCare),
    /// Have Tailscale forward the name that this computer has there, until Ctrl-C
    ///
    /// Runs `tailscale funnel`, which has to be installed, logged in, and allowed for your tailnet. The URL stays the same.
    #[command(verbatim_doc_comment)]
    Tailscale(TunnelCare),
    /// Have OpenAI's Secure MCP Tunnel reach this computer, until Ctrl-C
    ///
    /// Runs `tunnel-client`, which you install before. There is no public URL: ChatGPT reaches it by the tunnel's id. Anyone who
    /// may use the tunnel in your organization gets the rights of the token in the variable BAILIWICK_TOKEN, so make one for it:
    /// `bailiwick token create openai --scope ID`. CONTROL_PLANE_API_KEY holds the key that OpenAI gave you.
    #[command(verbatim_doc_comment)]
    Openai(TunnelOpenaiArgs),
    /// Use a URL that you forward to this service yourself
    Manual(TunnelManualArgs),
    /// Serve no public URL any more; logins stay, and open nothing
    Off,
}

/// What is done before a tunnel is opened.
#[derive(Debug, Clone, Copy, Args)]
pub struct TunnelCare {
    /// Show what would be open and what would be run, and do nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Do not ask
    #[arg(long, short)]
    pub yes: bool,
}

/// `tunnel openai`.
#[derive(Debug, Args)]
pub struct TunnelOpenaiArgs {
    /// The tunnel's id, from <https://platform.openai.com/settings/organization/tunnels>
    pub tunnel_id: String,
    /// What is done before.
    #[command(flatten)]
    pub care: TunnelCare,
}

/// `tunnel manual`.
#[derive(Debug, Args)]
pub struct TunnelManualArgs {
    /// The URL without a path, such as <https://bw.example>
    pub url: String,
    /// Show what would be open, and change nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Do not ask
    #[arg(long, short)]
    pub yes: bool,
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
}

/// `token rotate`.
#[derive(Debug, Args)]
pub struct TokenRotateArgs {
    /// The token's name or id
    pub name: String,
    /// When the new value expires: as for `create`, or never; default as before
    #[arg(long, value_name = "WHEN")]
    pub expires: Option<String>,
}

/// A token by name.
#[derive(Debug, Args)]
pub struct TokenNameArgs {
    /// The token's name or id
    pub name: String,
}

/// `policy …`.
#[derive(Debug, Subcommand)]
pub enum PolicyCommand {
    /// Print each stage's verdict on a request, without running it
    ///
    /// The request is an envelope in JSON, or an operation with target and fields as for `call`.
    /// `--caller NAME` judges it with the rights of a token.
    /// A command in quotes is judged by the rules of the scope: `policy explain 'git push'`.
    #[command(disable_help_flag = true)]
    Explain(CallArgs),
    /// Judge the commands of a file, and compare with the verdicts that it expects
    ///
    /// Lines of a verdict (allow, ask or deny), a tab and a command; or a JSON array of objects with
    /// `verdict` and `command`. Nothing is run. Exits with 1 if a verdict differs.
    #[command(verbatim_doc_comment)]
    Test(PolicyTestArgs),
}

/// `policy test`.
#[derive(Debug, Args)]
pub struct PolicyTestArgs {
    /// The file with commands and their verdicts
    pub file: PathBuf,
    /// The scope; needed where several are open
    #[arg(long)]
    pub scope: Option<String>,
}

/// `man`.
#[derive(Debug, Args)]
pub struct ManArgs {
    /// The folder; `~/.local/share/man/man1` is where `man` looks
    pub folder: PathBuf,
}

/// `completions`.
#[derive(Debug, Args)]
pub struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    pub shell: Shell,
}

/// `tools`.
#[derive(Debug, Args)]
pub struct ToolsArgs {
    /// What a client with this token sees, instead of the local user
    #[arg(long, value_name = "NAME", visible_alias = "caller")]
    pub token: Option<String>,
    /// What this client sees: with the token that `client install` made for it
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
    /// Tell which files are in force, and by what they are chosen
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
    /// Put back the config as it was before the last change
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
    /// Show also what holds where the config says nothing
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
    /// Write without asking
    #[arg(long, short)]
    pub yes: bool,
}
