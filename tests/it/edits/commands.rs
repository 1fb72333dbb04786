//! Undo of what commands change: what is a conflict, what is not covered, what is never written, and kills.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use bailiwick::contract::{Caller, Transport};
use bailiwick::platform::fs::modes::{set_mode, symlink};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::needs::lacks_full_sandbox;
use crate::ordinary_user::OrdinaryUser;
use support::patience::eventually;
use support::scope::TestScope;
use support::service::{TestService, call, data, send, wait_for};

/// A scope that runs any program in a full sandbox, or none at all, and takes back what commands change.
fn scope(sandbox: &str) -> TestScope {
    let mut policy = json!({"sandbox": sandbox, "undo": "commands"});
    match sandbox {
        "full" => policy["shell"] = json!("sandboxed"),
        _ => policy["allowedCommands"] = json!(["python3 *"]),
    }
    let capabilities = ["fs:read", "fs:write", "command:run", "history:read"];
    TestScope::new().with_capabilities(&capabilities).with_policy(policy)
}

/// A command that runs a script of bash, also where no text is handed to a shell.
fn command(script: &str) -> Value {
    let program = "import subprocess, sys; sys.exit(subprocess.call(['bash', '-c', sys.argv[1]]))";
    json!(["python3", "-c", program, script])
}

fn run(host: &TestService, script: &str) -> Value {
    let input = json!({"command": command(script)});
    let answer = call(&host.service, json!({"scope": "app", "op": "command.run", "input": input}));
    assert_eq!(data(&answer)["exitCode"], 0, "{answer:#}");
    answer
}

fn undo(host: &TestService, of: &Value, dry_run: bool) -> Value {
    let input = json!({"operation": of["operationId"]});
    let options = if dry_run { json!({"dryRun": true}) } else { json!({}) };
    call(&host.service, json!({"scope": "app", "op": "history.undo", "input": input, "options": options}))
}

/// Reads everything below a folder: mode, and content or target.
fn tree(folder: &Path) -> BTreeMap<PathBuf, (u32, Option<Vec<u8>>)> {
    let mut found = BTreeMap::new();
    let mut todo = vec![folder.to_owned()];
    while let Some(at) = todo.pop() {
        for entry in fs::read_dir(&at).expect("it can be read").flatten() {
            let path = entry.path();
            let facts = fs::symlink_metadata(&path).expect("it is there");
            let content = if facts.is_symlink() {
                fs::read_link(&path).ok().map(|it| it.to_string_lossy().into_owned().into_bytes())
            } else if facts.is_dir() {
                todo.push(path.clone());
                None
            } else {
                fs::read(&path).ok()
            };
            found.insert(path, (facts.permissions().mode(), content));
        }
    }
    found
}

