//! How things stand: whether clients can work, and if not, exactly what to do next.

use std::path::PathBuf;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use bailiwick_config::{Config, Exposure};
use bailiwick_contract::Failure;

use super::clients::{ConfiguredClients, configured};
use super::live_clients::LiveClients;
use super::scopes::not_run;
use crate::installation::home::Home;
use crate::installation::running::{RunningNote, count_waiting};
use crate::public_urls::exposures::{TriedExposure, tried};
use crate::scope_setup::scope_words::{ScopeState, states};

/// How long a round trip through a public URL may take.
const TRIP_TIME: Duration = Duration::from_secs(5);

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

/// What a service says of itself: whether it is the running one, and what it says. `None` where the running one does not answer
/// in time.
pub type ServiceWords = Option<(bool, Value)>;

/// The status, with what the user reads beside it.
pub struct Situation {
    /// The config.
    pub config: Config,
    /// What a program gets.
    pub output: StatusOutput,
    /// The public URLs, each just tried.
    pub exposures: Vec<TriedExposure>,
    /// What is wrong with the settings of clients.
    pub wrong_clients: Vec<String>,
    /// Whether a service runs and does not answer.
    pub is_silent: bool,
}

impl Situation {
    /// Finds out how things stand.
    ///
    /// # Errors
    /// When it is not set up, or config or tokens are broken: with the place and the fix.
    pub fn of(home: &Home, ask: fn(&Home) -> Result<ServiceWords, Failure>) -> Result<Self, Failure> {
        let config = home.config()?;
        let tokens = home.tokens()?.records().len();
        let scopes = states(home, &config);
        let asked = ask(home)?;
        let is_silent = asked.is_none();
        let (is_remote, mut info) = asked.unwrap_or((true, Value::Null));
        let history: HistoryState = match info["status"]["history"].take() {
            Value::Null => HistoryState::default(),
            history => serde_json::from_value(history).unwrap_or_default(),
        };
        let note = if is_remote { RunningNote::read(&home.dirs) } else { None };
        let waiting = count_waiting(home);
        let clients = configured(home, &config);
        let has_problem = is_silent || !history.ok || scopes.iter().any(|scope| scope.problem.is_some());
        let exposures = tried(home, &config, TRIP_TIME);
        let mut output = StatusOutput {
            ok: !has_problem,
            ready: !has_problem && !scopes.is_empty(),
            next: Vec::new(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            machine_id: config.machine_id.clone(),
            machine_name: config.machine_name.clone(),
            running: is_remote && !is_silent,
            service: note,
            exposures: exposures.iter().map(|tried| tried.exposure.clone()).collect(),
            started_at: info["service"]["startedAt"].as_str().filter(|_| is_remote).map(str::to_owned),
            config: home.config_path.clone(),
            state: home.dirs.state.clone(),
            scopes,
            warnings: config
                .scopes
                .iter()
                .filter_map(not_run)
                .map(|(says, fix)| format!("{says}. {fix}"))
                .collect(),
            live: LiveClients::look(home, is_remote && !is_silent),
            clients: clients.here.iter().map(|it| (*it).to_owned()).collect(),
            wrong_clients: clients.wrong.iter().map(|it| (*it).to_owned()).collect(),
            tokens,
            waiting,
            history,
            commands: info["sandbox"].take(),
        };
        output.next = next(&output, &clients, is_silent);
        Ok(Self { config, output, exposures, wrong_clients: clients.problems, is_silent })
    }
}

/// Returns what to do, the most urgent first.
fn next(output: &StatusOutput, clients: &ConfiguredClients, is_silent: bool) -> Vec<String> {
    let mut next = Vec::new();
    if is_silent {
        let process =
            output.service.as_ref().map_or_else(String::new, |note| format!(" {}", note.process_id));
        next.push(format!("End the service's process{process}, and run `bailiwick serve` again."));
    }
    if !is_silent && !output.history.ok || output.scopes.iter().any(|scope| scope.problem.is_some()) {
        next.push("Run `bailiwick doctor`: it says what to do.".to_owned());
    }
    if output.scopes.is_empty() {
        next.push("Open a folder: `bailiwick setup FOLDER`.".to_owned());
    }
    if output.waiting > 0 {
        next.push("Answer what waits for you: `bailiwick approve`.".to_owned());
    }
    if !output.scopes.is_empty() && clients.here.is_empty() && clients.wrong.is_empty() {
        next.push(if clients.missing.is_empty() {
            "Connect a client: `bailiwick client connect` shows how.".to_owned()
        } else {
            format!("Connect a client: `bailiwick client add {}`.", clients.missing.join(" "))
        });
    }
    next
}
