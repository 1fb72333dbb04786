//! Clear mistakes in the text of `config.json`, and the text without them.
//!
//! Only what can mean one thing alone is fixed; a mistyped name or a missing folder is the user's to decide.

use std::collections::HashSet;
use std::path::{Path, is_separator};

use jsonc_parser::cst::{CstInputValue, CstNode, CstRootNode};
use serde_json::Value;

use bailiwick_config::Config;
use bailiwick_contract::id;
use bailiwick_platform::{machine, paths};

use crate::installation::jsonc;

/// A mistake and the text without it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigFix {
    /// The name of the check.
    pub check: &'static str,
    /// What is wrong.
    pub says: String,
    /// What fixes it.
    pub fix: String,
    /// The whole text, fixed.
    pub after: String,
}

/// Finds the clear mistakes. Each is fixed on its own: after one of them, look again.
pub fn find_fixes(text: &str, user_home: Option<&Path>) -> Vec<ConfigFix> {
    if serde_json::from_str::<serde::de::IgnoredAny>(text).is_err() {
        return plain(text).into_iter().collect();
    }
    let found = [
        legacy(text),
        missing(text, "machineId", "an id of this computer", id::new_id),
        missing(text, "machineName", "this computer's name", machine::host_name),
        same_scope_twice(text),
        same_folder_twice(text),
        user_home.and_then(|user_home| home_folders(text, user_home)),
    ];
    found.into_iter().flatten().collect()
}

/// Comments and commas that JSON does not have.
fn plain(text: &str) -> Option<ConfigFix> {
    let root = jsonc::parse(text).ok()?;
    without_extras(root.children());
    let after = root.to_string();
    serde_json::from_str::<serde::de::IgnoredAny>(&after).ok()?;
    Some(ConfigFix {
        check: "config-plain",
        says: "it has comments or trailing commas, which JSON does not have".to_owned(),
        fix: "Remove them.".to_owned(),
        after,
    })
}

fn without_extras(children: Vec<CstNode>) {
    for child in children {
        if let Some(comment) = child.as_comment() {
            comment.remove();
            continue;
        }
        if let Some(object) = child.as_object() {
            object.set_trailing_commas(jsonc_parser::cst::TrailingCommaMode::Never);
        } else if let Some(array) = child.as_array() {
            array.set_trailing_commas(jsonc_parser::cst::TrailingCommaMode::Never);
        }
        without_extras(child.children());
    }
}

/// Parses a text. What is taken out of it lives only as long as it does.
fn parse(text: &str) -> Option<CstRootNode> {
    jsonc::parse(text).ok()
}

/// The older key `workspaces`.
fn legacy(text: &str) -> Option<ConfigFix> {
    parse(text)?.object_value()?.get("workspaces")?;
    let config = Config::parse(Path::new("config.json"), text.as_bytes()).ok()?;
    Some(ConfigFix {
        check: "config-legacy",
        says: "it has the older key `workspaces`".to_owned(),
        fix: "Write its folders as `scopes`.".to_owned(),
        after: config.text(),
    })
}

fn missing(text: &str, name: &str, what: &str, make: impl FnOnce() -> String) -> Option<ConfigFix> {
    let root = parse(text)?;
    let fields = root.object_value()?;
    let value = || CstInputValue::String(make());
    match fields.get(name) {
        None => {
            fields.insert(0, name, value());
        }
        Some(field) if field.value().is_some_and(|old| old.to_string() == "\"\"") => field.set_value(value()),
        Some(_) => return None,
    }
    Some(ConfigFix {
        check: "config-machine",
        says: format!("`{name}` is missing"),
        fix: format!("Write {what}."),
        after: root.to_string(),
    })
}

fn scopes(root: &CstRootNode) -> Vec<CstNode> {
    let scopes = root.object_value().and_then(|fields| fields.array_value("scopes"));
    scopes.map(|scopes| scopes.elements()).unwrap_or_default()
}

fn same_scope_twice(text: &str) -> Option<ConfigFix> {
    let root = parse(text)?;
    let mut seen: Vec<Value> = Vec::new();
    for scope in scopes(&root) {
        let value: Value = serde_json::from_str(&scope.to_string()).ok()?;
        if seen.contains(&value) {
            let id = value["id"].as_str().unwrap_or("?").to_owned();
            scope.remove();
            return Some(ConfigFix {
                check: "config-scope-twice",
                says: format!("scope `{id}` is there twice, in the same words"),
                fix: "Remove the second one.".to_owned(),
                after: root.to_string(),
            });
        }
        seen.push(value);
    }
    None
}

