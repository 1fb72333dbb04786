//! What a scope grants and how it is held, in statements: what differs between two scopes is what a change grants
//! and takes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use bailiwick_config::{CommandRule, ScopeConfig};
use bailiwick_contract::Capability;

use super::grants::meaning;
use crate::installation::text::one_line;

/// What a change of a scope grants and takes, a statement each.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Changes {
    /// What held before and does not any more.
    pub removed: Vec<String>,
    /// What did not hold before.
    pub added: Vec<String>,
}

/// The lists of the policy, each with the words before what it holds.
const LISTS: &[(&str, &str)] = &[
    ("allowedCommands", "runs"),
    ("askCommands", "needs your approval for"),
    ("deniedCommands", "never runs"),
    ("askOperations", "needs your approval for the operation"),
    ("askFiles", "needs your approval for the files"),
    ("askFirstUse", "needs your approval for the first use of"),
    ("untrustedFiles", "does not trust the files"),
    ("openSensitive", "opens"),
    ("closedFiles", "closes"),
    ("searchPath", "finds programs in"),
    ("readPaths", "lets commands read"),
    ("allowedEnvironment", "lets clients set the variable"),
    ("deniedWindows", "never shows windows"),
    ("openSensitiveWindows", "shows windows"),
];

/// What `afterUntrusted` means.
const AFTER_UNTRUSTED: &str = "for what can send data, opens sensitive files or changes another scope, for a day after a client \
                               has read the network, the screen or files that are not trusted";

/// How many statements of one kind are printed one by one.
const MAX_ALIKE: usize = 6;

/// What holds of a scope: a verb and what it is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statement {
    verb: String,
    object: String,
    /// What the object means, where it is a capability.
    meaning: Option<&'static str>,
    /// What belongs to it and is not shown.
    hidden: String,
}

impl Statement {
    fn new(verb: impl Into<String>, object: impl Into<String>) -> Self {
        Self { verb: verb.into(), object: object.into(), meaning: None, hidden: String::new() }
    }

    fn text(&self) -> String {
        let meaning = self.meaning.map(|it| format!(" ({it})")).unwrap_or_default();
        one_line(&format!("{} {}{meaning}", self.verb, self.object))
    }
}

/// What a change of a scope grants and takes.
#[derive(Debug, Default)]
pub struct Difference {
    removed: Vec<Statement>,
    added: Vec<Statement>,
}

impl Difference {
    /// Compares a scope as it is and as it is to be.
    pub fn new(before: Option<&ScopeConfig>, after: Option<&ScopeConfig>) -> Self {
        let (before, after) = (before.map(statements), after.map(statements));
        let (before, after) = (before.unwrap_or_default(), after.unwrap_or_default());
        let only = |one: &[Statement], other: &[Statement]| {
            one.iter().filter(|it| !other.contains(it)).cloned().collect()
        };
        Self { removed: only(&before, &after), added: only(&after, &before) }
    }

    /// Returns whether nothing changes.
    pub fn is_empty(&self) -> bool {
        self.removed.is_empty() && self.added.is_empty()
    }

    /// Returns it for `--json`, a statement each.
    pub fn changes(&self) -> Changes {
        let said = |list: &[Statement]| list.iter().map(|it| format!("{} {}", it.verb, it.object)).collect();
        Changes { removed: said(&self.removed), added: said(&self.added) }
    }

    /// Returns its lines, marked as `git diff` would. Of many alike the first are named.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for (mark, list) in [('-', &self.removed), ('+', &self.added)] {
            for alike in list.chunk_by(|one, other| one.verb == other.verb) {
                if alike.len() <= MAX_ALIKE || alike[0].meaning.is_some() {
                    lines.extend(alike.iter().map(|it| format!("{mark} {}", it.text())));
                    continue;
                }
                let objects: Vec<&str> = alike[..MAX_ALIKE].iter().map(|it| it.object.as_str()).collect();
                let named = one_line(&format!("{} {}", alike[0].verb, objects.join(", ")));
                lines.push(format!("{mark} {named} and {} more", alike.len() - MAX_ALIKE));
            }
        }
        lines
    }

    /// Returns [`Difference::lines`] as a text.
    pub fn text(&self) -> String {
        self.lines().iter().map(|line| format!("{line}\n")).collect()
    }
}

