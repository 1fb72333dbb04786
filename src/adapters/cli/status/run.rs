//! Finding out how things stand.

use std::time::Duration;

use serde_json::Value;

use bailiwick_contract::{ErrorCode, Failure, Transport};

use super::super::call::backend;
use super::super::exposures::tried;
use super::super::home::Home;
use super::super::printer::Report;
use super::super::running::{RunningNote, count_waiting};
use super::super::runtime;
use super::super::service_facts::service_facts;
use super::clients::LiveClients;
use super::output::{HistoryState, StatusOutput};
use super::text;
use crate::diagnosis::clients::{ConfiguredClients, configured};
use crate::diagnosis::scopes::not_run;
use crate::scope_setup::scope_words::states;

/// How long a service may take to answer.
const TIME: Duration = Duration::from_secs(2);
/// How long a round trip through a public URL may take.
const TRIP_TIME: Duration = Duration::from_secs(5);

/// Returns how things stand. Exits 0 when everything is valid, 18 when something is not.
///
/// # Errors
/// When it is not set up, or config or tokens are broken: with the place and the fix.
pub fn run(home: &Home, details: bool) -> Result<Report, Failure> {
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
    let text = text::text(home, &config, &output, &exposures, &clients.problems, is_silent, details);
    let exit = if has_problem { ErrorCode::ProviderUnavailable.facts().exit_code } else { 0 };
    let json = serde_json::to_value(&output).expect("an output has a JSON form");
    Ok(Report { exit, ..Report::new(text, json) })
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

/// Asks the running service, or one in this process, how it is: whether it is the running one, and what it says.
/// `None` where the running one does not answer in time.
fn ask(home: &Home) -> Result<Option<(bool, Value)>, Failure> {
    let runtime = runtime::small()?;
    let asked = runtime.block_on(async {
        let asked = async {
            let backend = backend(home, Transport::Cli, None).await?;
            let info = service_facts(&backend, &["service", "status", "sandbox"]).await?;
            Ok((backend.is_remote(), info))
        };
        tokio::time::timeout(TIME, asked).await.ok().transpose()
    });
    runtime.shutdown_background();
    asked
}
