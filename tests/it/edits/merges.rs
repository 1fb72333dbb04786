//! Edits for a version that was only read: merged into what came since, or a conflict.

use std::fs;

use serde_json::{Value, json};

use crate::system::{Need, lacks};
use support::scope::TestScope;
use support::service::call;

fn read(op: &str, name: &str) -> Value {
    match op {
        "file.read" => json!({"op": op, "target": name, "options": {"startLine": 1, "endLine": 1}}),
        _ => json!({"op": op, "input": {"paths": [name]}}),
    }
}

fn patch(name: &str, version: &Value) -> Value {
    json!({"op": "file.patch", "target": name, "options": {"ifVersion": version},
        "input": {"edits": [{"old": "one\n", "new": "ONE\n"}]}})
}

#[test]
fn an_edit_for_a_version_that_was_only_read_is_merged() {
    let world = TestScope::new();
    let service = world.boot();
    for op in ["file.read", "file.read_many"] {
        let file = world.root().join(format!("{op}.txt"));
        let name = format!("{op}.txt");
        fs::write(&file, "one\ntwo\nthree\nfour\n").expect("the scope can be written");
        let answer = call(&service, read(op, &name));
        let data = if op == "file.read" { &answer["data"] } else { &answer["data"]["files"][0] };
        let version = data["version"].clone();
        // Someone else, whom Bailiwick does not see.
        fs::write(&file, "one\ntwo\nthree\nfour\nfive\n").expect("the scope can be written");
        let answer = call(&service, patch(&name, &version));
        assert_eq!(answer["data"]["files"][0]["merged"], true, "{answer}");
        assert_eq!(fs::read_to_string(&file).expect("it is there"), "ONE\ntwo\nthree\nfour\nfive\n");

        fs::write(&file, "one\ntwo\nthree\nfour\n").expect("the scope can be written");
        fs::write(&file, "uno\ntwo\nthree\nfour\n").expect("the scope can be written");
        let answer = call(&service, patch(&name, &version));
        assert_eq!(answer["error"]["details"]["rule"], "merge-conflict", "{answer}");
    }
}

#[test]
fn what_was_read_is_found_by_the_name_that_a_link_leads_to() {
    if lacks(Need::Links) {
        return;
    }
    let world = TestScope::new();
    let service = world.boot();
    fs::write(world.root().join("a.txt"), "one\ntwo\nthree\n").expect("the scope can be written");
    bailiwick::platform::fs::modes::symlink("a.txt", world.root().join("link.txt"))
        .expect("links can be made");
    let version = call(&service, read("file.read", "link.txt"))["data"]["version"].clone();
    fs::write(world.root().join("a.txt"), "one\ntwo\nthree\nfour\n").expect("the scope can be written");
    let answer = call(&service, patch("link.txt", &version));
    assert_eq!(answer["data"]["files"][0]["merged"], true, "{answer}");
}

#[test]
fn a_sensitive_file_that_is_open_is_never_held() {
    let world = TestScope::new();
    let service = world.clone().with_policy(json!({"openSensitive": ["*.env"]})).boot();
    let file = world.root().join("app.env");
    fs::write(&file, "one\ntwo\nthree\n").expect("the scope can be written");
    let answer = call(&service, read("file.read", "app.env"));
    assert_eq!(answer["ok"], true, "it is open: {answer}");
    fs::write(&file, "one\ntwo\nthree\nfour\n").expect("the scope can be written");
    let answer = call(&service, patch("app.env", &answer["data"]["version"]));
    assert_eq!(answer["error"]["details"]["rule"], "if-version", "{answer}");
}