fn statements(scope: &ScopeConfig) -> Vec<Statement> {
    let mut all: Vec<Statement> = Vec::new();
    all.extend(scope.name.iter().map(|name| Statement::new("is called", name)));
    all.extend(scope.roots.iter().map(|root| Statement::new("opens the folder", root.display().to_string())));
    for capability in Capability::ALL {
        let verb = if scope.deny.contains(capability) {
            "never lets clients use"
        } else if scope.ask.contains(capability) {
            "needs your approval for"
        } else if scope.capabilities.contains(capability) {
            "grants"
        } else {
            continue;
        };
        let statement = Statement::new(verb, capability.as_str());
        all.push(Statement { meaning: Some(meaning(*capability)), ..statement });
    }
    let policy = serde_json::to_value(&scope.policy).expect("a policy has a JSON form");
    for (field, value) in policy.as_object().into_iter().flatten() {
        if field == "environment" {
            for (name, value) in value.as_object().into_iter().flatten() {
                // The value may be a secret: a change of it is seen, not shown.
                let statement = Statement::new("gives commands the variable", name);
                all.push(Statement { hidden: value.to_string(), ..statement });
            }
            continue;
        }
        if field == "network" && value.is_object() {
            let hosts = value["hosts"].as_array().into_iter().flatten();
            all.extend(hosts.map(|host| Statement::new("lets commands reach", plain(host))));
            if value["otherwise"] == "ask" {
                all.push(Statement::new("needs your approval for other hosts", String::new()));
            }
            continue;
        }
        if field == "afterUntrusted" {
            all.push(Statement::new("needs your approval", AFTER_UNTRUSTED));
            continue;
        }
        if field == "secrets" || field == "secretCommands" {
            let (verb, object) = secret_words(field, value);
            all.push(Statement::new(verb, object));
            continue;
        }
        let verb = LISTS.iter().find(|(list, _)| list == field).map(|(_, words)| *words);
        match (verb, value) {
            (Some(verb), Value::Array(items)) => {
                all.extend(items.iter().map(|item| Statement::new(verb, plain(item))));
            }
            _ => all.push(Statement::new(format!("{field} is"), plain(value))),
        }
    }
    all
}

/// Returns what `secrets` and `secretCommands` mean.
fn secret_words(field: &str, value: &Value) -> (&'static str, &'static str) {
    match (field, value.as_str()) {
        ("secretCommands", _) => ("gives commands", "secrets by their handles, without your approval"),
        (_, Some("handles")) => ("shows clients", "handles in the place of secrets"),
        _ => ("shows clients", "marks in the place of secrets"),
    }
}

fn plain(value: &Value) -> String {
    if let Ok(rule) = CommandRule::deserialize(value) {
        return rule.spelled();
    }
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
        let difference = Difference::new(Some(&before), Some(&after));
        let changes = difference.changes();
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
        assert!(!difference.text().contains("secret"));
        assert!(Difference::new(Some(&after), Some(&after)).is_empty());
        assert_eq!(Difference::new(None, Some(&before)).changes().added[0], "opens the folder /a");
    }

    #[test]
    fn grants_are_shown_with_what_they_mean_and_of_many_rules_the_first() {
        let before = scope(json!({"maxRuntimeSeconds": 60}), &[]);
        let rules = ["npm *", "a *", "b *", "c *", "d *", "e *", "f *", "g *"];
        let after = scope(json!({"maxRuntimeSeconds": 90, "allowedCommands": rules}), &["fs:write"]);
        assert_eq!(
            Difference::new(Some(&before), Some(&after)).lines(),
            [
                "- maxRuntimeSeconds is 60",
                "+ needs your approval for fs:write (create, change, move and delete files)",
                "+ runs npm *, a *, b *, c *, d *, e * and 2 more",
                "+ maxRuntimeSeconds is 90",
            ]
        );
    }
}
