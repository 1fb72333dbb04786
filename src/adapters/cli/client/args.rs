//! The words of `client …`. The doc comments are the help text.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::super::args::{ConfirmArgs, ConnectArgs, ToolsArgs};
use crate::client_settings::choice::{EntryOptions, SettingsChoice};
use crate::client_settings::kind::ClientKind;

/// `client …`.
#[derive(Debug, Subcommand)]
pub enum ClientCommand {
    /// List the clients on this computer, and whether Bailiwick is in their settings
    ///
    /// Examples:
    ///   bailiwick client list
    ///   bailiwick client list --project .
    ///   bailiwick client list --changes
    #[command(verbatim_doc_comment)]
    List(ListArgs),
    /// Put Bailiwick into the settings of clients
    ///
    /// Shows what changes in which file, and asks. The file as it was is kept (`client undo`), and so is
    /// everything in it that is not Bailiwick's: comments, order, indentation, line endings.
    ///
    /// Examples:
    ///   bailiwick client add claude-code
    ///   bailiwick client add cursor zed --dry-run
    ///   bailiwick client add codex --scope app --yes
    ///   bailiwick client add vscode --http --project . --dry-run
    #[command(alias = "install", verbatim_doc_comment)]
    Add(InstallArgs),
    /// Print how to connect a client by hand, or from ChatGPT and claude.ai
    ///
    /// For ChatGPT and Claude, which connect from elsewhere, it then shows each step of the client as it is made, until the first
    /// call or Ctrl-C.
    ///
    /// Examples:
    ///   bailiwick client connect
    #[command(verbatim_doc_comment)]
    Connect(ConnectArgs),
    /// Show which tools and operations a client has, and what they need
    ///
    /// Examples:
    ///   bailiwick client tools
    ///   bailiwick client tools --token laptop
    #[command(verbatim_doc_comment)]
    Tools(ToolsArgs),
    /// Print what `client add` would write, to paste it by hand
    ///
    /// Examples:
    ///   bailiwick client print generic
    ///   bailiwick client print codex --http
    #[command(verbatim_doc_comment)]
    Print(PrintArgs),
    /// Take Bailiwick out of the settings of clients
    ///
    /// Takes out what `client add` put in, and nothing else. A file that was not touched since is
    /// put back to the byte.
    ///
    /// Examples:
    ///   bailiwick client remove claude-code --dry-run
    ///   bailiwick client remove --all --yes
    #[command(verbatim_doc_comment)]
    Remove(RemoveArgs),
    /// Put a settings file back as it was before `client add` or `client remove`
    ///
    /// Only if nobody has changed it since. Without an id: the last change.
    ///
    /// Examples:
    ///   bailiwick client undo --dry-run
    #[command(verbatim_doc_comment)]
    Undo(UndoArgs),
    /// Check from outside whether a client can use a URL, hop by hop
    ///
    /// Tries what a client does: name, connection, certificate, the refusal without a token, the metadata of the login,
    /// a registration; with a token also the MCP handshake, the tools and a call. Says of the hop that fails what to change.
    /// `HTTPS_PROXY` is honoured.
    ///
    /// Examples:
    ///   bailiwick client check http://127.0.0.1:3939/mcp --token "$BAILIWICK_TOKEN"
    #[command(verbatim_doc_comment)]
    Check(CheckArgs),
    /// Make a bundle (.mcpb) that Claude Desktop and others install by a click
    ///
    /// The bundle holds this very program. With --server-json it also writes the entry for the MCP
    /// registry, which names the place that you will publish the bundle at.
    ///
    /// Examples:
    ///   bailiwick client mcpb
    ///   bailiwick client mcpb --out bailiwick.mcpb --server-json server.json \
    ///     --registry-name io.github.example/bailiwick --url https://example.org/bailiwick.mcpb
    #[command(hide = true, verbatim_doc_comment)]
    Mcpb(McpbArgs),
}

/// How Bailiwick is in a client's settings: flags of several commands.
#[derive(Debug, Clone, Default, Args)]
pub struct HowArgs {
    /// Let the client use only this scope; repeat for more. Makes a token of the client's name for it
    #[arg(long, value_name = "ID", conflicts_with = "caller")]
    pub scope: Vec<String>,
    /// Give the client the rights of this token (`bailiwick token list`)
    #[arg(long = "token", alias = "caller", value_name = "NAME")]
    pub caller: Option<String>,
    /// Connect over HTTP to `bailiwick serve`, with the token in the variable BAILIWICK_TOKEN
    #[arg(long)]
    pub http: bool,
    /// Where in which file it stands.
    #[command(flatten)]
    pub place: PlaceArgs,
}

/// Which settings, and the entry's name there: flags of several commands.
#[derive(Debug, Clone, Default, Args)]
pub struct PlaceArgs {
    /// The settings of this project, instead of yours for all projects
    #[arg(long, value_name = "FOLDER", conflicts_with = "settings")]
    pub project: Option<PathBuf>,
    /// This settings file, instead of the usual one
    #[arg(long, value_name = "FILE")]
    pub settings: Option<PathBuf>,
    /// The entry's name
    #[arg(long, value_name = "NAME", default_value = "bailiwick", value_parser = entry_name)]
    pub name: String,
}

