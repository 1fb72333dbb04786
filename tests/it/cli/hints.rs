//! A hint that names a command: at this terminal the command is run as it is there, and the refused call succeeds.

use std::fs;

use bailiwick::contract::CommandInput;
use bailiwick::policy::command::recognise;
use serde_json::{Value, json};

use crate::installation::{CommandOutput, Installation};
use crate::needs::lacks_full_sandbox;
use crate::temporary::TemporaryFolder;

/// Returns the words of every command that a text names in backquotes.
fn commands_in(text: &str) -> Vec<Vec<String>> {
    let quoted = text.split('`').filter(|part| part.starts_with("bailiwick "));
    let words = |line: &str| {
        let plan = recognise::plan(&CommandInput::Line(line.to_owned())).expect("a command line");
        plan.first.commands[0].argv[1..].to_vec()
    };
    quoted.map(words).collect()
}

fn run(place: &Installation, words: &[String]) -> CommandOutput {
    place.run(&words.iter().map(String::as_str).collect::<Vec<_>>())
}

#[test]
fn the_command_that_a_hint_names_makes_the_refused_call_succeed() {
    let place = Installation::new();
    let project = place.folder.path().join("project");
    fs::create_dir_all(project.join(".ssh")).expect("made");
    fs::create_dir_all(project.join("private")).expect("made");
    for file in [".env", ".env.[x]", ".ssh/notes", "private/plan.md", "private/.env", "closed.md"] {
        fs::write(project.join(file), "text\n").expect("written");
    }
    assert_eq!(place.run(&["setup", "project", "--preset", "read-only", "--yes"]).exit, 0);
    let ask: &[&str] = &["scope", "allow", "project", "fs:write", "--ask"];
    let deny: &[&str] = &["scope", "deny", "project", "fs:write"];
    let close: &[&str] = &["scope", "deny", "project", "--files", "private/**", "--files", "closed.*"];
    for (first, call) in [
        // A sensitive file, one whose name looks like a glob, one in a sensitive folder, and files that the scope closes.
        (close, &["file.read", ".env"][..]),
        (&[], &["file.read", ".env.[x]"]),
        (&[], &["file.read", ".ssh/notes"]),
        (&[], &["file.read", "closed.md"]),
        (&[], &["file.read", "private/.env"]),
        (close, &["file.read", "private/plan.md"]),
        // A capability that is not granted, one that is set to `ask`, and one that is denied.
        (&[], &["file.create", "new.txt", "--content", "x"]),
        (ask, &["file.create", "newest.txt", "--content", "x"]),
        (deny, &["file.create", "newer.txt", "--content", "x"]),
        // Settings that name programs are closed for writing.
        (&[], &["file.create", ".vscode/tasks.json", "--create-parents", "--content", "{}"]),
    ] {
        if !first.is_empty() {
            assert_eq!(place.run(first).exit, 0, "{first:?}");
        }
        let words = [&["call"][..], call].concat();
        let refused = place.run(&words);
        assert_ne!(refused.exit, 0, "{call:?}: {}", refused.out);
        assert!(!refused.err.contains("For the user"), "{}", refused.err);
        let hints = refused.err.split("hint:").skip(1).collect::<String>();
        let named = commands_in(&hints);
        assert!(!named.is_empty(), "{call:?} names no command: {}", refused.err);
        for command in &named {
            let mut command = command.clone();
            if command[0] == "approve" {
                // Without a terminal the answer is part of the command.
                command.push("--once".to_owned());
            }
            let ran = run(&place, &command);
            assert_eq!(ran.exit, 0, "{command:?}: {}", ran.err);
        }
        let allowed = place.run(&words);
        assert_eq!(allowed.exit, 0, "{call:?} after {named:?}: {}", allowed.err);
    }
    // A client is told whom the hint is for.
    assert_eq!(place.run(deny).exit, 0);
    let refused = place.run(&["call", "file.mkdir", "made", "--json"]).json();
    let hint = refused["error"]["hints"][0].as_str().expect("a hint");
    assert!(hint.starts_with("For the user: `bailiwick scope allow project fs:write`"), "{hint}");
}

