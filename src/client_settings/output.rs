//! What is known and done of clients' settings, as `client …` prints it with `--json`.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::kind::ClientKind;
use super::record::{Action, Change};

/// Where Bailiwick is in a client's settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ConnectionState {
    /// It is there and right.
    Connected,
    /// It is there and not as `client add` would write it now.
    Stale,
    /// The program that it starts is not there.
    Broken,
    /// It is not there.
    NotConnected,
    /// Another server has the name.
    Foreign,
    /// The settings cannot be read.
    Unreadable,
}

/// One settings file of a client.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ListedClient {
    /// The client.
    pub client: ClientKind,
    /// Its name for people.
    pub title: &'static str,
    /// By what it is seen to be on this computer: its program, its settings, or its folder.
    pub found: Option<PathBuf>,
    /// The settings file.
    pub settings: PathBuf,
    /// Whether the settings are a project's.
    pub of_project: bool,
    /// The entry's name.
    pub name: String,
    /// Where Bailiwick is there.
    pub state: ConnectionState,
    /// What is not right.
    pub problem: Option<String>,
    /// The command that makes it right.
    pub fix: Option<String>,
    /// What is there, for doctor; null where nothing does. It may hold secrets, and is not printed.
    #[serde(skip)]
    pub entry: Value,
}

/// `client list`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ListOutput {
    /// Always true.
    pub ok: bool,
    /// The clients, found or not.
    pub clients: Vec<ListedClient>,
}

/// A change that is listed.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ListedChange {
    /// The change.
    #[serde(flatten)]
    pub change: Change,
    /// Where the file as it was is kept; null if there was none.
    pub backup: Option<PathBuf>,
}

/// `client list --changes`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ChangesOutput {
    /// Always true.
    pub ok: bool,
    /// The changes, newest first.
    pub changes: Vec<ListedChange>,
}

/// How the edit of a file ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum EditResult {
    /// It was written.
    Written,
    /// It would be written without `--dry-run`.
    WouldWrite,
    /// There was nothing to change.
    Nothing,
    /// The user said no.
    Declined,
    /// It could not be done.
    Failed,
}

/// The edit of a file.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EditView {
    /// The client.
    pub client: ClientKind,
    /// The entry's name.
    pub name: String,
    /// The settings file; null where none was found.
    pub file: Option<PathBuf>,
    /// What was to be done.
    pub action: Action,
    /// How it ended.
    pub result: EditResult,
    /// What changes in the file; values beside it that look secret are masked.
    pub diff: String,
    /// The id by which `client undo` knows the change.
    pub change: Option<String>,
    /// What stood in the way.
    pub problem: Option<String>,
    /// What is worth knowing, such as what has to be done now.
    pub notes: Vec<String>,
}

/// A token that was made for a client.
#[derive(Debug, Serialize, JsonSchema)]
pub struct MadeToken {
    /// Its name.
    pub name: String,
    /// Its value, shown this once; null where the client does not need it.
    pub secret: Option<String>,
}

/// `client add`, `client remove` and `client undo`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EditOutput {
    /// Whether everything was done that was asked for.
    pub ok: bool,
    /// Whether nothing was to be written.
    pub dry_run: bool,
    /// The files, one by one.
    pub edits: Vec<EditView>,
    /// Tokens that were made.
    pub tokens: Vec<MadeToken>,
}

/// The language of a snippet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SnippetFormat {
    /// JSON.
    Json,
    /// TOML.
    Toml,
    /// YAML.
    Yaml,
}

/// `client print`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PrintOutput {
    /// Always true.
    pub ok: bool,
    /// The client.
    pub client: ClientKind,
    /// The file that it belongs into; null where that is not known.
    pub settings: Option<PathBuf>,
    /// Its language.
    pub format: SnippetFormat,
    /// The text.
    pub snippet: String,
    /// What is worth knowing.
    pub notes: Vec<String>,
}

/// `client mcpb`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BundleOutput {
    /// Always true.
    pub ok: bool,
    /// The bundle.
    pub file: PathBuf,
    /// Its size in bytes.
    pub bytes: u64,
    /// Its SHA-256.
    pub sha256: String,
    /// The system that it is for.
    pub platform: String,
    /// The entry for the MCP registry; null unless asked for.
    pub server_json: Option<PathBuf>,
}
