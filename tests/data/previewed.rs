//! Commands that need approval: what their preview shows is what they do once they are approved. `tests/undo/commands.txt` has
//! the commands.

use std::collections::BTreeMap;
use std::path::PathBuf;

use libtest_mimic::Trial;
use serde_json::{Value, json};
use support::needs::lacks_full_sandbox;
use support::patience::eventually;
use support::scope::TestScope;
use support::service::{TestService, call, data};

use crate::trials::Wanted;
use crate::undone::{Facts, all_below, commands, make_folder};

/// The trials: each command.
pub fn trials(_: &Wanted) -> Vec<Trial> {
    let mut trials = trials![there_are_thirty_commands];
    trials.extend(each![the_preview_of_a_command_shows_what_it_does; previewed()]);
    trials
}

/// Reads the commands. Git's are left out: what it keeps of the times of files differs from run to run.
fn previewed() -> Vec<(String, String)> {
    commands().into_iter().filter(|(_, script)| !script.contains("git")).collect()
}

fn there_are_thirty_commands() {
    assert!(previewed().len() >= 30, "{}", previewed().len());
}

/// Starts a service whose scope runs any program once it is approved.
fn host() -> TestService {
    let policy = json!({"sandbox": "full", "shell": "sandboxed", "network": "none"});
    let scope = TestScope::new().with_capabilities(&["fs:read", "fs:write", "history:read"]);
    scope.with_field("ask", json!(["command:run"])).with_policy(policy).save().host()
}

fn the_preview_of_a_command_shows_what_it_does(script: &String) {
    if lacks_full_sandbox() {
        return;
    }
    let host = host();
    make_folder(&host.root());
    let before = all_below(&host.root());
    let input = json!({"command": ["bash", "-c", script]});
    let request = || json!({"scope": "app", "op": "command.run", "input": input});
    let asked = call(&host.service, request());
    let id = asked["error"]["details"]["approvalId"].as_str().expect("a ticket").to_owned();
    let mut preview = Value::Null;
    eventually("the preview ends", || {
        let listed = host.cli(&["approve", "--list"]);
        preview = listed["approvals"][0]["preview"].clone();
        preview.is_object() && preview["state"] != "running"
    });
    assert_eq!(preview["state"], "done", "{preview:#}");
    assert!(all_below(&host.root()) == before, "the preview changes nothing");
    host.cli(&["approve", &id, "--once"]);
    let answer = call(&host.service, request());
    assert_eq!(preview["exitCode"], data(&answer)["exitCode"], "{preview:#}");
    let after = all_below(&host.root());
    let actual = changes(&before, &after);
    let count = |change: &str| actual.values().filter(|it| **it == change).count() as u64;
    let shown = |change: &str| preview[change].as_u64().expect("a count");
    let has_names_elsewhere = preview["notes"].to_string().contains("several names");
    for change in ["created", "changed", "removed"] {
        if has_names_elsewhere && change == "changed" {
            assert!(shown(change) <= count(change), "{change}: {preview:#}\n{actual:?}");
        } else {
            assert_eq!(shown(change), count(change), "{change}: {preview:#}\n{actual:?}");
        }
    }
    for path in preview["paths"].as_array().expect("paths") {
        let name = path["path"].as_str().expect("a path").trim_end_matches('/');
        if name.chars().all(|it| it.is_ascii_alphanumeric() || "./_ -".contains(it)) {
            let change = path["change"].as_str().expect("a word");
            assert_eq!(actual.get(&PathBuf::from(name)), Some(&change), "{name}: {actual:?}");
        }
    }
}

/// Returns what has become of each path. What is another kind of thing now was removed, and something was created.
fn changes(
    before: &BTreeMap<PathBuf, Facts>,
    after: &BTreeMap<PathBuf, Facts>,
) -> BTreeMap<PathBuf, &'static str> {
    let facts = |(kind, mode, _, content, _): &Facts| (*kind, *mode, content.clone());
    let mut changes = BTreeMap::new();
    for (path, then) in after {
        match before.get(path) {
            None => drop(changes.insert(path.clone(), "created")),
            Some(now) if facts(now) != facts(then) => drop(changes.insert(path.clone(), "changed")),
            Some(_) => {}
        }
    }
    let gone = before.keys().filter(|path| !after.contains_key(*path));
    changes.extend(gone.map(|path| (path.clone(), "removed")));
    changes
}
