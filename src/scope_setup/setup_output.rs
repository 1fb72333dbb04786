//! What setting up did, as `setup` and `here` print it with `--json`.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use bailiwick_contract::Capability;

/// What became of the folder's scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ChangeWord {
    /// It was added.
    Added,
    /// It was there, and was changed.
    Changed,
    /// It was there as it is to be.
    Nothing,
}

/// The folder's scope.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ScopeOutput {
    /// Its id.
    pub id: String,
    /// Its folders.
    pub roots: Vec<PathBuf>,
    /// What is granted.
    pub capabilities: Vec<Capability>,
    /// What is set to `ask`: each request needs approval.
    pub ask: Vec<Capability>,
    /// What is denied, whatever else is granted.
    pub deny: Vec<Capability>,
}

/// `setup` and `here`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SetupOutput {
    /// Whether everything was done; a client that could not be connected makes it false.
    pub ok: bool,
    /// Whether everything was as it is to be already.
    pub nothing_to_change: bool,
    /// The config file.
    pub config: PathBuf,
    /// The computer's id.
    pub machine_id: String,
    /// The computer's name.
    pub machine_name: String,
    /// The folder's scope; null where no folder was named.
    pub scope: Option<ScopeOutput>,
    /// What became of the scope; null where no folder was named.
    pub change: Option<ChangeWord>,
    /// What changed in a scope that was there, as lines that begin with `-` or `+`.
    pub difference: Vec<String>,
    /// How clients connect, by hand: `stdio` and `http`.
    pub connect: Value,
    /// What became of the clients, as `client add` prints it; absent where none was to be connected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clients: Option<Value>,
}
