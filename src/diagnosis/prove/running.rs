//! The user's own service, where one runs: greeted as a client would, and nothing is asked of it that leaves a row.

use std::process::Command;

use serde_json::json;

use crate::installation::child::{McpChild, USUAL};
use crate::installation::home::Home;
use crate::installation::limit::Limit;
use crate::installation::running::{RunningNote, is_running};
use crate::installation::steps::{Steps, wrong};
use bailiwick_contract::Failure;

use super::super::service::healthy;

/// Greets the service at its socket and over HTTP.
pub fn running(steps: &mut Steps, home: &Home) {
    steps.group("Your service");
    if !is_running(home) {
        steps.skip("the service", "none runs (`bailiwick serve`; stdio clients need none)");
        return;
    }
    let limit = steps.limit().clone();
    steps.step("at its socket", || greet(home, &limit).map(|saw| ((), saw)));
    match RunningNote::read(&home.dirs) {
        Some(note) => {
            steps.step("over HTTP", || match healthy(&note.url, note.certificate_sha256.as_deref()) {
                Ok(()) => Ok(((), format!("{} answers", note.url))),
                Err(why) => Err(wrong(format!("{} does not answer: {why}", note.url))),
            });
        }
        None => steps.skip("over HTTP", "it left no note of where it listens"),
    }
}

/// Opens a conversation with `bailiwick mcp`, which hands it on to the running service, and has it list the tools.
fn greet(home: &Home, limit: &Limit) -> Result<String, Failure> {
    let program = std::env::current_exe().map_err(|error| wrong(error.to_string()))?;
    let mut command = Command::new(program);
    command.arg("mcp");
    if home.config_is_named {
        command.arg("--config").arg(&home.config_path);
    }
    let mut child = McpChild::spawn(command, limit)?;
    let server = child.initialize("bailiwick-prove", USUAL)?;
    let tools = child.request("tools/list", &json!({}))?;
    let version = server["serverInfo"]["version"].as_str().unwrap_or("?").to_owned();
    let count = tools["tools"].as_array().map_or(0, Vec::len);
    child.end()?;
    Ok(format!("version {version} lists {count} tools"))
}