fn text(host: &TestService, path: &str) -> String {
    fs::read_to_string(host.path(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

#[test]
fn what_was_changed_after_a_command_is_a_conflict_and_nothing_goes_back() {
    if lacks_full_sandbox() {
        return;
    }
    let host = scope("full").host();
    for name in ["a", "b", "c", "dir/d"] {
        host.write(name, "before\n");
    }
    let ran = run(&host, "echo after > a; rm b; mkdir new; echo x > new/x; chmod 700 c; rm -r dir");
    for (path, change) in [
        ("a", Some("later\n")),
        ("b", Some("somebody else's\n")),
        ("new/y", Some("put there later\n")),
        ("new/x", None),
        ("dir", Some("a file\n")),
    ] {
        let was = fs::read(host.path(path)).ok();
        match change {
            Some(content) => host.write(path, content),
            None => fs::write(host.path(path), "x\nand more\n").expect("written"),
        }
        let now = tree(&host.root());
        for dry_run in [true, false] {
            let refused = undo(&host, &ran, dry_run);
            assert_eq!(refused["error"]["code"], "conflict", "{path}: {refused:#}");
            assert_eq!(refused["error"]["details"]["path"], path, "{refused:#}");
            assert_eq!(tree(&host.root()), now, "{path}");
        }
        match was {
            Some(content) => fs::write(host.path(path), content).expect("written"),
            None => fs::remove_file(host.path(path)).expect("removed"),
        }
    }
    set_mode(&host.path("c"), 0o755).expect("own file");
    assert_eq!(undo(&host, &ran, false)["error"]["details"]["path"], "c");
    set_mode(&host.path("c"), 0o700).expect("own file");
    let preview = undo(&host, &ran, true);
    let diffs: Vec<&str> = data(&preview)["files"]
        .as_array()
        .expect("files")
        .iter()
        .filter_map(|it| it["diff"].as_str())
        .collect();
    assert!(diffs.iter().any(|it| it.contains("-after\n+before\n")), "{preview:#}");
    data(&undo(&host, &ran, false));
    assert_eq!(
        (text(&host, "a"), text(&host, "b"), text(&host, "dir/d")),
        ("before\n".into(), "before\n".into(), "before\n".into())
    );
    assert!(!host.path("new").exists());
}

#[test]
fn a_preview_shows_no_difference_where_only_facts_change() {
    if lacks_full_sandbox() {
        return;
    }
    let host = scope("full").host();
    host.write("same.txt", "same\n");
    host.write("other.txt", "old\n");
    let done = run(
        &host,
        "touch -d @1000000000 same.txt; chmod +x same.txt; echo new > other.txt; echo more > new.txt",
    );
    let answer = undo(&host, &done, true);
    let shown: BTreeMap<&str, &str> = data(&answer)["files"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|file| (file["path"].as_str().expect("a path"), file["diff"].as_str().unwrap_or_default()))
        .collect();
    assert_eq!(shown["same.txt"], "", "{answer:#}");
    assert!(shown["other.txt"].contains("-new\n+old"), "{answer:#}");
    assert!(shown["new.txt"].contains("+++ /dev/null"), "{answer:#}");
}

#[test]
fn what_undo_does_not_cover_is_named_and_all_else_comes_back() {
    if lacks_full_sandbox() {
        return;
    }
    let host = scope("full").host();
    host.write("large.bin", vec![1; (16 << 20) + 1]);
    host.write("node_modules/a/index.js", "made\n");
    host.write("a", "before\n");
    host.write("target/x", "not ignored\n");
    let ran =
        run(&host, "rm -rf large.bin node_modules a target; mkdir node_modules .venv; echo x > .venv/x");
    let changes = &data(&ran)["changes"];
    assert_eq!(changes["notCovered"], json!([".venv", "large.bin", "node_modules"]), "{ran:#}");
    let undone = undo(&host, &ran, false);
    data(&undone);
    let warning = undone["warnings"][0].as_str().expect("a warning");
    assert!(warning.contains("`large.bin`") && warning.contains("`node_modules`"), "{undone:#}");
    assert_eq!((text(&host, "a"), text(&host, "target/x")), ("before\n".into(), "not ignored\n".into()));
    assert!(!host.path("large.bin").exists() && host.path(".venv/x").exists());
    // A folder that Git ignores by now was covered before: all of it comes back.
    let ran =
        run(&host, "git init -q; echo target > .gitignore; rm -r target; mkdir target; echo y > target/y");
    data(&undo(&host, &ran, false));
    assert_eq!(text(&host, "target/x"), "not ignored\n");
    assert!(!host.path("target/y").exists() && !host.path(".gitignore").exists());
}

#[test]
fn an_undo_never_writes_what_git_runs() {
    let host = scope("none").host();
    let git = |words: &[&str]| {
        let done = std::process::Command::new("git").current_dir(host.root()).args(words).status();
        assert!(done.expect("git runs").success());
    };
    git(&["init", "-q"]);
    git(&["init", "-q", "--bare", "bare.git"]);
    host.write("plain/config", "a file like others\n");
    let script =
        "echo '[core] fsmonitor=x' >> .git/config; echo x > .git/hooks/pre-commit; echo ../x > .git/commondir
        echo '[core] fsmonitor=x' >> bare.git/config; rm -r bare.git/hooks; rm plain/config; echo x > a";
    let ran = run(&host, script);
    // The names of settings are closed to clients.
    let changes = &data(&ran)["changes"];
    let not_covered = json!([".git/commondir", ".git/hooks/pre-commit", "bare.git/hooks"]);
    assert_eq!((&changes["notCovered"], &changes["moreNotCovered"]), (&not_covered, &json!(2)), "{ran:#}");
    // Since then the folder of an ordinary file has become one of Git's own.
    for name in ["plain/HEAD", "plain/objects", "plain/refs"] {
        fs::create_dir(host.path(name)).expect("made");
    }
    let settings = text(&host, ".git/config");
    let undone = undo(&host, &ran, false);
    data(&undone);
    assert_eq!(text(&host, ".git/config"), settings);
    assert!(!host.path("plain/config").exists() && !host.path("bare.git/hooks").exists(), "{undone:#}");
    // Another command may run, for which a name stands there: it stays.
    assert!(host.path(".git/hooks/pre-commit").exists() && host.path(".git/commondir").exists());
    fs::remove_file(host.path(".git/commondir")).expect("removed");
    data(&undo(&host, &undone, false));
    assert_eq!(text(&host, "a"), "x\n");
    // A repository that a command made goes with all that is in it, and does not get its settings again.
    let ran = run(&host, "git init -q made; touch made/.git/hooks/post-commit");
    let undone = undo(&host, &ran, false);
    data(&undone);
    assert!(!host.path("made").exists(), "{undone:#}");
    data(&undo(&host, &undone, false));
    assert!(host.path("made/.git/HEAD").exists() && !host.path("made/.git/config").exists());
    assert!(!host.path("made/.git/hooks/post-commit").exists());
}

#[test]
fn an_undo_writes_nothing_outside_through_links_that_were_planted() {
    if lacks_full_sandbox() {
        return;
    }
    let host = scope("full").host();
    let outside = host.beside("outside");
    fs::create_dir(&outside).expect("made");
    host.write("dir/a", "before\n");
    host.write("dir/sub/b", "before\n");
    let ran = run(&host, "echo after > dir/a; rm dir/sub/b; mkdir new; echo x > new/x");
    // A folder in which something comes back, and one in which something goes, lead outside now.
    for (folder, kept) in [("dir", "moved"), ("new", "moved-new")] {
        fs::rename(host.path(folder), host.path(kept)).expect("renamed");
        symlink(&outside, host.path(folder)).expect("made");
    }
    fs::create_dir(outside.join("sub")).expect("made");
    fs::write(outside.join("a"), "after\n").expect("written");
    fs::write(outside.join("x"), "x\n").expect("written");
    let before = tree(&outside);
    let refused = undo(&host, &ran, false);
    assert_eq!(refused["error"]["code"], "conflict", "{refused:#}");
    assert_eq!(tree(&outside), before);
}

#[test]
fn nothing_outside_is_written_while_a_folder_is_exchanged_with_a_link_during_an_undo() {
    use std::sync::atomic::{AtomicBool, Ordering};

    let host = scope("none").host();
    let outside = host.beside("outside");
    fs::create_dir(&outside).expect("made");
    for number in 0..40 {
        host.write(format!("dir/{number}"), "before\n");
        fs::write(outside.join(number.to_string()), "outside\n").expect("written");
    }
    let before = tree(&outside);
    let (root, stop) = (host.root(), AtomicBool::new(false));
    std::thread::scope(|threads| {
        threads.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                let _ = fs::rename(root.join("dir"), root.join("away"));
                let _ = symlink(&outside, root.join("dir"));
                std::thread::yield_now();
                let _ = fs::remove_file(root.join("dir"));
                let _ = fs::rename(root.join("away"), root.join("dir"));
                std::thread::sleep(Duration::from_micros(300));
            }
        });
        for _ in 0..30 {
            let answer = call(
                &host.service,
                json!({"scope": "app", "op": "command.run", "input": {"command": command("for i in 1 2 3; do rm -f ./dir/$i; done; echo x > here")}}),
            );
            // The command itself may remove what is outside: nothing holds it here.
            for number in 1..4 {
                fs::write(outside.join(number.to_string()), "outside\n").expect("written");
            }
            undo(&host, &answer, false);
            assert_eq!(tree(&outside), before);
        }
        stop.store(true, Ordering::Relaxed);
    });
}

