//! `config show`: what the config says, without secrets.

use serde_json::{Map, Value, json};

use bailiwick_contract::Failure;
use bailiwick_policy::RootPaths;

use super::super::args::ConfigShowArgs;
use super::super::home::Home;
use super::super::printer::{Report, printable};
use super::output::ShowOutput;
use crate::scope_setup::effective::{Effective, effective};
use crate::scope_setup::scope_words::without_values;

/// Prints the config.
///
/// # Errors
/// When there is none, or it is broken.
pub fn run(home: &Home, args: &ConfigShowArgs) -> Result<Report, Failure> {
    let mut config = home.config()?;
    let known = config.scopes.clone();
    config.scopes.iter_mut().for_each(|scope| *scope = without_values(scope));
    let mut value = serde_json::to_value(&config).expect("a config has a JSON form");
    if args.defaults {
        let paths = RootPaths::new(&known);
        for (scope, shown) in known.iter().zip(value["scopes"].as_array_mut().into_iter().flatten()) {
            fill_in(shown, &effective(home, scope, &paths)?);
        }
    }
    let text = format!("{}\n", printable(&format!("{value:#}")));
    let hides = known.iter().any(|scope| !scope.policy.environment.is_empty());
    let report =
        Report::of(text, &ShowOutput { ok: true, file: home.config_path.clone(), config: value }).verbatim();
    Ok(if hides { report.note("\nValues of environment variables are not shown.") } else { report })
}

/// Adds what holds where a scope says nothing.
fn fill_in(scope: &mut Value, effective: &Effective) {
    let fields = scope.as_object_mut().expect("a scope is an object");
    for name in ["ask", "deny", "roots"] {
        fields.entry(name).or_insert_with(|| json!([]));
    }
    let id = fields["id"].clone();
    fields.entry("name").or_insert(id);
    let Some(policy) = fields.get_mut("policy").and_then(Value::as_object_mut) else { return };
    let mut add = |name: &str, value: Value| {
        policy.entry(name).or_insert(value);
    };
    add("maxRuntimeSeconds", json!(effective.max_runtime_seconds));
    add("maxOutputBytes", json!(effective.max_output_bytes));
    add("refuseHardLinks", json!(false));
    for name in ["openSensitive", "closedFiles", "askFiles", "askOperations", "askFirstUse", "untrustedFiles"]
    {
        add(name, json!([]));
    }
    add("allowDisplays", json!(effective.displays));
    add("allowWindows", json!(effective.windows));
    add("allowProcesses", json!(effective.window_processes));
    let Some(commands) = &effective.commands else { return };
    for name in ["allowedCommands", "askCommands", "deniedCommands", "readPaths", "allowedEnvironment"] {
        add(name, json!([]));
    }
    add("environment", Value::Object(Map::new()));
    add("shell", json!(commands.shell));
    add("searchPath", json!(commands.search_path));
    add("network", json!(commands.network));
    add("sandbox", json!(commands.sandbox));
    add("maxMemoryMegabytes", json!(commands.max_memory_bytes.map(|bytes| bytes >> 20)));
    add("maxJobMemoryMegabytes", json!(commands.max_job_memory_bytes >> 20));
    add("maxProcesses", json!(commands.max_processes));
    add("maxFileMegabytes", json!(commands.max_file_bytes.map(|bytes| bytes >> 20)));
    add("processLifetime", json!(commands.process_lifetime));
    add("maxLiveProcesses", json!(commands.max_live_processes));
    add("maxProcessSeconds", json!(commands.max_process_seconds));
}
