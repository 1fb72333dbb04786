//! What commands print with `--json`: every command has a schema, and real answers follow it.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader};

use bailiwick::adapters::cli::SCHEMAS;
use serde_json::{Value, json};

use super::help::commands;
use crate::installation::Installation;
use crate::source::repository;

/// Commands whose answers have their schemas elsewhere, or that print none.
const ELSEWHERE: &[(&str, &str)] = &[
    ("call", "schemas/outcome.json"),
    ("mcp", "prints the protocol"),
    ("service logs", "prints what the service said"),
];

/// Commands whose schemas have tests beside their own.
const OTHERS: &[&str] = &["setup", "here", "serve", "status", "self-test"];

fn schema(name: &str) -> jsonschema::Validator {
    let path = repository().join(format!("schemas/cli/{name}.json"));
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let schema: Value = serde_json::from_str(&text).expect("JSON");
    jsonschema::validator_for(&schema).expect("a schema")
}

/// Holds an answer to its command's schema.
pub fn holds(name: &str, answer: &Value) {
    let problems: Vec<String> = schema(name).iter_errors(answer).map(|error| error.to_string()).collect();
    assert!(problems.is_empty(), "{name}: {problems:?} {answer}");
}

#[test]
fn every_command_has_a_schema_of_its_answer() {
    let known: BTreeSet<String> = fs::read_dir(repository().join("schemas/cli"))
        .expect("there")
        .map(|entry| entry.expect("readable").file_name().into_string().expect("UTF-8"))
        .collect();
    let all = commands();
    let mut missing = Vec::new();
    for command in &all {
        let is_group = all.iter().any(|other| other.len() > command.len() && other.starts_with(command));
        let name = command.join(" ");
        let has_one = known.contains(&format!("{}.json", command.join(".")));
        let is_elsewhere = OTHERS.contains(&name.as_str()) || ELSEWHERE.iter().any(|(it, _)| *it == name);
        if !is_group && !has_one && !is_elsewhere {
            missing.push(name);
        }
    }
    assert!(missing.is_empty(), "no schema: {}", missing.join(", "));
}