/// A refused call, and what stands for the words in capitals of the command that its hint names.
struct RefusedCall<'a> {
    /// Makes the scope refuse it.
    first: &'a [&'a str],
    call: Value,
    /// A part of the command that is named.
    named: &'a str,
    values: &'a [(&'a str, &'a str)],
}

/// Sends a request, and returns the answer.
fn send(place: &Installation, envelope: &Value) -> Value {
    place.run(&["call", &envelope.to_string(), "--json"]).json()
}

/// Whether a request did what was asked: a command has to succeed, too.
fn is_done(answer: &Value) -> bool {
    answer["ok"] == true && answer["data"]["exitCode"].as_i64().unwrap_or_default() == 0
}

/// Tries each refused call, the command that its hint names, and the call again.
fn tries(place: &Installation, cases: &[RefusedCall<'_>]) {
    for RefusedCall { first, call, named, values } in cases {
        if !first.is_empty() {
            let ran = place.run(first);
            assert_eq!(ran.exit, 0, "{first:?}: {}", ran.err);
        }
        let mut call = call.clone();
        call["scope"] = json!("project");
        let answer = send(place, &call);
        assert!(!is_done(&answer), "{call}: {answer:#}");
        let said = [&answer["error"]["hints"], &answer["warnings"]].map(Value::to_string).concat();
        let mut lines = said.split('`').filter(|part| part.starts_with("bailiwick ") && part.contains(named));
        let line = lines.next_back().unwrap_or_else(|| panic!("{call} does not name {named}: {answer:#}"));
        let line = serde_json::from_str::<String>(&format!("\"{line}\"")).expect("a part of a JSON text");
        let line = values.iter().fold(line, |line, (word, value)| line.replace(word, value));
        assert!(said.contains("For the user: ") && line.contains(" project "), "{line}: {said}");
        for command in commands_in(&format!("`{line}`")) {
            let ran = run(place, &command);
            assert_eq!(ran.exit, 0, "{command:?}: {}", ran.err);
        }
        let answer = send(place, &call);
        assert!(is_done(&answer), "{call} after {line}: {answer:#}");
    }
}

#[test]
fn hints_of_commands_that_are_refused_or_fail_name_what_makes_them_run() {
    if lacks_full_sandbox() {
        return;
    }
    let place = Installation::new();
    let outside = TemporaryFolder::new();
    let elsewhere = outside.path().to_str().expect("text").to_owned();
    fs::write(outside.path().join("notes.txt"), "text\n").expect("written");
    let ran = place.run(&["setup", "project", "--preset", "full", "--yes"]);
    assert_eq!(ran.exit, 0, "{}", ran.err);
    let run = |command: Value| json!({"op": "command.run", "input": {"command": command}});
    let off: &[&str] = &["scope", "edit", "project", "--shell", "off"];
    let read = format!("cat {elsewhere}/notes.txt");
    let write = format!("touch {elsewhere}/made.txt");
    let larger: &[(&str, &str)] = &[("NUMBER", "64")];
    tries(
        &place,
        &[
            // A text for bash: not here, not with the whole network, and not without a full sandbox.
            RefusedCall {
                first: off,
                call: run(json!("echo $HOME")),
                named: "--shell sandboxed",
                values: &[],
            },
            RefusedCall {
                first: &["scope", "edit", "project", "--network", "full"],
                call: run(json!("echo $HOME")),
                named: "--network loopback",
                values: &[],
            },
            RefusedCall {
                first: &["scope", "edit", "project", "--sandbox", "partial"],
                call: run(json!("echo $HOME")),
                named: "--sandbox full",
                values: &[],
            },
            // A variable that callers may not set, where not any program may run.
            RefusedCall {
                first: off,
                call: json!({"op": "command.run", "input": {"command": ["true"], "env": {"MY_LEVEL": "1"}}}),
                named: "--allow-env MY_LEVEL",
                values: &[],
            },
            // Folders that are not there for commands: to read, and to write.
            RefusedCall {
                first: &["scope", "edit", "project", "--shell", "sandboxed"],
                call: run(json!(read)),
                named: "--read-path",
                values: &[("FOLDER", &elsewhere)],
            },
            RefusedCall {
                first: &[],
                call: run(json!(write)),
                named: "--add-root",
                values: &[("FOLDER", &elsewhere)],
            },
            // A limit.
            RefusedCall {
                first: &["scope", "edit", "project", "--limit", "file-megabytes=1"],
                call: run(json!("head -c 2000000 /dev/zero > big.bin")),
                named: "--limit file-megabytes",
                values: larger,
            },
            // Writing, where the scope does not grant it any more.
            RefusedCall {
                first: &["scope", "deny", "project", "fs:write"],
                call: run(json!("touch made.txt")),
                named: "fs:write",
                values: &[],
            },
        ],
    );
    // Nothing is asked of the network here: what a program prints stands for it.
    let mut unresolved = run(json!("echo 'curl: (6) Could not resolve host: example.org' >&2; exit 6"));
    unresolved["scope"] = json!("project");
    let said = send(&place, &unresolved)["warnings"].to_string();
    assert!(said.contains("`bailiwick scope edit project --network full`"), "{said}");
}

#[test]
fn hints_of_programs_processes_links_and_git_name_what_opens_them() {
    if lacks_full_sandbox() {
        return;
    }
    let place = Installation::new();
    let ran = place.run(&["setup", "project", "--preset", "full", "--yes"]);
    assert_eq!(ran.exit, 0, "{}", ran.err);
    let tools = TemporaryFolder::new();
    let folder = tools.path().to_str().expect("text").to_owned();
    fs::copy("/bin/true", tools.path().join("my-own-tool")).expect("copied");
    fs::hard_link(place.project().join("hello.txt"), place.project().join("again.txt")).expect("linked");
    let git = |words: &[&str]| {
        let mut git = std::process::Command::new("git");
        let ran = git.current_dir(place.project()).env("HOME", place.folder.path()).args(words).output();
        let ran = ran.expect("git runs");
        assert!(ran.status.success(), "{words:?}: {}", String::from_utf8_lossy(&ran.stderr));
    };
    git(&["init", "-q"]);
    git(&["config", "user.name", "Ada"]);
    git(&["config", "user.email", "ada@example.org"]);
    fs::write(place.project().join(".env"), "A=1\n").expect("written");
    let start = || json!({"op": "process.start", "input": {"command": ["sleep", "600"]}});
    assert_eq!(place.run(&["scope", "edit", "project", "--limit", "live-processes=1"]).exit, 0);
    let mut first = start();
    first["scope"] = json!("project");
    assert_eq!(send(&place, &first)["ok"], true);
    assert_eq!(place.run(&["scope", "allow", "project", "--command", "my-own-tool *"]).exit, 0);
    tries(
        &place,
        &[
            RefusedCall { first: &[], call: start(), named: "--limit live-processes=2", values: &[] },
            RefusedCall {
                first: &["scope", "edit", "project", "--shell", "off"],
                call: json!({"op": "command.run", "input": {"command": ["my-own-tool"]}}),
                named: "--search-path",
                values: &[("FOLDER", &folder)],
            },
            RefusedCall {
                first: &["scope", "edit", "project", "--refuse-hard-links", "true"],
                call: json!({"op": "file.read", "target": "again.txt"}),
                named: "--refuse-hard-links false",
                values: &[],
            },
            RefusedCall {
                first: &[],
                call: json!({"op": "git.stage", "input": {"paths": [".env"]}}),
                named: "--files .env",
                values: &[],
            },
            // It is staged by now; closed again, it cannot be committed.
            RefusedCall {
                first: &["scope", "edit", "project", "--remove-rule", ".env"],
                call: json!({"op": "git.commit", "input": {"message": "add it"}}),
                named: "--files .env",
                values: &[],
            },
        ],
    );
    assert_eq!(place.run(&["processes", "stop", "--all", "--grace", "0"]).exit, 0);
}