#[test]
fn a_batch_whose_check_fails_takes_back_what_its_commands_changed() {
    if lacks_full_sandbox() {
        return;
    }
    let host = scope("full").host();
    for name in ["a", "src/b", "src/c"] {
        host.write(name, "before\n");
    }
    let before = tree(&host.root());
    let steps = json!([
        {"op": "file.write", "target": "a", "input": {"content": "once\n"}},
        {"op": "command.run", "input": {"command": ["bash", "-c", "echo twice > a; rm -r src"]}},
        {"op": "file.write", "target": "src/b", "input": {"content": "thrice\n"}, "options": {"createParents": true}},
        {"op": "command.run", "input": {"command": ["bash", "-c", "echo more >> src/b; exit 3"]}},
    ]);
    let failed = call(&host.service, json!({"scope": "app", "op": "batch.run", "input": {"steps": steps}}));
    let details = &failed["error"]["details"];
    assert_eq!(details["rolledBack"], true, "{failed:#}");
    assert_eq!(details.get("notUndone"), None, "{failed:#}");
    assert_eq!(tree(&host.root()), before);
}

#[test]
fn what_another_request_changes_while_a_command_runs_stays() {
    if lacks_full_sandbox() {
        return;
    }
    let host = scope("full").host();
    for name in ["a", "b", "c"] {
        host.write(name, "before\n");
    }
    let running = {
        let (service, caller) = (host.service.clone(), Caller::local(Transport::Stdio));
        let script = "echo mine > a; echo mine > c; touch started; until [ -e go ]; do sleep 0.02; done; echo more >> c";
        let input = json!({"command": ["bash", "-c", script]});
        std::thread::spawn(move || {
            let envelope = json!({"scope": "app", "op": "command.run", "input": input});
            wait_for(send(&service, &caller, envelope, &CancellationToken::new()))
        })
    };
    eventually("it has started", || host.path("started").exists());
    for (name, content) in [("b", "theirs\n"), ("c", "theirs\n"), ("go", "")] {
        let write =
            json!({"scope": "app", "op": "file.write", "target": name, "input": {"content": content}});
        data(&call(&host.service, write));
    }
    let ran = running.join().expect("it ends");
    assert_eq!(data(&ran)["changes"]["notCovered"], json!(["c"]), "{ran:#}");
    data(&undo(&host, &ran, false));
    assert_eq!(text(&host, "a"), "before\n");
    assert_eq!((text(&host, "b"), text(&host, "c")), ("theirs\n".into(), "theirs\nmore\n".into()));
    assert!(host.path("go").exists() && !host.path("started").exists());
}