/// `client list`.
#[derive(Debug, Args)]
pub struct ListArgs {
    /// Look into the settings of this project too
    #[arg(long, value_name = "FOLDER")]
    pub project: Option<PathBuf>,
    /// List what was changed and can be undone, instead of the clients
    #[arg(long)]
    pub changes: bool,
}

/// `client add`.
#[derive(Debug, Args)]
pub struct InstallArgs {
    /// The clients
    #[arg(value_enum, required_unless_present = "all", value_name = "CLIENT")]
    pub clients: Vec<ClientKind>,
    /// All clients that are on this computer
    #[arg(long, conflicts_with_all = ["clients", "settings"])]
    pub all: bool,
    /// How it is in the settings.
    #[command(flatten)]
    pub how: HowArgs,
    /// Whether it is asked about.
    #[command(flatten)]
    pub confirm: ConfirmArgs,
}

/// `client print`.
#[derive(Debug, Args)]
pub struct PrintArgs {
    /// The client
    #[arg(value_enum, value_name = "CLIENT")]
    pub client: ClientKind,
    /// How it is in the settings.
    #[command(flatten)]
    pub how: HowArgs,
}

/// `client remove`.
#[derive(Debug, Args)]
pub struct RemoveArgs {
    /// The clients
    #[arg(value_enum, required_unless_present = "all", value_name = "CLIENT")]
    pub clients: Vec<ClientKind>,
    /// All clients that Bailiwick is in
    #[arg(long, conflicts_with_all = ["clients", "settings"])]
    pub all: bool,
    /// Where it stands.
    #[command(flatten)]
    pub place: PlaceArgs,
    /// Whether it is asked about.
    #[command(flatten)]
    pub confirm: ConfirmArgs,
}

/// `client undo`.
#[derive(Debug, Args)]
pub struct UndoArgs {
    /// The change, as `client list --changes` names it
    pub change: Option<String>,
    /// Whether it is asked about.
    #[command(flatten)]
    pub confirm: ConfirmArgs,
}

/// `client check`.
#[derive(Debug, Args)]
pub struct CheckArgs {
    /// The URL of the MCP endpoint; without a path, `/mcp`
    pub url: String,
    /// A token, to try a call too: it is sent to this URL
    #[arg(long, value_name = "TOKEN")]
    pub token: Option<String>,
}

/// The system that a bundle is for, by the names that bundles have for them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum BundlePlatform {
    /// Linux
    Linux,
    /// macOS
    Darwin,
}

/// `client mcpb`.
#[derive(Debug, Args)]
pub struct McpbArgs {
    /// Where to write it; default bailiwick-VERSION.mcpb here
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Put this program into it, built for --platform, instead of the running one
    #[arg(long, value_name = "FILE", requires = "platform")]
    pub binary: Option<PathBuf>,
    /// The system that --binary is for
    #[arg(long, value_enum, requires = "binary")]
    pub platform: Option<BundlePlatform>,
    /// Write the entry for the MCP registry into this file too
    #[arg(long, value_name = "FILE", requires_all = ["registry_name", "url"])]
    pub server_json: Option<PathBuf>,
    /// The name in the registry: a domain of yours backwards, a slash, a name
    #[arg(long, value_name = "NAME", requires = "server_json")]
    pub registry_name: Option<String>,
    /// Where the bundle will be published
    #[arg(long, value_name = "URL", requires = "server_json")]
    pub url: Option<String>,
}

/// The flags of `setup` that deal with clients.
#[derive(Debug, Clone, Default, Args)]
pub struct ClientsAtSetup {
    /// Connect this client too; repeat for more
    #[arg(long, value_enum, value_name = "CLIENT", conflicts_with = "no_clients")]
    pub client: Vec<ClientKind>,
    /// Do not offer to connect clients
    #[arg(long)]
    pub no_clients: bool,
}

impl HowArgs {
    /// Returns what the flags choose.
    pub fn choice(&self) -> EntryOptions {
        let Self { scope, caller, http, place } = self;
        EntryOptions { scope: scope.clone(), caller: caller.clone(), http: *http, place: place.choice() }
    }
}

impl PlaceArgs {
    /// Returns what the flags choose.
    pub fn choice(&self) -> SettingsChoice {
        SettingsChoice {
            project: self.project.clone(),
            settings: self.settings.clone(),
            name: self.name.clone(),
        }
    }
}

/// Reads the name of an entry: what every client takes as a name, and TOML as a bare key.
fn entry_name(name: &str) -> Result<String, String> {
    let fits = |it: char| it.is_ascii_alphanumeric() || it == '-' || it == '_';
    if (1..=64).contains(&name.len()) && name.chars().all(fits) {
        Ok(name.to_owned())
    } else {
        Err("use letters, digits, `-` and `_`, at most 64 of them".to_owned())
    }
}