fn same_folder_twice(text: &str) -> Option<ConfigFix> {
    let root = parse(text)?;
    for scope in scopes(&root) {
        let scope = scope.as_object()?;
        let mut seen = HashSet::new();
        for folder in scope.array_value("roots").map(|roots| roots.elements()).unwrap_or_default() {
            let path = folder.as_string_lit()?.decoded_value().ok()?;
            if !seen.insert(path.trim_end_matches(is_separator).to_owned()) {
                folder.remove();
                return Some(ConfigFix {
                    check: "config-folder-twice",
                    says: format!("a scope names the folder `{path}` twice"),
                    fix: "Remove the second one.".to_owned(),
                    after: root.to_string(),
                });
            }
        }
    }
    None
}

/// `~` at the beginning of a folder, which only shells know.
fn home_folders(text: &str, user_home: &Path) -> Option<ConfigFix> {
    let root = parse(text)?;
    let mut first = None;
    for scope in scopes(&root) {
        let scope = scope.as_object()?;
        for folder in scope.array_value("roots").map(|roots| roots.elements()).unwrap_or_default() {
            let folder = folder.as_string_lit()?;
            let path = folder.decoded_value().ok()?;
            let Some(rest) = path.strip_prefix("~/").filter(|rest| !rest.is_empty()) else { continue };
            let whole = user_home.join(rest);
            first = first.or(Some(format!("`{path}` begins with `~`, which only shells know")));
            folder.set_raw_value(Value::from(whole.to_str()?).to_string());
        }
    }
    Some(ConfigFix {
        check: "config-home",
        says: first?,
        fix: format!("Write the folder's whole path, {}.", paths::EXAMPLE),
        after: root.to_string(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn only(text: &str) -> ConfigFix {
        let mut found = find_fixes(text, Some(Path::new("/home/me")));
        assert_eq!(found.len(), 1, "{text}: {found:?}");
        found.remove(0)
    }

    #[test]
    fn comments_and_trailing_commas_go_and_nothing_else() {
        let text = "// mine\n{\n  \"machineId\": \"m\", /* x */\n  \"machineName\": \"a // b\",\n  \"scopes\": [\n  ],\n}\n";
        let fix = only(text);
        assert_eq!(
            serde_json::from_str::<Value>(&fix.after).expect("JSON"),
            serde_json::json!({"machineId": "m", "machineName": "a // b", "scopes": []})
        );
        assert!(fix.after.contains("  \"machineName\": \"a // b\""), "{}", fix.after);
    }

    #[test]
    fn what_could_mean_more_than_one_thing_is_left_alone() {
        for text in [
            "",
            "{",
            "{'machineId': 'm'}",
            r#"{"machineId":"m" "machineName":"n"}"#,
            r#"{"machineId":"m","machineName":"n","colour":1}"#,
            r#"{"machineId":"m","machineName":"n","scopes":[{"id":"a","roots":["/a"]},{"id":"a","roots":["/b"]}]}"#,
            r#"{"machineId":"m","machineName":"n","scopes":[{"id":"a","roots":["~other/a","~"]}]}"#,
            r#"[1]"#,
        ] {
            assert_eq!(find_fixes(text, Some(Path::new("/home/me"))), [], "{text}");
        }
    }

    #[test]
    fn each_clear_mistake_is_mended_in_its_place() {
        let head = r#""machineId":"m","machineName":"n""#;
        let at_home = Value::from(Path::new("/home/me").join("a b").to_str());
        for (text, after) in [
            (
                format!(r#"{{{head},"scopes":[{{"id":"a","roots":["/a"]}},{{"roots":["/a"],"id":"a"}}]}}"#),
                format!(r#"{{{head},"scopes":[{{"id":"a","roots":["/a"]}}]}}"#),
            ),
            (
                format!(r#"{{{head},"scopes":[{{"id":"a","roots":["/a","/b","/a/"]}}]}}"#),
                format!(r#"{{{head},"scopes":[{{"id":"a","roots":["/a","/b"]}}]}}"#),
            ),
            (
                format!(r#"{{{head},"scopes":[{{"id":"a","roots":["~/a b","/c"]}}]}}"#),
                format!(r#"{{{head},"scopes":[{{"id":"a","roots":[{at_home},"/c"]}}]}}"#),
            ),
        ] {
            assert_eq!(only(&text).after, after);
        }
        let named = only(r#"{"machineId":"m"}"#);
        assert!(named.after.contains("\"machineName\""), "{}", named.after);
        let text = paths::rooted(&format!(r#"{{{head},"workspaces":[{{"id":"b","path":"/b"}}]}}"#));
        let made = only(&text);
        let config = Config::parse(Path::new("config.json"), made.after.as_bytes()).expect("it is valid");
        assert!(config.scopes[0].roots[0].ends_with("b"));
        assert!(!made.after.contains("workspaces"));
    }
}