// Among them are programs of Unix.
#[cfg(unix)]
#[test]
fn answers_follow_their_schemas() {
    let place = Installation::new();
    let at = |path: &str| place.folder.path().join(path);
    fs::create_dir(at("lib")).expect("made");
    fs::write(at("commands.tsv"), "deny\tls\n").expect("written");
    assert_eq!(place.run(&["setup", "project", "--preset", "full", "--yes", "--json"]).exit, 0);
    assert_eq!(place.run(&["token", "create", "old", "--expires", "1d"]).exit, 0);
    place.run(&["call", "file.write", "new.txt", "--content", "new\n"]);
    place.run(&["call", "file.stat", "hello.txt"]);
    place.run(&["call", "file.stat", "../outside", "--caller", "old"]);
    fs::copy(place.config(), at("draft.json")).expect("copied");
    fs::write(at("broken.json"), r#"{"machineId":7,"scopes":[{"id":"a"}]}"#).expect("written");
    let id = place.run(&["history", "last", "--json"]).json()["operation"]["operationId"].clone();
    let id = id.as_str().expect("an id");
    let start = json!({"scope": "project", "op": "command.start", "input": {"command": ["echo", "hello"]}});
    let started = place.run(&["call", &start.to_string(), "--json"]).json();
    let process = started["data"]["processId"].as_str();

    let mut calls: Vec<(&str, Vec<&str>, i32)> = vec![
        ("approve", vec!["approve"], 0),
        ("approve.list", vec!["approve", "--list"], 0),
        ("bundle", vec!["bundle", "--out", "made.zip"], 0),
        ("bundle.inspect", vec!["bundle", "--inspect", "made.zip"], 0),
        ("completions", vec!["completions", "elvish"], 0),
        ("config.path", vec!["config", "path"], 0),
        ("config.show", vec!["config", "show", "--defaults"], 0),
        ("config.validate", vec!["config", "validate", "draft.json"], 0),
        ("config.validate", vec!["config", "validate", "broken.json"], 1),
        ("config.edit", vec!["config", "edit", "--yes"], 0),
        ("connect", vec!["connect"], 0),
        ("client.connect", vec!["client", "connect"], 0),
        ("client.tools", vec!["client", "tools", "--all"], 0),
        ("failure", vec!["log", "show", "x"], 2),
        ("failure", vec!["scope", "show", "none"], 10),
        ("failure", vec!["histroy"], 2),
        ("failure", vec!["token", "revoke", "none"], 15),
        ("setup", vec!["setup", "project"], 0),
        ("status", vec!["status"], 0),
        ("man", vec!["man", "pages"], 0),
        ("log", vec!["log", "--since", "1h"], 0),
        ("log", vec!["log", "--failed", "--op", "file", "--client", "old"], 0),
        ("log.clients", vec!["log", "clients"], 0),
        ("log.replay", vec!["log", "replay"], 0),
        ("log.show", vec!["log", "show", id], 0),
        ("log.show", vec!["log", "show", &id[20..]], 0),
        ("log.last", vec!["log", "last"], 0),
        ("log.last", vec!["log", "last", "--query", "nothing like it"], 0),
        ("log.sessions", vec!["log", "sessions"], 0),
        ("log.verify", vec!["log", "verify"], 0),
        ("policy.explain", vec!["policy", "explain", "file.stat", "hello.txt"], 0),
        ("policy.explain", vec!["policy", "explain", "file.stat", "../x"], 13),
        ("policy.explain.command", vec!["policy", "explain", "git status"], 0),
        ("policy.explain.command", vec!["policy", "explain", "echo $(id)"], 0),
        ("policy.explain.command", vec!["policy", "explain", "sudo id"], 12),
        ("policy.explain.command", vec!["policy", "explain", "echo 'open"], 2),
        ("policy.test", vec!["policy", "test", "commands.tsv"], 1),
        ("policy.test.against-history", vec!["policy", "test", "draft.json", "--against-history"], 0),
        ("policy.why", vec!["policy", "why", id], 0),
        ("policy.learn", vec!["policy", "learn"], 0),
        ("policy.untrusted", vec!["policy", "untrusted"], 0),
        ("ps", vec!["ps"], 0),
        ("ps.list", vec!["ps", "list"], 0),
        ("ps.stop", vec!["ps", "stop", "--all"], 0),
        ("scope.add", vec!["scope", "add", "lib"], 0),
        ("scope.add", vec!["scope", "add", "lib", "--dry-run"], 0),
        ("scope.add-screen", vec!["scope", "add-screen", "screen"], 0),
        ("scope.add-desktop", vec!["scope", "add-desktop", "desk", "--control"], 0),
        ("scope.add-display", vec!["scope", "add-display", "play", "--for", "lib"], 0),
        ("scope.allow", vec!["scope", "allow", "lib", "fs:write", "--ask"], 0),
        ("scope.deny", vec!["scope", "deny", "lib", "--command", "rm *"], 0),
        ("scope.edit", vec!["scope", "edit", "lib", "--env", "A=secret-value", "--dry-run"], 0),
        ("scope.list", vec!["scope", "list"], 0),
        ("scope.show", vec!["scope", "show", "project"], 0),
        ("scope.show", vec!["scope", "show", "screen"], 0),
        ("scope.remove", vec!["scope", "remove", "lib"], 0),
        ("config.undo", vec!["config", "undo", "--dry-run"], 0),
        ("undo", vec!["undo", "--dry-run"], 0),
        ("undo", vec!["undo", "--since", "1h", "--yes"], 0),
        ("failure", vec!["undo", "01JD0000000000000000000000"], 15),
        ("setup", vec!["setup", "lib", "--dry-run"], 0),
        ("service.install", vec!["service", "install", "--dry-run"], 0),
        ("token.code", vec!["token", "code"], 0),
        ("client.check", vec!["client", "check", "http://127.0.0.1:1"], 1),
        ("tunnel.cloudflare", vec!["tunnel", "cloudflare", "--dry-run"], 0),
        ("tunnel.tailscale", vec!["tunnel", "tailscale", "--dry-run"], 0),
        (
            "tunnel.openai",
            vec!["tunnel", "openai", "tunnel_0123456789abcdef0123456789abcdef", "--dry-run"],
            0,
        ),
        ("tunnel.manual", vec!["tunnel", "manual", "https://bw.example", "--yes"], 0),
        ("tunnel.off", vec!["tunnel", "off"], 0),
        ("token.create", vec!["token", "create", "new", "--dry-run"], 0),
        ("token.create", vec!["token", "create", "new"], 0),
        ("token.list", vec!["token", "list"], 0),
        ("token.rotate", vec!["token", "rotate", "new", "--expires", "2d"], 0),
        ("token.revoke", vec!["token", "revoke", "new", "--dry-run"], 0),
        ("token.revoke", vec!["token", "revoke", "new"], 0),
        ("tools", vec!["tools", "--token", "old", "--all"], 0),
        ("try", vec!["try", "project"], 0),
        ("uninstall", vec!["uninstall", "--dry-run"], 0),
    ];
    if let Some(process) = process {
        calls.push(("ps.logs", vec!["ps", "logs", process], 0));
    }
    for (name, words, exit) in &calls {
        let output = place.command(words).arg("--json").env("EDITOR", "true").env_remove("VISUAL").output();
        let ran = crate::installation::CommandOutput::from(output.expect("the binary runs"));
        assert_eq!(ran.exit, *exit, "{words:?}: {}{}", ran.out, ran.err);
        assert!(!ran.out.contains("secret-value"), "{words:?}: {}", ran.out);
        holds(name, &ran.json());
    }
    if let Some(process) = process {
        let ran = place.run(&["ps", "logs", process, "--follow", "--json"]);
        let mut lines = ran.out.lines().map(|line| serde_json::from_str(line).expect("JSON"));
        lines.clone().for_each(|line| holds("ps.logs.follow", &line));
        assert_eq!(lines.next().map(|line| line["text"].clone()), Some(json!("hello\n")));
    }
    let screen = place.run(&["screen", "status", "--json"]);
    holds(if screen.exit == 0 { "screen.status" } else { "failure" }, &screen.json());
    // The screen is not there on every computer; following never ends. The rest has been asked for.
    let asked: BTreeSet<&str> = calls.iter().map(|(name, _, _)| *name).collect();
    let others = ["screen.status", "log.follow", "watch", "ps.logs", "ps.logs.follow", "tunnel.events"];
    let unasked: Vec<&str> = SCHEMAS
        .iter()
        .filter(|row| row.command.split(' ').next().is_none_or(|word| !OTHERS.contains(&word)))
        .map(|row| row.name)
        .filter(|name| !asked.contains(name) && !others.contains(name) && !name.starts_with("service."))
        // They have tests of their own.
        .filter(|name| !name.starts_with("doctor"))
        .collect();
    assert!(unasked.is_empty(), "{unasked:?}");
}

// Following continues until a signal ends it.
#[cfg(unix)]
#[test]
fn the_history_is_followed_with_and_without_a_service() {
    let place = Installation::set_up();
    place.run(&["call", "file.stat", "hello.txt"]);
    let mut child = place.command(&["watch", "--json"]).spawn().expect("the binary runs");
    let mut lines = BufReader::new(child.stdout.take().expect("piped")).lines();
    let mut next = || -> Value {
        let line = lines.next().expect("it continues").expect("readable");
        let line = serde_json::from_str(&line).expect("JSON");
        holds("log.follow", &line);
        line
    };
    assert_eq!(next()["target"], "hello.txt", "what was done before comes first");
    place.run(&["call", "file.stat", "alone.txt"]);
    assert_eq!(next()["target"], "alone.txt");
    let service = place.start();
    assert_eq!(service.post(None, &json!({"op": "file.stat", "target": "nobody.txt"})), 401);
    place.run(&["call", "file.stat", "by-service.txt"]);
    while next()["target"] != "by-service.txt" {}
    let process = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(process, rustix::process::Signal::INT).expect("it runs");
    assert!(child.wait().expect("it ends").success());
    drop(service);

    let mut child = place.command(&["history", "--follow"]).spawn().expect("the binary runs");
    let mut out = BufReader::new(child.stdout.take().expect("piped"));
    let mut line = String::new();
    out.read_line(&mut line).expect("readable");
    assert!(line.contains("file.stat") && line.contains("hello.txt"), "{line}");
    drop(out);
    place.run(&["call", "file.stat", "unheard.txt"]);
    assert!(child.wait().expect("it ends").success(), "a reader that goes away ends it");
    for words in [&["history", "last", "--follow"][..], &["history", "--follow", "--cursor", "x"]] {
        assert_eq!(place.run(words).exit, 2, "{words:?}");
    }
}