#[test]
fn earlier_versions_of_what_commands_changed_are_listed_and_come_back() {
    if lacks_full_sandbox() {
        return;
    }
    let host = scope("full").host();
    host.write("a", "one\n");
    set_mode(&host.path("a"), 0o640).expect("own file");
    let first = run(&host, "echo two > a; echo new > b; mkdir dir");
    run(&host, "rm a; chmod 600 b");
    let history = |path: &str| {
        let answer = call(&host.service, json!({"scope": "app", "op": "file.history", "target": path}));
        data(&answer)["versions"].as_array().expect("a list").clone()
    };
    let of_a = history("a");
    assert_eq!(of_a.len(), 2, "{of_a:#?}");
    assert_eq!(of_a[1]["undoId"], data(&first)["changes"]["undoId"]);
    assert_eq!(
        (&of_a[1]["bytes"], &of_a[1]["op"], &of_a[1]["files"]),
        (&json!(4), &json!("command.run"), &json!(3))
    );
    assert_eq!(history("b").len(), 1, "its content was changed once");
    for (at, content) in [(1, "one\n"), (0, "two\n")] {
        let input = json!({"version": of_a[at]["version"]});
        data(&call(
            &host.service,
            json!({"scope": "app", "op": "file.restore", "target": "a", "input": input}),
        ));
        assert_eq!(text(&host, "a"), content);
    }
    assert_eq!(fs::metadata(host.path("a")).expect("it is there").permissions().mode() & 0o777, 0o640);
}

