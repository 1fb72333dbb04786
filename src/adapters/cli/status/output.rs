//! What `status` prints with `--json`, and its schema.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use bailiwick_config::Exposure;

use super::super::running::RunningNote;
use super::clients::LiveClients;
use crate::scope_setup::scope_words::ScopeState;

/// How the history is.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct HistoryState {
    /// Whether it can be written.
    pub ok: bool,
    /// The number of its newest row.
    pub head_seq: i64,
    /// The hash of its newest row.
    pub head_hash: String,
    /// What is wrong with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    /// What is worth knowing about it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<String>,
}

/// `status`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StatusOutput {
    /// Whether nothing is wrong.
    pub ok: bool,
    /// Whether clients can work: nothing is wrong, and a scope is open.
    pub ready: bool,
    /// What to do, the most urgent first; empty if there is nothing.
    pub next: Vec<String>,
    /// The version of this program.
    pub version: String,
    /// The computer's id.
    pub machine_id: String,
    /// The computer's name.
    pub machine_name: String,
    /// Whether a service runs and answers.
    pub running: bool,
    /// Where it serves; null where none runs.
    pub service: Option<RunningNote>,
    /// The URLs by which clients elsewhere reach this computer, each just tried.
    pub exposures: Vec<Exposure>,
    /// When it was started, in RFC 3339; null where none runs.
    pub started_at: Option<String>,
    /// The config file.
    pub config: PathBuf,
    /// The folder of the state.
    pub state: PathBuf,
    /// The scopes.
    pub scopes: Vec<ScopeState>,
    /// What is granted and does not run, since this computer lacks the sandbox for it.
    pub warnings: Vec<String>,
    /// The clients that are served at the moment.
    pub live: LiveClients,
    /// The clients whose settings lead to this Bailiwick, by id. Whether one runs is said in `live`.
    pub clients: Vec<String>,
    /// The clients whose settings for Bailiwick are wrong or lead to another one, by id.
    pub wrong_clients: Vec<String>,
    /// How many tokens there are.
    pub tokens: usize,
    /// How many secrets and approvals clients ask the user for.
    pub waiting: usize,
    /// How the history is.
    pub history: HistoryState,
    /// How strongly commands can be sandboxed here: `strongest`, and each level with why it is not available.
    pub commands: Value,
}
