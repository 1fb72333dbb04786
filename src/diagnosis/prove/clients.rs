//! The clients on this computer: their settings read, and what they start for Bailiwick started and greeted.
//!
//! Reads alone. Only entries that are Bailiwick's are started.

use std::process::Command;

use serde_json::{Value, json};

use crate::client_settings::look::look as look_at_clients;
use crate::client_settings::output::{ConnectionState, ListedClient};
use crate::installation::child::{McpChild, USUAL};
use crate::installation::home::Home;
use crate::installation::limit::Limit;
use crate::installation::running::{RunningNote, is_running};
use crate::installation::steps::{StepError, Steps, wrong};
use crate::installation::text::one_line;

use super::super::service::healthy;

/// What shows where an installation lies. A client hands on only what its entry sets.
const PLACES: &[&str] = &["BAILIWICK_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"];

/// Looks at every client that is here.
pub fn clients(steps: &mut Steps, home: &Home) {
    steps.group("Your clients");
    let listed = match look_at_clients(home, None) {
        Ok(output) => output.clients,
        Err(failure) => {
            steps.skip("clients", format!("they cannot be compared with your settings: {}", failure.message));
            return;
        }
    };
    let limit = steps.limit().clone();
    let here: Vec<&ListedClient> = listed.iter().filter(|client| client.found.is_some()).collect();
    if here.is_empty() {
        steps.skip("clients", "none is found on this computer");
    }
    for client in here {
        steps.step_or_skip(client.title, || match client.state {
            ConnectionState::Unreadable => {
                Err(StepError::Wrong(wrong(client.problem.clone().unwrap_or_default())))
            }
            ConnectionState::NotConnected => Err(StepError::Skipped(
                "its settings are valid, and Bailiwick is not among its servers".to_owned(),
            )),
            ConnectionState::Foreign => Err(StepError::Skipped(client.problem.clone().unwrap_or_default())),
            ConnectionState::Connected | ConnectionState::Stale | ConnectionState::Broken => {
                match client.entry["command"].as_str() {
                    Some(program) => greet(program, &client.entry, &limit),
                    None => over_http(&client.entry, home),
                }
            }
        });
    }
}

/// Starts what the client would start, in the environment that it would have, and greets it.
fn greet(program: &str, entry: &Value, limit: &Limit) -> Result<((), String), StepError> {
    let mut command = Command::new(program);
    command.args(entry["args"].as_array().into_iter().flatten().filter_map(Value::as_str));
    for name in PLACES {
        command.env_remove(name);
    }
    for (name, value) in entry["env"].as_object().into_iter().flatten() {
        if let Some(value) = value.as_str() {
            command.env(name, value);
        }
    }
    let told = |failure: bailiwick_contract::Failure| {
        StepError::Wrong(wrong(format!("`{}`: {}", one_line(program), failure.message)))
    };
    let mut child = McpChild::spawn(command, limit).map_err(told)?;
    let server = child.initialize("bailiwick-prove", USUAL).map_err(told)?;
    let tools = child.request("tools/list", &json!({})).map_err(told)?;
    let version = server["serverInfo"]["version"].as_str().unwrap_or("?").to_owned();
    let count = tools["tools"].as_array().map_or(0, Vec::len);
    child.end().map_err(told)?;
    Ok(((), format!("what it starts answers: version {}, {count} tools", one_line(&version))))
}

/// Asks whether the address in the entry is served. The token is the client's, and is not looked for.
fn over_http(entry: &Value, home: &Home) -> Result<((), String), StepError> {
    let url = ["url", "serverUrl", "httpUrl"].iter().find_map(|name| entry[*name].as_str());
    let Some(url) = url else {
        return Err(StepError::Wrong(wrong("its entry has neither a command nor an address")));
    };
    let url = one_line(url);
    let certificate = RunningNote::read(&home.dirs).and_then(|note| note.certificate_sha256);
    match healthy(&url, certificate.as_deref()) {
        Ok(()) => Ok(((), format!("it connects to {url}, which answers"))),
        Err(_) if !is_running(home) => {
            Err(StepError::Skipped(format!("it connects to {url}, and no service runs (`bailiwick serve`)")))
        }
        Err(why) => {
            Err(StepError::Wrong(wrong(format!("it connects to {url}, which does not answer: {why}"))))
        }
    }
}