/// Starts a command in a thread, and returns once it has made the file `started`; it ends once there is a file `go`.
fn begin(host: &TestService, script: &str) -> std::thread::JoinHandle<Value> {
    for name in ["started", "go"] {
        let _ = fs::remove_file(host.path(name));
    }
    let (service, caller) = (host.service.clone(), Caller::local(Transport::Stdio));
    let input = json!({"command": ["bash", "-c", script]});
    let running = std::thread::spawn(move || {
        let envelope = json!({"scope": "app", "op": "command.run", "input": input});
        wait_for(send(&service, &caller, envelope, &CancellationToken::new()))
    });
    eventually("it has started", || host.path("started").exists());
    running
}

#[test]
fn what_may_be_of_another_command_is_taken_back_only_where_that_is_asked_for() {
    const UNTIL: &str = "touch started; until [ -e go ]; do sleep 0.02; done";
    if lacks_full_sandbox() {
        return;
    }
    let host = scope("full").host();
    let undo = |input: Value, options: Value| {
        call(&host.service, json!({"scope": "app", "op": "history.undo", "input": input, "options": options}))
    };
    host.write("a", "before\n");
    host.write("b", "before\n");
    let before = tree(&host.root());
    let first = begin(&host, &format!("echo after > a; {UNTIL}; rm started go"));
    let second = run(&host, "echo after > b");
    host.write("go", "");
    let first = first.join().expect("it ends");
    let ids = |answer: &Value| answer["operationId"].clone();
    assert_eq!(data(&second)["changes"]["sharedWith"], json!([ids(&first)]), "{second:#}");
    assert_eq!(data(&first)["changes"]["sharedWith"], json!([ids(&second)]), "{first:#}");
    let after = tree(&host.root());
    for (one, other) in [(&first, &second), (&second, &first)] {
        let only = json!({"operation": ids(one)});
        let refused = undo(only.clone(), json!({}));
        assert_eq!(refused["error"]["details"]["rule"], "ran-together", "{refused:#}");
        assert_eq!(refused["error"]["details"]["operations"], json!([ids(other)]), "{refused:#}");
        let restore = json!({"undoId": data(one)["changes"]["undoId"]});
        let refused = call(&host.service, json!({"scope": "app", "op": "file.restore", "input": restore}));
        assert_eq!(refused["error"]["details"]["rule"], "ran-together", "{refused:#}");
        let preview = undo(only, json!({"dryRun": true}));
        assert!(preview["warnings"].to_string().contains("same time"), "{preview:#}");
        assert_eq!(tree(&host.root()), after);
    }
    let undone = undo(json!({"operation": ids(&second), "shared": true}), json!({}));
    assert!(data(&undone).is_object() && undone["warnings"].to_string().contains("same time"), "{undone:#}");
    assert_eq!((text(&host, "a"), text(&host, "b")), ("after\n".into(), "before\n".into()));
    data(&undo(json!({"operation": ids(&undone)}), json!({})));
    assert_eq!(tree(&host.root()), after);
    // Both together are nobody else's.
    let both = undo(json!({"since": "2020-01-01"}), json!({}));
    assert!(data(&both).is_object() && both["warnings"].as_array().is_none_or(Vec::is_empty), "{both:#}");
    assert_eq!(tree(&host.root()), before);
    // While a command runs that changes nothing, all that changes is of the other one.
    let first = begin(&host, UNTIL);
    assert_eq!(data(&run(&host, "cat a")).get("changes"), None);
    host.write("go", "");
    let first = first.join().expect("it ends");
    assert_eq!(data(&first)["changes"].get("sharedWith"), None, "{first:#}");
    // Nor does a batch that fails take back what may be of another command: it says so.
    let first = begin(&host, UNTIL);
    let steps = json!([
        {"op": "command.run", "input": {"command": ["bash", "-c", "echo again > b"]}},
        {"op": "file.read", "target": "never"},
    ]);
    let failed = call(&host.service, json!({"scope": "app", "op": "batch.run", "input": {"steps": steps}}));
    let details = &failed["error"]["details"];
    assert_eq!((&details["rolledBack"], text(&host, "b")), (&json!(false), "again\n".into()), "{failed:#}");
    assert_eq!(details["rollbackError"]["details"]["rule"], "ran-together", "{failed:#}");
    host.write("go", "");
    first.join().expect("it ends");
}

