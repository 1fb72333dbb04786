//! The steps of `try` and `doctor --prove` that run commands, sandboxed as strongly as this computer can.

use std::path::Path;

use serde_json::{Value, json};

use bailiwick_contract::{Containment, ErrorCode, Failure};
use bailiwick_platform::launch::levels;

use crate::installation::child::McpChild;
use crate::installation::steps::{Expect, Steps, wrong};

/// What the throw-away scopes allow.
pub const ALLOWED: &[&str] = &["printf *", "touch *"];

/// Creates the envelope that runs a command.
pub fn run(scope: &str, command: Value) -> Value {
    json!({"scope": scope, "op": "command.run", "input": {"command": command}})
}

/// Runs a command, and looks whether what holds it is what this computer has.
pub fn a_command(steps: &mut Steps, child: &mut McpChild, scope: &str) {
    let envelope = run(scope, json!(["printf", "%s", "held; $HOME"]));
    if unheld().is_some() {
        // Nothing runs unheld unless the user writes so.
        let refusal = Expect::Refusal(ErrorCode::ProviderUnavailable);
        steps.envelope("a command", child, envelope, refusal, |_| Ok(String::new()));
        return;
    }
    steps.envelope("a command", child, envelope, Expect::Success, |data| {
        let (level, network) = (&data["sandbox"]["level"], &data["sandbox"]["network"]);
        if data["stdout"] != "held; $HOME" || data["exitCode"] != 0 {
            return Err(wrong(format!("exit {}, `{}`", data["exitCode"], data["stdout"])));
        }
        if *level != json!(levels().strongest) {
            return Err(wrong(format!("it was held at {level}")));
        }
        Ok(format!("sandboxed at `{}`, network `{}`", text(level), text(network)))
    });
}

/// Returns why no command can be sandboxed here; none if they can.
pub fn unheld() -> Option<String> {
    let levels = levels();
    if levels.strongest >= Containment::Partial {
        return None;
    }
    let why = levels.missing(Containment::Partial).unwrap_or("the system does not say why");
    Some(format!("commands cannot be sandboxed here, and none runs unheld: {why}"))
}

/// Tries to run what no rule allows.
pub fn refused_commands(steps: &mut Steps, child: &mut McpChild, scope: &str) {
    let refusal = Expect::Refusal(ErrorCode::PermissionDenied);
    for (name, command) in [
        ("a command not allowed", json!(["rm", "-rf", "."])),
        ("a shell in a command", json!("printf `touch made`")),
    ] {
        steps.envelope(name, child, run(scope, command), refusal, |_| Ok(String::new()));
    }
}

/// Tries to write outside the scope by a command.
pub fn write_outside(steps: &mut Steps, child: &mut McpChild, scope: &str, outside: &Path) {
    let touch = run(scope, json!(["touch", outside]));
    steps.envelope("a write outside", child, touch, Expect::Success, |data| judge_write(data, outside));
}

fn judge_write(data: &Value, outside: &Path) -> Result<String, Failure> {
    if outside.exists() {
        return Err(wrong("it wrote outside the scope"));
    }
    // The folder is in the temporary folder, and a full sandbox has one of its own, gone with it.
    Ok(format!("nothing was written there: exit {}", data["exitCode"]))
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
