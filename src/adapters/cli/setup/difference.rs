//! What a change of a scope means, as lines that begin with `-` and `+`, in words where there are words for it.
//!
//! Values of variables are never shown: people keep secrets there.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use bailiwick_config::{ScopeConfig, ScopePolicy};
use bailiwick_contract::Capability;

use super::super::open_folder::meaning;

/// How many entries of a list are told one by one.
const MAX_ENTRIES: usize = 6;

/// Returns what differs between a scope as it is and as it is to be.
pub fn difference(before: &ScopeConfig, after: &ScopeConfig) -> Vec<String> {
    let mut lines = Vec::new();
    let mut differ = |name: &str, before: Option<String>, after: Option<String>| {
        if before != after {
            lines.extend(before.map(|text| format!("- {name}{text}")));
            lines.extend(after.map(|text| format!("+ {name}{text}")));
        }
    };
    for capability in Capability::ALL {
        differ("", granted(before, *capability), granted(after, *capability));
    }
    differ("name: ", before.name.clone(), after.name.clone());
    let roots = |scope: &ScopeConfig| {
        let roots = scope.roots.iter().map(|root| Value::from(root.display().to_string()));
        Value::from(roots.collect::<Vec<_>>())
    };
    entries("folders", &roots(before), &roots(after), &mut lines);
    let (before, after) = (settings(&before.policy), settings(&after.policy));
    let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    for name in names {
        let of = |settings: &Map<String, Value>| settings.get(name).cloned().unwrap_or(Value::Null);
        setting(name, &of(&before), &of(&after), &mut lines);
    }
    lines
}

/// Says a grant in words; `None` where there is none.
fn granted(scope: &ScopeConfig, capability: Capability) -> Option<String> {
    if scope.deny.contains(&capability) {
        return None;
    }
    let asks = scope.ask.contains(&capability);
    (asks || scope.capabilities.contains(&capability)).then(|| {
        let asks = if asks { "; needs your approval" } else { "" };
        format!("{} ({capability}{asks})", meaning(capability))
    })
}

fn settings(policy: &ScopePolicy) -> Map<String, Value> {
    match serde_json::to_value(policy) {
        Ok(Value::Object(settings)) => settings,
        _ => Map::new(),
    }
}

fn setting(name: &str, before: &Value, after: &Value, lines: &mut Vec<String>) {
    let names = |value: &Value| {
        let names = value.as_object().into_iter().flat_map(Map::keys);
        Value::from(names.map(|name| Value::from(name.as_str())).collect::<Vec<_>>())
    };
    match (before, after) {
        _ if before == after => {}
        (Value::Object(_), _) | (_, Value::Object(_)) if names(before) == names(after) => {
            lines.push(format!("+ {name}: other values"));
        }
        (Value::Object(_), _) | (_, Value::Object(_)) => entries(name, &names(before), &names(after), lines),
        (Value::Array(_), _) | (_, Value::Array(_)) => entries(name, before, after, lines),
        _ => {
            for (sign, value) in [('-', before), ('+', after)] {
                if !value.is_null() {
                    lines.push(format!("{sign} {name}: {}", word(value)));
                }
            }
        }
    }
}

/// Tells which entries of a list go and which come.
fn entries(name: &str, before: &Value, after: &Value, lines: &mut Vec<String>) {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let (before, after) = (list(before), list(after));
    for (sign, of, but) in [('-', &before, &after), ('+', &after, &before)] {
        let found: Vec<String> = of.iter().filter(|it| !but.contains(it)).map(word).collect();
        let shown = found[..found.len().min(MAX_ENTRIES)].join(", ");
        match found.len() {
            0 => {}
            count if count > MAX_ENTRIES => {
                lines.push(format!("{sign} {name}: {shown} and {} more", count - MAX_ENTRIES));
            }
            _ => lines.push(format!("{sign} {name}: {shown}")),
        }
    }
}

fn word(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn scope(value: Value) -> ScopeConfig {
        serde_json::from_value(value).expect("a scope")
    }

    #[test]
    fn what_comes_and_goes_is_told_and_nothing_else() {
        let before = scope(json!({
            "id": "app", "roots": ["/app"], "capabilities": ["fs:read", "command:run"],
            "policy": {"maxRuntimeSeconds": 60, "allowedCommands": ["npm *"], "environment": {"A": "secret"}},
        }));
        assert!(difference(&before, &before).is_empty());
        let after = scope(json!({
            "id": "app", "roots": ["/app"], "capabilities": ["fs:read", "fs:write"], "ask": ["git:write"],
            "policy": {
                "maxRuntimeSeconds": 90,
                "allowedCommands": ["npm *", "a *", "b *", "c *", "d *", "e *", "f *", "g *"],
                "environment": {"A": "other"},
            },
        }));
        let expected = [
            "+ create, change, move and delete files (fs:write)",
            "+ stage and commit (git:write; needs your approval)",
            "- run commands (command:run)",
            "+ allowedCommands: a *, b *, c *, d *, e *, f * and 1 more",
            "+ environment: other values",
            "- maxRuntimeSeconds: 60",
            "+ maxRuntimeSeconds: 90",
        ];
        assert_eq!(difference(&before, &after), expected);
    }
}