#[test]
fn what_a_command_changed_whose_service_was_killed_can_be_taken_back() {
    if lacks_full_sandbox() {
        return;
    }
    let host = scope("full").host();
    host.save_config();
    host.write("a", "before\n");
    host.write("dir/b", "before\n");
    let before = tree(&host.root());
    let run = json!(["bash", "-c", "rm a; echo after > dir/b; mkdir new; touch new/started; sleep 600"]);
    let kill = |words: &[&str]| {
        let mut command = host.command(words);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts");
        eventually("the command has changed all", || host.path("new/started").exists());
        child.kill().expect("it can be killed");
        child.wait().expect("it ends");
    };
    let look = || {
        let look = host.cli(&["call", "file.stat", "dir"]);
        assert_eq!(look["ok"], true, "{look}");
    };
    kill(&["call", "command.run", "--scope", "app", "--input", &json!({"command": run}).to_string()]);
    let after = tree(&host.root());
    // Not even another request comes before.
    let undone = host.cli(&["undo", "--yes"]);
    assert_eq!(undone["ok"], true, "{undone:#}");
    assert!(undone["warnings"].to_string().contains("was killed"), "{undone:#}");
    assert_eq!(tree(&host.root()), before);
    let id = undone["operationId"].as_str().expect("an id");
    assert_eq!(host.cli(&["undo", id, "--yes"])["ok"], true);
    assert_eq!(tree(&host.root()), after);
    assert_eq!(host.cli(&["undo", "--yes"])["ok"], true);
    assert_eq!(tree(&host.root()), before);
    // As a step of a batch, it is taken back with it.
    let steps = json!([
        {"op": "file.write", "target": "dir/b", "input": {"content": "once\n"}, "options": {"overwrite": true}},
        {"op": "command.run", "input": {"command": run}},
    ]);
    kill(&["call", "batch.run", "--scope", "app", "--input", &json!({"steps": steps}).to_string()]);
    look();
    assert_eq!(tree(&host.root()), before);
}

#[test]
fn what_a_command_changed_whose_client_left_can_be_taken_back() {
    if lacks_full_sandbox() {
        return;
    }
    let host = scope("full").host();
    host.write("a", "before\n");
    let gone = CancellationToken::new();
    let (service, left) = (host.service.clone(), gone.clone());
    let running = std::thread::spawn(move || {
        let input = json!({"command": ["bash", "-c", "rm a; touch started; sleep 600"]});
        let envelope = json!({"scope": "app", "op": "command.run", "input": input});
        wait_for(send(&service, &Caller::local(Transport::Stdio), envelope, &left))
    });
    eventually("it has started", || host.path("started").exists());
    gone.cancel();
    let answer = running.join().expect("it ends");
    assert_eq!(answer["error"]["code"], "cancelled", "{answer:#}");
    eventually("it is kept", || undo(&host, &answer, true)["ok"] == true);
    data(&undo(&host, &answer, false));
    assert_eq!(text(&host, "a"), "before\n");
    assert!(!host.path("started").exists());
}

