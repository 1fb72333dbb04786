//! Calls as models write them, in `tests/data/calls`: each line says what operation is meant and how it ends.
//!
//! `OPERATION RESULT REQUEST`: the result is `ok` or an error code, `-` stands for a request that names no operation,
//! `<root>` in a request for the scope's folder. Files are put back before each call.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use bailiwick::config::Config;
use bailiwick::contract::{Caller, Envelope, Failure, Transport};
use bailiwick::platform::dirs::Dirs;
use bailiwick::platform::launch::Launcher;
use bailiwick::requests;
use bailiwick::service::{Service, ServiceSettings};
use libtest_mimic::Trial;
use serde_json::json;
use support::source::repository;
use support::system::{Need, git_of_the_person, lacks};
use support::temporary::TemporaryFolder;
use tokio_util::sync::CancellationToken;

use crate::trials::Wanted;

/// The files of the scope, before each call.
const FILES: &[(&str, &str)] = &[
    ("README.md", "first line\nsecond line\nthird line\n"),
    ("notes.txt", "a note\n"),
    ("with space.txt", "blue\n"),
    ("src/main.rs", "fn main() {\n    println!(\"hello\");\n}\n"),
    ("docs/guide.md", "# Guide\n"),
    (".env", "SECRET=1\n"),
    ("../outside.txt", "outside\n"),
];

/// The trials: a file of calls each.
pub fn trials(_: &Wanted) -> Vec<Trial> {
    let mut trials =
        trials![there_are_enough_calls, what_is_read_is_canonical_and_reading_it_again_changes_nothing];
    trials.extend(each![
        calls_mean_what_their_lines_say;
        ["files", "changes", "commands"].map(|name| (name.to_owned(), name))
    ]);
    trials
}

/// One line.
struct Line {
    op: String,
    result: String,
    request: String,
}

fn lines(name: &str) -> Vec<Line> {
    let text = fs::read_to_string(repository().join(format!("tests/data/calls/{name}.txt")))
        .expect("the file is there");
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines
        .map(|line| {
            let mut parts = line.splitn(3, ' ').map(str::to_owned);
            let mut part = || parts.next().expect("three parts");
            Line { op: part(), result: part(), request: part() }
        })
        .collect()
}

fn there_are_enough_calls() {
    let all: Vec<Line> = ["files", "changes", "commands"].into_iter().flat_map(lines).collect();
    assert!(all.iter().filter(|line| line.result == "ok").count() >= 150, "calls that work");
    assert!(all.iter().filter(|line| line.result != "ok").count() >= 50, "calls that are refused");
}

fn what_is_read_is_canonical_and_reading_it_again_changes_nothing() {
    for line in ["files", "changes", "commands"].into_iter().flat_map(lines) {
        let Ok(envelope) = requests::read_json(line.request.as_bytes()) else { continue };
        let Some(entry) = requests::operation(&envelope.op) else { continue };
        assert_eq!(entry.spec.name, envelope.op, "{}: the name is the canonical one", line.request);
        let again = serde_json::to_value(&envelope).expect("an envelope has a JSON form");
        assert_eq!(Envelope::from_value(again.clone()), Ok(envelope.clone()), "{}", line.request);
        assert_eq!(requests::read(again), Ok(envelope), "{}: reading it again changes nothing", line.request);
    }
}

fn calls_mean_what_their_lines_say(name: &&str) {
    let name = *name;
    if name == "commands" && (lacks(Need::Programs) || lacks(Need::Git)) {
        return;
    }
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let folder = TemporaryFolder::new();
    let root = folder.path().join("app");
    fs::create_dir(&root).expect("a new folder");
    put_back(&root);
    if name == "commands" {
        git(&root, &["init", "-q"]);
        fs::write(root.join("README.md"), "as it was\n").expect("a file can be written");
        git(&root, &["add", "README.md", "notes.txt"]);
        git(&root, &["commit", "-q", "-m", "one"]);
    }
    let service = service(folder.path(), &root);
    let mut wrong = Vec::new();
    for line in lines(name) {
        put_back(&root);
        if name == "commands" {
            git(&root, &["reset", "-q"]);
            git(&root, &["add", "docs"]);
        }
        let shown = root.to_str().expect("temporary paths are UTF-8").replace('\\', "/");
        let request = line.request.replace("<root>", &shown);
        let envelope: Result<Envelope, Failure> = requests::read_json(request.as_bytes());
        let outcome = runtime.block_on(async {
            let gone = CancellationToken::new();
            service.handle(&Caller::local(Transport::Stdio), envelope, &gone).await
        });
        let op = if outcome.op.is_empty() { "-" } else { &outcome.op };
        let result = match &outcome.result {
            Ok(_) => "ok",
            Err(failure) => failure.code.as_str(),
        };
        if (op, result) != (line.op.as_str(), line.result.as_str()) {
            let why = outcome.result.as_ref().err().map(|it| (it.message.clone(), it.hints.clone()));
            wrong.push(format!("{op} {result} instead of {} {}: {request}\n  {why:?}", line.op, line.result));
        }
    }
    assert!(wrong.is_empty(), "{} lines:\n{}", wrong.len(), wrong.join("\n"));
}

fn service(folder: &Path, root: &Path) -> Arc<Service> {
    let config = json!({
        "machineId": "01JD0000000000000000000000",
        "machineName": "test-computer",
        // A second scope of another type: it is none in which any of these calls could be meant.
        "scopes": [{"id": "screen", "type": "computer", "capabilities": ["screen:capture"]}, {
            "id": "app",
            "roots": [root],
            "capabilities": [
                "fs:read", "fs:write", "search:read", "history:read", "command:run", "process:manage",
                "git:read", "git:write",
            ],
            "policy": {
                "sandbox": "none",
                "processLifetime": "service",
                "allowedCommands": ["printf *", "cat", "cat *"],
            },
        }],
    });
    let config: Config = serde_json::from_value(config).expect("a config");
    let settings = ServiceSettings { config, dirs: Dirs::below(folder.join("home")) };
    Service::boot_with(settings, Launcher::with_program(env!("CARGO_BIN_EXE_bailiwick").into()))
        .expect("it starts")
}

fn put_back(root: &Path) {
    for entry in fs::read_dir(root).expect("the folder can be read").flatten() {
        let path = entry.path();
        if path.ends_with(".git") {
            continue;
        }
        let removed = if path.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
        removed.expect("what a call left can be removed");
    }
    for (name, content) in FILES {
        let path = root.join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder can be made");
        fs::write(path, content).expect("a file can be written");
    }
}

fn git(root: &Path, words: &[&str]) {
    let mut command: Command = git_of_the_person();
    let status = command
        .args(["-c", "init.defaultBranch=main", "-c", "user.name=Ada", "-c", "user.email=ada@example.com"])
        .args(words)
        .current_dir(root)
        .envs([("GIT_CONFIG_NOSYSTEM", "1"), ("GIT_CONFIG_GLOBAL", "/dev/null")])
        .status();
    assert!(status.expect("git starts").success());
}
