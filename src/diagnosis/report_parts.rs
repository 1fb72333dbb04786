//! The parts of a report: what each file holds.

use std::env;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use bailiwick_config::{Config, Tokens};
use bailiwick_contract::time;
use bailiwick_history::Filter;
use bailiwick_platform::launch::levels;
use bailiwick_platform::machine;
use bailiwick_platform::system::system;

use super::look;
use super::service::AskService;
use crate::installation::home::Home;
use crate::installation::processes::{listed, processes_of};
use crate::installation::running::RunningNote;
use crate::past_requests::output::EntryOutput;

/// How many operations of the history go along.
const OPERATIONS: usize = 300;

/// One file of the bundle.
pub struct Part {
    /// Its name there.
    pub name: &'static str,
    /// What it holds, in words.
    pub holds: &'static str,
    /// What was left out of it.
    pub left_out: &'static [&'static str],
    /// What it says, before it is redacted.
    pub content: Value,
}

/// Gathers all parts. What cannot be read is said in its place.
pub fn gather(home: &Home, ask: AskService) -> Vec<Part> {
    vec![
        Part {
            name: "versions.json",
            holds: "versions of Bailiwick and the system, how commands can be sandboxed",
            left_out: &[],
            content: versions(),
        },
        Part {
            name: "config.json",
            holds: "the config",
            left_out: &["values of environment variables for commands", "the computer's id"],
            content: config(home),
        },
        Part {
            name: "tokens.json",
            holds: "what each token may use, and when it expires",
            left_out: &["the tokens' hashes and ids"],
            content: tokens(home),
        },
        Part {
            name: "doctor.json",
            holds: "what `bailiwick doctor` found",
            left_out: &["what repairs would change"],
            content: look::found(home, ask),
        },
        Part {
            name: "history.json",
            holds: "the newest operations, as the history keeps them",
            left_out: &["older operations", "content of files and images, which the history never holds"],
            content: newest(home),
        },
        Part {
            name: "processes.json",
            holds: "the processes that were started, and how they ended",
            left_out: &["what they printed"],
            content: json!(listed(&processes_of(home))),
        },
        Part {
            name: "service.json",
            holds: "where the running service says that it listens",
            left_out: &[],
            content: service(home),
        },
    ]
}

fn versions() -> Value {
    let levels = levels();
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    json!({
        "bailiwick": env!("CARGO_PKG_VERSION"),
        "os": env::consts::OS,
        "architecture": env::consts::ARCH,
        "system": system(),
        "kernel": release.trim(),
        "isRoot": machine::user_id() == 0,
        "sandbox": {
            "strongest": levels.strongest,
            "fullMissing": levels.full_missing,
            "partialMissing": levels.partial_missing,
            "landlockAbi": levels.landlock_abi,
        },
    })
}

fn config(home: &Home) -> Value {
    let config = match Config::load(&home.config_path) {
        Ok(config) => config,
        // The words of a broken file are not given: nobody knows what they are.
        Err(error) => return json!({"broken": true, "place": error.place, "fix": error.fix}),
    };
    let mut value = serde_json::to_value(config).expect("a config has a JSON form");
    value["machineId"] = json!("[left out]");
    for scope in value["scopes"].as_array_mut().into_iter().flatten() {
        for item in scope["policy"]["environment"].as_object_mut().into_iter().flatten() {
            *item.1 = json!("[left out]");
        }
    }
    value
}

fn tokens(home: &Home) -> Value {
    let tokens = match Tokens::load(&home.dirs) {
        Ok(tokens) => tokens,
        Err(error) => return json!({"broken": true, "place": error.place, "fix": error.fix}),
    };
    let tokens = tokens.records().iter().map(|token| {
        json!({
            "name": token.name,
            "scopes": token.scopes,
            "capabilities": token.capabilities,
            "createdAt": token.created_at,
            "expiresAt": token.expires_at,
            "isExpired": token.is_expired(time::now_ms()),
            "owner": token.owner,
        })
    });
    json!({"tokens": tokens.collect::<Vec<_>>()})
}

fn newest(home: &Home) -> Value {
    match bailiwick_history::query(&home.dirs.state, &Filter { limit: OPERATIONS, ..Filter::default() }) {
        Ok(page) => json!({
            "operations": page.entries.iter().map(EntryOutput::of).collect::<Vec<_>>(),
            "hasMore": page.next.is_some(),
        }),
        Err(error) => json!({"broken": true, "problem": error.to_string()}),
    }
}

fn service(home: &Home) -> Value {
    json!({"note": RunningNote::read(&home.dirs)})
}

/// Writes `~` for the user's home folder in every text.
pub fn without_home(value: Value, user_home: Option<&Path>) -> Value {
    match user_home.and_then(Path::to_str).filter(|path| path.len() > 1) {
        Some(user_home) => with_tilde(value, user_home),
        None => value,
    }
}

fn with_tilde(value: Value, user_home: &str) -> Value {
    match value {
        Value::String(text) => Value::String(text.replace(user_home, "~")),
        Value::Array(items) => items.into_iter().map(|item| with_tilde(item, user_home)).collect(),
        Value::Object(fields) => fields
            .into_iter()
            .map(|(name, item)| (name.replace(user_home, "~"), with_tilde(item, user_home)))
            .collect(),
        other => other,
    }
}
