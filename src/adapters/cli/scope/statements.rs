//! What a scope grants and how it is held, in statements: what differs between two scopes is what a change grants
//! and takes.

use serde_json::Value;

use bailiwick_config::ScopeConfig;
use bailiwick_contract::Capability;

use super::super::printer::one_line;
use super::output::Changes;

/// The lists of the policy, each with the words before what it holds.
const LISTS: &[(&str, &str)] = &[
    ("allowedCommands", "runs"),
    ("askCommands", "needs your approval for"),
    ("deniedCommands", "never runs"),
    ("openSensitive", "opens"),
    ("closedFiles", "closes"),
    ("searchPath", "finds programs in"),
    ("readPaths", "lets commands read"),
    ("allowedEnvironment", "lets clients set the variable"),
    ("deniedWindows", "never shows windows"),
    ("openSensitiveWindows", "shows windows"),
];

/// A statement, and what belongs to it without being shown.
type Statement = (String, String);

/// Returns what holds of one scope and not of the other, and the other way round.
pub fn difference(before: Option<&ScopeConfig>, after: Option<&ScopeConfig>) -> Changes {
    let (before, after) = (before.map(statements), after.map(statements));
    let (before, after) = (before.unwrap_or_default(), after.unwrap_or_default());
    let only = |one: &[Statement], other: &[Statement]| {
        one.iter().filter(|it| !other.contains(it)).map(|(said, _)| said.clone()).collect()
    };
    Changes { removed: only(&before, &after), added: only(&after, &before) }
}

/// Prints a difference, as `git diff` would.
pub fn diff_text(changes: &Changes) -> String {
    let lines = |mark: char, list: &[String]| -> String {
        list.iter().map(|said| format!("{mark} {}\n", one_line(said))).collect()
    };
    lines('-', &changes.removed) + &lines('+', &changes.added)
}

fn statements(scope: &ScopeConfig) -> Vec<Statement> {
    let mut all: Vec<Statement> = Vec::new();
    let mut say = |said: String| all.push((said, String::new()));
    if let Some(name) = &scope.name {
        say(format!("is called {name}"));
    }
    scope.roots.iter().for_each(|root| say(format!("opens the folder {}", root.display())));
    for capability in Capability::ALL {
        let said = if scope.deny.contains(capability) {
            "never lets clients use"
        } else if scope.ask.contains(capability) {
            "needs your approval for"
        } else if scope.capabilities.contains(capability) {
            "grants"
        } else {
            continue;
        };
        say(format!("{said} {capability}"));
    }
    let policy = serde_json::to_value(&scope.policy).expect("a policy has a JSON form");
    for (field, value) in policy.as_object().into_iter().flatten() {
        if field == "environment" {
            for (name, value) in value.as_object().into_iter().flatten() {
                // The value may be a secret: a change of it is seen, not shown.
                all.push((format!("gives commands the variable {name}"), value.to_string()));
            }
            continue;
        }
        if field == "network" && value.is_object() {
            let hosts = value["hosts"].as_array().into_iter().flatten();
            all.extend(hosts.map(|host| (format!("lets commands reach {}", plain(host)), String::new())));
            continue;
        }
        let words = LISTS.iter().find(|(list, _)| list == field).map(|(_, words)| *words);
        match (words, value) {
            (Some(words), Value::Array(items)) => {
                all.extend(items.iter().map(|item| (format!("{words} {}", plain(item)), String::new())));
            }
            _ => all.push((format!("{field} is {}", plain(value)), String::new())),
        }
    }
    all
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn scope(policy: Value, ask: &[&str]) -> ScopeConfig {
        let config =
            json!({"id": "a", "roots": ["/a"], "capabilities": ["fs:read"], "ask": ask, "policy": policy});
        serde_json::from_value(config).expect("a scope")
    }

    #[test]
    fn a_difference_tells_what_is_granted_and_what_is_taken() {
        let before = scope(json!({"allowedCommands": ["npm *"], "environment": {"A": "secret"}}), &[]);
        let after = scope(
            json!({"deniedCommands": ["npm *"], "network": "full", "environment": {"A": "other"}}),
            &["fs:read", "fs:write"],
        );
        let changes = difference(Some(&before), Some(&after));
        assert_eq!(changes.removed, ["grants fs:read", "runs npm *", "gives commands the variable A"]);
        assert_eq!(
            changes.added,
            [
                "needs your approval for fs:read",
                "needs your approval for fs:write",
                "never runs npm *",
                "gives commands the variable A",
                "network is full",
            ]
        );
        assert!(!diff_text(&changes).contains("secret"));
        assert!(difference(Some(&after), Some(&after)).is_empty());
        assert_eq!(difference(None, Some(&before)).added[0], "opens the folder /a");
    }
}
