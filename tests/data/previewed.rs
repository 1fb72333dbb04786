//! Commands that need approval: what their preview shows is what they do once they are approved. `tests/undo/commands.txt` has
//! the commands.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use libtest_mimic::Trial;
use serde_json::json;
use support::needs::lacks_full_sandbox;
use support::scope::TestScope;
use support::service::{TestService, call, data, wait_for};

use crate::trials::TrialFilter;
use crate::undone::{Facts, all_below, assert_same, commands, make_folder};

/// The trials: each command.
pub fn trials(_: &TrialFilter) -> Vec<Trial> {
    let mut trials = trials![there_are_thirty_commands];
    trials.extend(each![the_preview_of_a_command_shows_what_it_does; previewed()]);
    trials.extend(each![what_is_taken_over_is_what_the_command_does_and_comes_back; taken_over()]);
    trials
}

/// Reads the commands. Git's are left out: what it keeps of the times of files differs from run to run.
fn previewed() -> Vec<(String, String)> {
    commands().into_iter().filter(|(_, script)| !script.contains("git")).collect()
}

fn there_are_thirty_commands() {
    assert!(previewed().len() >= 30, "{}", previewed().len());
}

/// Commands that are not taken over: links that lead out, further names of files, what cannot be read any more, and what changes
/// nothing but times, or nothing.
const NOT_TAKEN_OVER: &[&str] = &[
    "a-further-name",
    "a-link-to-outside-where-a-folder-was",
    "chmod-000",
    "chmod-000-a-folder",
    "cp-al-hard-links",
    "ln-hard-over-a-file",
    "ln-sf-over-a-file",
    "names-that-join",
    "names-that-part",
    // What it packs has the times of the folder.
    "tar-moves-away",
    "touch",
    "unlink-one-of-three-names",
];

/// The commands whose changes can be taken over.
fn taken_over() -> Vec<(String, String)> {
    let mut commands = previewed();
    commands.retain(|(name, _)| !NOT_TAKEN_OVER.contains(&&**name));
    assert!(commands.len() >= 30, "{}", commands.len());
    commands.into_iter().map(|(name, script)| (format!("taken_over_{name}"), script)).collect()
}

/// Starts a service whose scope runs any program once it is approved.
fn host() -> TestService {
    host_with("show")
}

fn host_with(preview: &str) -> TestService {
    let policy = json!({"sandbox": "full", "shell": "sandboxed", "network": "none", "preview": preview});
    let scope = TestScope::new().with_capabilities(&["fs:read", "fs:write", "history:read"]);
    scope.with_field("ask", json!(["command:run"])).with_policy(policy).save().host()
}

fn what_is_taken_over_is_what_the_command_does_and_comes_back(script: &String) {
    if lacks_full_sandbox() {
        return;
    }
    let (host, other) = (host_with("commit"), host());
    let input = json!({"command": ["bash", "-c", script]});
    let request = || json!({"scope": "app", "op": "command.run", "input": input});
    for host in [&host, &other] {
        make_folder(&host.root());
        // A name of a file that keeps others is not taken over.
        for name in ["hard/two", "src/three"] {
            fs::remove_file(host.path(name)).expect("it was made");
        }
        let asked = call(&host.service, request());
        let id = asked["error"]["details"]["approvalId"].as_str().expect("a ticket").to_owned();
        let preview = wait_for(host.preview(&id));
        assert_eq!(preview["state"], "done", "{preview:#}");
        if preview["commit"].is_object() {
            assert_eq!(preview["commit"]["state"], "ready", "{preview:#}");
        }
        host.cli(&["approve", &id, "--once"]);
    }
    let before = all_below(&host.root());
    let real = data(&call(&other.service, request())).clone();
    let answer = call(&host.service, request());
    let taken = data(&answer);
    assert_eq!(taken["committed"], true, "{taken:#}");
    assert_eq!(taken["exitCode"], real["exitCode"], "{taken:#}");
    let timeless = |host: &TestService| -> BTreeMap<PathBuf, Facts> {
        let all = all_below(&host.root()).into_iter().filter(|(path, _)| !path.starts_with(".git"));
        all.map(|(path, (kind, mode, _, content, first))| (path, (kind, mode, None, content, first)))
            .collect()
    };
    assert_same(&timeless(&host), &timeless(&other), "what is taken over");
    let undo = json!({"scope": "app", "op": "history.undo", "input": {"operation": answer["operationId"]}});
    data(&call(&host.service, undo));
    assert_same(&all_below(&host.root()), &before, "after its undo");
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
    let preview = wait_for(host.preview(&id));
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