#[test]
fn a_closed_file_that_a_command_could_write_comes_back_and_is_never_shown() {
    let host = scope("none").host();
    host.write(".env", "TOKEN=before\n");
    host.write("a", "before\n");
    let ran = run(&host, "echo TOKEN=after > .env; rm a");
    let preview = undo(&host, &ran, true);
    data(&preview);
    let shown = preview.to_string();
    assert!(!shown.contains("TOKEN") && !shown.contains(".env"), "{preview:#}");
    host.write(".env", "TOKEN=later\n");
    let refused = undo(&host, &ran, false);
    assert_eq!(refused["error"]["code"], "conflict");
    assert!(!refused.to_string().contains("TOKEN"), "{refused:#}");
    host.write(".env", "TOKEN=after\n");
    data(&undo(&host, &ran, false));
    assert_eq!((text(&host, ".env"), text(&host, "a")), ("TOKEN=before\n".into(), "before\n".into()));
}

#[test]
fn without_the_setting_nothing_of_a_command_is_kept() {
    if lacks_full_sandbox() {
        return;
    }
    let policy = json!({"sandbox": "full", "shell": "sandboxed"});
    let host = scope("full").with_policy(policy).host();
    host.write("a", "before\n");
    let ran = run(&host, "rm a");
    assert_eq!(data(&ran).get("changes"), None);
    assert_eq!(undo(&host, &ran, false)["error"]["code"], "not_found");
    assert!(!host.dirs.state.join("coverage").exists());
}

#[test]
fn what_of_a_command_cannot_be_kept_after_all_is_named_in_the_answer_and_the_history() {
    let host = scope("none").save().host();
    host.write("a", "before\n");
    host.write("b", "before\n");
    // Nothing can be kept where undo is.
    fs::create_dir_all(&host.dirs.state).expect("it is ours");
    fs::write(host.dirs.state.join("versions"), "").expect("it is ours");
    let ran = run(&host, "rm a; echo after > b; echo new > c");
    let changes = &data(&ran)["changes"];
    let counts = ["created", "changed", "removed"].map(|it| changes[it].as_u64());
    assert_eq!(counts, [Some(1); 3], "{ran:#}");
    assert_eq!((changes.get("undoId"), &changes["notCovered"]), (None, &json!(["a", "b", "c"])), "{ran:#}");
    assert!(ran["warnings"].to_string().contains("cannot be taken back"), "{ran:#}");
    let shown = host.cli(&["log", "show", ran["operationId"].as_str().expect("an id")]);
    let said = "1 created, 1 changed, 1 removed, which cannot be taken back";
    assert!(shown["operation"].to_string().contains(said), "{shown:#}");
    // What changes nothing is not spoken of.
    assert_eq!(data(&run(&host, "cat b")).get("changes"), None);
}

#[test]
fn what_a_process_changes_is_not_covered_and_the_answer_and_the_history_say_so() {
    let capabilities = ["fs:read", "fs:write", "command:run", "process:manage", "history:read"];
    let host = scope("none").with_capabilities(&capabilities).save().host();
    host.write("a", "before\n");
    let input = json!({"command": command("rm a"), "stdin": "null"});
    let started = call(&host.service, json!({"scope": "app", "op": "process.start", "input": input}));
    let id = &data(&started)["processId"];
    assert!(started["warnings"].to_string().contains("cannot be taken back"), "{started:#}");
    let until = json!({"any": [{"until": "exit"}]});
    let wait = json!({"scope": "app", "op": "process.wait", "target": id, "input": until});
    data(&call(&host.service, wait));
    eventually("the process has removed it", || !host.path("a").exists());
    assert_eq!(undo(&host, &started, false)["error"]["code"], "not_found");
    let id = started["operationId"].as_str().expect("an id");
    let shown = host.cli(&["log", "show", id]);
    assert_eq!(shown["operation"]["undo"]["state"], "notCovered", "{shown:#}");
    let refused = host.cli(&["undo", id, "--yes"]);
    assert!(refused.to_string().contains("undo covers commands that end"), "{refused:#}");
}

#[test]
fn an_undo_that_is_killed_is_taken_back_by_the_next_service() {
    const FILES: usize = 600;
    const KILLS: u32 = 8;
    const DESTROY: &str = "chmod u+w closed/in; echo after > closed/in/file; chmod u-w closed/in; rm -r dir; echo after >> changed;
        ln -sfn / link; mkdir new; for i in $(seq 200); do echo $i > new/$i; done";
    if lacks_full_sandbox() {
        return;
    }
    let host = scope("full").host();
    host.save_config();
    for number in 0..FILES {
        host.write(format!("dir/{}/{number}", number % 7), format!("{number}\n"));
    }
    host.write("changed", "before\n");
    fs::hard_link(host.path("changed"), host.path("dir/0/linked")).expect("linked");
    host.write("closed/in/file", "before\n");
    set_mode(&host.path("closed/in"), 0o500).expect("own folder");
    set_mode(&host.path("closed"), 0o555).expect("own folder");
    symlink("dir/1", host.path("link")).expect("made");
    let before = tree(&host.root());
    let ran = run(&host, DESTROY);
    let after = tree(&host.root());
    let id = ran["operationId"].as_str().expect("an id").to_owned();
    let mut command = host.command(&["undo", &id, "--yes"]);
    let mut begin = || command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts");
    let began = Instant::now();
    assert!(begin().wait().expect("it ends").success());
    let whole = began.elapsed();
    assert_eq!(tree(&host.root()), before);
    let undo_again = || {
        let undone = host.cli(&["undo", "--yes"]);
        assert_eq!(undone["ok"], true, "{undone:#}");
    };
    for kill in 0..KILLS {
        // The state after the command again, by another command of the same kind.
        if tree(&host.root()) == before {
            let ran = run(&host, DESTROY);
            assert_eq!(tree(&host.root()).len(), after.len(), "{ran:#}");
        }
        let mut child = host
            .command(&["undo", "--yes"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("it starts");
        std::thread::sleep(whole * (kill + 1) / (KILLS + 1));
        child.kill().expect("it can be killed");
        child.wait().expect("it ends");
        let look = host.cli(&["call", "file.stat", "changed"]);
        assert_eq!(look["ok"], true, "{look}");
        let found = tree(&host.root());
        assert!(
            found == before || found == after,
            "kill {kill}: {} paths, {} before and {} after",
            found.len(),
            before.len(),
            after.len()
        );
    }
    if tree(&host.root()) != before {
        undo_again();
    }
    assert_eq!(tree(&host.root()), before);
}

/// Nothing else of the file was changed, and its owner may not write it. Root may write everything.
#[test]
fn attributes_of_a_file_that_may_only_be_read_come_back() {
    if lacks_full_sandbox() {
        return;
    }
    let user = OrdinaryUser::new();
    user.run(&["mkdir", "app"]);
    let set = "import os; open('app/kept', 'w').write('x'); os.setxattr('app/kept', 'user.note', b'mine'); \
               os.chmod('app/kept', 0o444)";
    let take =
        "import os; os.chmod('kept', 0o644); os.removexattr('kept', 'user.note'); os.chmod('kept', 0o444)";
    user.run(&["python3", "-c", set]);
    fs::write(user.path("app/take.py"), take).expect("written");
    let said = user.run(&["./bailiwick", "setup", "app", "--yes", "--id", "app", "--preset", "full"]);
    assert!(user.path("home").exists(), "{said}");
    let note = || user.run(&["python3", "-c", "import os; print(os.listxattr('app/kept'))"]);
    assert!(note().contains("user.note"), "{said}");
    let ran = user.run(&["./bailiwick", "call", "command.run", "--command", "python3 take.py"]);
    assert!(!note().contains("user.note"), "{said}{ran}");
    let undone = user.run(&["./bailiwick", "undo", "--yes"]);
    assert!(note().contains("user.note"), "{said}{ran}{undone}");
}
