//! Approvals: what needs one waits for the user, and what the user gives is for that very request alone.

mod first_use;
mod phone;
// Only Linux has overlays.
#[cfg(all(target_os = "linux", not(feature = "portable-launch")))]
mod commit;
// Only Linux has overlays.
#[cfg(all(target_os = "linux", not(feature = "portable-launch")))]
mod preview;

use std::fs;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;

use bailiwick::contract::{Caller, Transport};
use serde_json::{Value, json};
use support::http_client::send;
use support::scope::TestScope;
use support::server::TestServer;
use support::service::{TestService, data};
use support::stdio_client::{StdioClient, in_memory, meta, outcome};
use tokio_util::sync::CancellationToken;

use support::needs::require_program;

/// Starts a service whose scope has `fs:write` need approval.
fn asks_for_writing() -> TestService {
    TestScope::new().with_field("ask", json!(["fs:write"])).save().host()
}

/// Starts a service whose scope has `echo` and `make` need approval.
fn asks_for_commands() -> TestService {
    TestScope::new()
        .with_capabilities(&["fs:read", "fs:write", "command:run", "package:run", "history:read"])
        .with_policy(json!({
            "allowedCommands": [{"tokens": ["echo", "*"]}],
            "askCommands": ["echo *", "make *"],
        }))
        .save()
        .host()
}

fn write(target: &str, content: &str) -> Value {
    json!({"op": "file.write", "target": target, "input": {"content": content}})
}

fn echo(word: &str) -> Value {
    json!({"op": "command.run", "input": {"command": ["echo", word]}})
}

/// Returns the id of the ticket of a request that needs approval.
fn ticket(answer: &Value) -> String {
    assert_eq!(answer["error"]["code"], "approval_required", "{answer:#}");
    assert_eq!(answer["error"]["details"]["stage"], "approval");
    let id = answer["error"]["details"]["approvalId"].as_str().expect("an id").to_owned();
    let hints = answer["error"]["hints"].to_string();
    assert!(hints.contains(&format!("bailiwick approve {id}")), "{hints}");
    id
}

fn approve(host: &TestService, words: &[&str]) -> Value {
    let done = host.cli(&[&["approve"], words].concat());
    assert_eq!(done["ok"], true, "{done:#}");
    done
}

/// Returns the one file of the store whose name ends so.
fn stored(host: &TestService, end: &str) -> PathBuf {
    let files = fs::read_dir(host.dirs.state.join("approvals")).expect("the folder of approvals");
    let mut files = files.map(|entry| entry.expect("an entry").path());
    files.find(|path| path.extension().is_some_and(|it| it == end)).unwrap_or_else(|| panic!("no {end}"))
}

#[tokio::test(flavor = "multi_thread")]
async fn an_approval_is_for_one_request_and_survives_a_restart() {
    let mut host = asks_for_writing();
    let id = ticket(&host.send(write("new.txt", "text")).await);
    assert!(!host.path("new.txt").exists());
    assert_eq!(ticket(&host.send(write("new.txt", "text")).await), id, "asked again it is the same question");
    host.restart();
    let listed = host.waiting();
    assert_eq!(listed.len(), 1);
    assert_eq!(listed[0]["id"], id.as_str());
    // The temporary folder has a random name, which is left out as a secret would be.
    assert!(
        listed[0]["target"].as_str().is_some_and(|it| it.starts_with('/') && it.ends_with("/app/new.txt"))
    );
    assert_eq!(listed[0]["always"], json!(["bailiwick scope allow app fs:write"]));
    approve(&host, &[&id, "--once"]);
    host.restart();
    data(&host.send(write("new.txt", "text")).await);
    assert_eq!(fs::read_to_string(host.path("new.txt")).expect("written"), "text");

    let again = ticket(&host.send(write("new.txt", "text")).await);
    assert_ne!(again, id, "a replay is a question of its own");
    let late = host.cli(&["approve", &id, "--once"]);
    assert_eq!(late["error"]["code"], "not_found", "a ticket is answered once: {late:#}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_approval_is_for_that_request_and_that_caller_alone() {
    let host = TestScope::new().with_field("ask", json!(["fs:write"])).with_copy("twin").save().host();
    let within = |scope: &str, mut request: Value| {
        request["scope"] = json!(scope);
        request
    };
    let approved = within("app", write("new.txt", "text"));
    let id = ticket(&host.send(approved.clone()).await);
    approve(&host, &[&id, "--once"]);
    let foreign =
        Caller { token: Some("01JD0000000000000000000001".to_owned()), ..Caller::local(Transport::Http) };
    let create = json!({"op": "file.create", "target": "new.txt", "input": {"content": "text"}});
    let with_option = json!({"op": "file.write", "target": "new.txt", "input": {"content": "text"}, "options": {"createParents": true}});
    let local = Caller::local(Transport::Stdio);
    for (caller, envelope) in [
        (&local, within("app", write("new.txt", "other text"))),
        (&local, within("app", write("other.txt", "text"))),
        (&local, within("app", create)),
        (&local, within("app", with_option)),
        (&local, within("twin", write("new.txt", "text"))),
        (&foreign, approved.clone()),
    ] {
        let other = ticket(&host.send_as(caller, envelope.clone()).await);
        assert_ne!(other, id, "{envelope}");
    }
    assert!(!host.path("new.txt").exists() && !host.path("other.txt").exists());
    data(&host.send(approved).await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_requests_at_the_same_time_one_uses_an_approval() {
    let host = Arc::new(asks_for_writing());
    let id = ticket(&host.send(write("new.txt", "text")).await);
    approve(&host, &[&id, "--once"]);
    let tries = (0..8).map(|_| {
        let host = Arc::clone(&host);
        tokio::spawn(async move { host.send(write("new.txt", "text")).await })
    });
    let mut done = 0;
    for one in tries.collect::<Vec<_>>() {
        let answer = one.await.expect("it ends");
        match answer["ok"].as_bool() {
            Some(true) => done += 1,
            _ => drop(ticket(&answer)),
        }
    }
    assert_eq!(done, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_approval_that_has_expired_or_is_another_keys_opens_nothing() {
    let host = asks_for_writing();
    let id = ticket(&host.send(write("new.txt", "text")).await);
    approve(&host, &[&id, "--for", "1h"]);
    let granted = stored(&host, "granted");
    let text = fs::read_to_string(&granted).expect("read");
    let decision: Value = serde_json::from_str(&text).expect("JSON");
    // A copy is as private as the file: others are not believed anyway.
    let kept = granted.with_extension("kept");
    fs::copy(&granted, &kept).expect("copied");
    for (field, value) in [
        ("expiresAtMs", json!(decision["atMs"])),
        ("atMs", json!(decision["expiresAtMs"])),
        ("expiresAtMs", json!(i64::MAX)),
        ("approved", Value::Null),
    ] {
        let mut changed = decision.clone();
        changed[field] = value;
        fs::copy(&kept, &granted).expect("copied");
        fs::write(&granted, changed.to_string()).expect("written");
        ticket(&host.send(write("new.txt", "text")).await);
    }
    // The file of one question in the place of another's.
    ticket(&host.send(write("other.txt", "text")).await);
    let key = decision["ticket"]["key"].as_str().expect("a key");
    let files =
        fs::read_dir(host.dirs.state.join("approvals")).expect("read").map(|it| it.expect("an entry").path());
    let is_other = |path: &PathBuf| {
        path.extension().is_some_and(|it| it == "open") && !path.to_string_lossy().contains(key)
    };
    let others: Vec<PathBuf> = files.filter(is_other).collect();
    assert_eq!(others.len(), 1);
    fs::copy(&kept, others[0].with_extension("granted")).expect("copied");
    fs::copy(&kept, &granted).expect("copied");
    ticket(&host.send(write("other.txt", "text")).await);
    assert!(!host.path("other.txt").exists());
    data(&host.send(write("new.txt", "text")).await);
    data(&host.send(write("new.txt", "text")).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_approval_for_a_session_ends_with_it() {
    let host = asks_for_writing();
    let of = |session: Option<&str>| Caller {
        session: session.map(str::to_owned),
        ..Caller::local(Transport::Stdio)
    };
    let id = ticket(&host.send_as(&of(None), write("a.txt", "text")).await);
    let none = host.cli(&["approve", &id, "--session"]);
    assert_eq!(none["error"]["code"], "invalid_request", "{none:#}");
    approve(&host, &["--deny", &id]);
    let id = ticket(&host.send_as(&of(Some("one")), write("b.txt", "text")).await);
    approve(&host, &[&id, "--session"]);
    for _ in 0..3 {
        data(&host.send_as(&of(Some("one")), write("b.txt", "text")).await);
    }
    ticket(&host.send_as(&of(Some("two")), write("b.txt", "text")).await);
    ticket(&host.send_as(&of(None), write("b.txt", "text")).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refusal_answers_the_same_request_and_no_other() {
    let host = asks_for_writing();
    let id = ticket(&host.send(write("new.txt", "text")).await);
    approve(&host, &["--deny", &id]);
    let refused = host.send(write("new.txt", "text")).await;
    assert_eq!(refused["error"]["code"], "permission_denied", "{refused:#}");
    assert_eq!(refused["error"]["details"]["rule"], "refused-by-user");
    ticket(&host.send(write("other.txt", "text")).await);
    assert!(!host.path("new.txt").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_is_approved_by_its_words_and_shown_without_secrets() {
    let host = asks_for_commands();
    let answer = host.send(echo("one")).await;
    let id = ticket(&answer);
    let asked = &answer["error"]["details"]["approval"];
    assert_eq!(asked["commands"], json!(["echo one"]));
    assert_eq!(asked["containment"], "sandbox auto, network loopback");
    assert!(
        asked["target"].as_str().is_some_and(|it| it.starts_with('/') && it.ends_with("/app")),
        "{asked}"
    );
    approve(&host, &[&id, "--once"]);
    ticket(&host.send(echo("two")).await);
    let line = json!({"op": "command.run", "input": {"command": "echo one && echo two"}});
    ticket(&host.send(line).await);
    assert_eq!(data(&host.send(echo("one")).await)["stdout"], "one\n");

    let secret = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
    let answer = host.send(echo(secret)).await;
    let id = ticket(&answer);
    assert!(!answer.to_string().contains(secret));
    let shown = host.command(&["approve", "--list"]).output().expect("it runs");
    assert!(String::from_utf8_lossy(&shown.stdout).contains(&id));
    assert!(!String::from_utf8_lossy(&shown.stdout).contains(secret));
    assert!(!fs::read_to_string(stored(&host, "open")).expect("read").contains(secret));
}

/// A session of its own has no terminal, whatever runs these tests.
const IN_A_SESSION_OF_ITS_OWN: &str =
    "import subprocess, sys; sys.exit(subprocess.run(sys.argv[1:], start_new_session=True).returncode)";

#[tokio::test(flavor = "multi_thread")]
async fn without_a_terminal_what_waits_is_shown_with_the_commands_that_answer_it() {
    require_program("python3");
    let host = asks_for_commands();
    let id = ticket(&host.send(echo("one")).await);
    let run = |words: &[&str]| {
        let command = host.command(&[&["approve", id.as_str()], words].concat());
        let mut python = Command::new("python3");
        python.args(["-c", IN_A_SESSION_OF_ITS_OWN]).arg(command.get_program()).args(command.get_args());
        python.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        python.output().expect("it runs")
    };
    let shown = run(&[]);
    let (said, hints) = (String::from_utf8_lossy(&shown.stdout), String::from_utf8_lossy(&shown.stderr));
    assert_eq!(shown.status.code(), Some(18), "{said}{hints}");
    assert!(said.contains("command   echo one"), "{said}");
    assert!(hints.contains("there is no terminal"), "{hints}");
    for answer in ["--once", "--deny"] {
        assert!(hints.contains(&format!("`bailiwick approve {id} {answer}`")), "{hints}");
    }
    let told: Value = serde_json::from_slice(&run(&["--json"]).stdout).expect("JSON");
    assert_eq!(told["error"]["code"], "provider_unavailable", "{told:#}");
    assert_eq!(host.waiting().len(), 1, "it waits on");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_script_is_approved_by_the_command_that_it_stands_for() {
    require_program("make");
    let host = asks_for_commands();
    host.write("Makefile", "hello:\n\t@echo hello\n");
    let script = || json!({"op": "package.run", "input": {"script": "hello"}});
    let answer = host.send(script()).await;
    let id = ticket(&answer);
    assert_eq!(answer["error"]["details"]["approval"]["commands"], json!(["make hello"]));
    approve(&host, &[&id, "--once"]);
    assert_eq!(data(&host.send(script()).await)["stdout"], "hello\n");
    ticket(&host.send(script()).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn always_changes_the_rules_that_asked_and_no_others() {
    let host = asks_for_commands();
    let mut envelope = echo("one");
    envelope["scope"] = json!("app");
    let id = ticket(&host.call(&envelope));
    let listed = host.waiting();
    assert_eq!(listed[0]["always"], json!(["bailiwick scope edit app --remove-rule 'echo *'"]));
    approve(&host, &[&id, "--always"]);
    data(&host.call(&envelope));
    data(&host.call(&envelope));
    let config: Value =
        serde_json::from_str(&fs::read_to_string(host.config_path()).expect("read")).expect("JSON");
    assert_eq!(config["scopes"][0]["policy"]["askCommands"], json!(["make *"]));
}

#[tokio::test(flavor = "multi_thread")]
async fn every_decision_is_in_the_history() {
    let host = asks_for_writing();
    for (target, words) in [("a.txt", &["--once"][..]), ("b.txt", &["--refuse"])] {
        let id = ticket(&host.send(write(target, "text")).await);
        approve(&host, &[&[id.as_str()], words].concat());
    }
    let rows = host.data(json!({"op": "history.timeline"})).await;
    let told: Vec<(&Value, &Value)> = rows["operations"]
        .as_array()
        .unwrap_or_else(|| panic!("{rows:#}"))
        .iter()
        .filter(|row| row["op"] == "approval")
        .map(|row| (&row["caller"], &row["summary"]))
        .collect();
    assert_eq!(told.len(), 2, "{rows:#}");
    assert!(
        told.iter().all(|(caller, _)| caller.as_str().is_some_and(|it| it.starts_with("local"))),
        "{told:?}"
    );
    assert!(told[0].1.as_str().is_some_and(|it| it.starts_with("refused: file.write")), "{told:?}");
    assert!(told[1].1.as_str().is_some_and(|it| it.starts_with("approved once: file.write")), "{told:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn no_request_of_a_client_approves_anything() {
    let host = asks_for_writing();
    let id = ticket(&host.send(write("new.txt", "text")).await);
    for op in ["approve", "approval", "approval.grant", "approvals.decide", "computer.approve"] {
        let answer = host.send(json!({"op": op, "target": id, "input": {"answer": "once"}})).await;
        assert_eq!(answer["error"]["code"], "unknown_operation", "{op}");
    }
    for field in ["approval", "approvalId", "approved"] {
        for part in ["input", "options"] {
            let mut envelope = write("new.txt", "text");
            envelope[part][field] = json!(id);
            assert_eq!(host.send(envelope).await["error"]["code"], "invalid_request", "{part}.{field}");
        }
    }
    let own = host.dirs.state.join("approvals");
    for target in [own.join("x.granted"), stored(&host, "open")] {
        let answer = host.send(write(target.to_str().expect("UTF-8"), "{}")).await;
        assert_eq!(answer["error"]["code"], "path_out_of_scope", "{answer:#}");
    }
    ticket(&host.send(write("new.txt", "text")).await);
    assert!(!host.path("new.txt").exists());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn who_waits_for_an_answer_has_it_at_once() {
    let host = Arc::new(
        TestScope::new()
            .with_capabilities(&["fs:read", "process:manage", "history:read"])
            .with_field("ask", json!(["fs:write"]))
            .save()
            .host(),
    );
    let foreign =
        Caller { token: Some("01JD0000000000000000000001".to_owned()), ..Caller::local(Transport::Http) };
    for (target, words, said) in [("a.txt", "--once", "approved"), ("b.txt", "--refuse", "refused")] {
        let id = ticket(&host.send(write(target, "text")).await);
        let wait = json!({"op": "process.wait", "input": {"any": [{"until": "approval", "approval": id}]}});
        let other = host.send_as(&foreign, wait.clone()).await;
        assert_eq!(other["error"]["code"], "not_found", "{other:#}");
        let waits = tokio::spawn({
            let host = Arc::clone(&host);
            async move { host.send(wait).await }
        });
        approve(&host, &[&id, words]);
        let answer = waits.await.expect("it ends");
        let seen = data(&answer);
        assert_eq!(
            (&seen["outcome"], &seen["conditions"][0]["answer"]),
            (&json!("held"), &json!(said)),
            "{seen:#}"
        );
    }
    data(&host.send(write("a.txt", "text")).await);
}

/// Starts a service whose scope asks about an operation, about files, and about what is used the first time.
fn asks_in_every_way() -> TestService {
    let capabilities =
        ["fs:read", "search:read", "fs:write", "command:run", "process:manage", "history:read"];
    let host = TestScope::new()
        .with_capabilities(&capabilities)
        .with_policy(json!({
            "allowedCommands": ["printf *", "echo *", "env *", "cat *"],
            "askOperations": ["file.delete", "command.start"],
            "askFiles": ["secrets/**", "**/*.plan", ".env"],
            "openSensitive": [".env"],
            "askFirstUse": ["printf"],
        }))
        .save()
        .host();
    for file in ["secrets/a.txt", "secrets/b.txt", "x.plan", ".env", "free.txt", "gone.txt"] {
        host.write(file, format!("needle of {file}\n"));
    }
    host
}

fn delete(target: &str) -> Value {
    json!({"op": "file.delete", "target": target})
}

fn read(target: &str) -> Value {
    json!({"op": "file.read", "target": target})
}

#[tokio::test(flavor = "multi_thread")]
async fn operations_and_files_ask_each_time_and_an_approval_is_for_that_request_and_caller_alone() {
    let host = asks_in_every_way();
    let foreign =
        Caller { token: Some("01JD0000000000000000000001".to_owned()), ..Caller::local(Transport::Http) };
    for (asked, altered) in [
        (delete("gone.txt"), delete("free.txt")),
        (read("secrets/a.txt"), read("secrets/b.txt")),
        (read(".env"), json!({"op": "file.stat", "target": ".env"})),
        (write("x.plan", "text"), write("x.plan", "other")),
        (
            json!({"op": "file.copy", "target": "free.txt", "input": {"to": "secrets/new.txt"}}),
            json!({"op": "file.copy", "target": "gone.txt", "input": {"to": "secrets/new.txt"}}),
        ),
    ] {
        let id = ticket(&host.send(asked.clone()).await);
        approve(&host, &[&id, "--once"]);
        assert_ne!(ticket(&host.send(altered.clone()).await), id, "altered: {altered}");
        assert_ne!(ticket(&host.send_as(&foreign, asked.clone()).await), id, "foreign: {asked}");
        if asked["op"] == "file.delete" {
            host.write("gone.txt", "again\n");
        }
        data(&host.send(asked.clone()).await);
        if asked["op"] == "file.delete" {
            host.write("gone.txt", "again\n");
        }
        assert_ne!(ticket(&host.send(asked.clone()).await), id, "replayed: {asked}");
        // Expired: as if it had been granted two hours earlier.
        let id = ticket(&host.send(asked.clone()).await);
        approve(&host, &[&id, "--once"]);
        let granted = stored(&host, "granted");
        let mut decision: Value =
            serde_json::from_slice(&fs::read(&granted).expect("read")).expect("a decision");
        for (place, field) in [("", "atMs"), ("", "expiresAtMs"), ("/decided", "uptimeMs")] {
            let part = decision.pointer_mut(place).expect("a part");
            part[field] = json!(part[field].as_i64().expect("a number") - 2 * 60 * 60 * 1_000);
        }
        fs::write(&granted, decision.to_string()).expect("written");
        ticket(&host.send(asked.clone()).await);
        // What has expired may be gone already.
        let _ = fs::remove_file(&granted);
    }
    data(&host.send(read("free.txt")).await);
    data(&host.send(json!({"op": "file.stat", "target": "gone.txt"})).await);
}

// Other systems count the time of approvals by the clock alone.
#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread")]
async fn a_change_of_the_clock_neither_ends_an_approval_nor_prolongs_it() {
    let host = asks_for_writing();
    let id = ticket(&host.send(write("new.txt", "text")).await);
    approve(&host, &[&id, "--for", "1h"]);
    let granted = stored(&host, "granted");
    let decision: Value = serde_json::from_slice(&fs::read(&granted).expect("read")).expect("a decision");
    // A copy is as private as the file: others are not believed anyway.
    let kept = granted.with_extension("kept");
    fs::copy(&granted, &kept).expect("copied");
    let moved = |wall_ms: i64, uptime_ms: i64| {
        let mut moved = decision.clone();
        for (place, field, by) in
            [("", "atMs", wall_ms), ("", "expiresAtMs", wall_ms), ("/decided", "uptimeMs", uptime_ms)]
        {
            let part = moved.pointer_mut(place).expect("a part");
            part[field] = json!(part[field].as_i64().expect("a number") + by);
        }
        fs::copy(&kept, &granted).expect("copied");
        fs::write(&granted, moved.to_string()).expect("written");
    };
    const HOUR: i64 = 60 * 60 * 1_000;
    // The clock was set forward or back by ten days since.
    for jump in [-240 * HOUR, 240 * HOUR] {
        moved(jump, 0);
        data(&host.send(write("new.txt", "text")).await);
        moved(jump, -2 * HOUR);
        ticket(&host.send(write("new.txt", "text")).await);
    }
    moved(0, -2 * HOUR);
    ticket(&host.send(write("new.txt", "text")).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn files_that_ask_are_closed_to_all_that_does_not_name_them() {
    let host = asks_in_every_way();
    let found = host.data(json!({"op": "file.search", "input": {"query": "needle of"}})).await.to_string();
    assert!(found.contains("free.txt"), "{found}");
    for closed in ["secrets/a.txt", "x.plan", ".env"] {
        assert!(!found.contains(closed), "{found}");
    }
    let many = json!({"op": "file.read_many", "input": {"paths": ["free.txt", "secrets/a.txt"]}});
    let many = host.send(many).await.to_string();
    assert!(many.contains("needle of free.txt") && !many.contains("needle of secrets"), "{many}");
    // An approval for one file opens no other, by whichever way.
    let id = ticket(&host.send(read("secrets/a.txt")).await);
    approve(&host, &[&id, "--for", "1h"]);
    data(&host.send(read("secrets/a.txt")).await);
    let found = host.data(json!({"op": "file.search", "input": {"query": "needle of"}})).await.to_string();
    assert!(!found.contains("secrets/a.txt"), "{found}");
    let answer =
        host.send(json!({"op": "command.run", "input": {"command": ["cat", "secrets/a.txt"]}})).await;
    assert_eq!(answer["error"]["code"], "permission_denied", "{answer:#}");
    assert_eq!(answer["error"]["details"]["rule"], "ask-files", "{answer:#}");
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("secrets/b.txt", host.path("link.txt")).expect("a link");
        let answer = host.send(read("link.txt")).await;
        assert_eq!(answer["error"]["details"]["rule"], "ask-files", "{answer:#}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_operation_asks_by_whichever_of_its_names_it_is_called_and_named() {
    let host = asks_in_every_way();
    for op in ["process.start", "command.start"] {
        ticket(&host.send(json!({"op": op, "input": {"command": ["echo", "one"]}})).await);
    }
    let mut family = asks_in_every_way();
    family.config.scopes[0].policy.ask_operations = vec!["file.*".to_owned()];
    family.restart();
    ticket(&family.send(read("free.txt")).await);
    data(&family.send(json!({"op": "history.last"})).await);
    // `command.start` is another name of `process.start`.
    family.config.scopes[0].policy.ask_operations = vec!["command.*".to_owned()];
    family.restart();
    for op in ["process.start", "command.start"] {
        ticket(&family.send(json!({"op": op, "input": {"command": ["echo", "one"]}})).await);
    }
    let mut host = asks_in_every_way();
    host.config.scopes[0].policy.ask_operations = vec!["file.shred".to_owned()];
    let settings =
        bailiwick::service::ServiceSettings { config: host.config.clone(), dirs: host.dirs.clone() };
    let refused =
        support::boot(settings).err().expect("a name that no operation has would ask about nothing");
    assert!(refused.to_string().contains("file.shred"), "{refused}");
    host.config.scopes[0].policy.ask_operations.clear();
    host.restart();
    data(&host.send(delete("gone.txt")).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_command_line_has_operations_files_and_first_uses_ask() {
    let host = TestScope::new().save();
    for words in [
        &["scope", "allow", "app", "--operation", "file.delete", "--ask"][..],
        &["scope", "allow", "app", "--operation", "command.start", "--ask"],
        &["scope", "allow", "app", "--files", "notes/**", "--ask"],
        &["scope", "allow", "app", "--first-use", "fs:write", "--first-use", "npm"],
        &["scope", "edit", "app", "--other-hosts", "ask"],
    ] {
        let done = host.cli(words);
        assert_eq!(done["ok"], true, "{words:?}: {done:#}");
    }
    let policy = &host.cli(&["scope", "show", "app"])["scope"]["policy"];
    assert_eq!(policy["askOperations"], json!(["file.delete", "process.start"]), "{policy:#}");
    assert_eq!(policy["askFiles"], json!(["notes/**"]));
    assert_eq!(policy["askFirstUse"], json!(["fs:write", "npm"]));
    assert_eq!(policy["network"], json!({"hosts": [], "otherwise": "ask"}));
    let shown = host.command(&["scope", "show", "app"]).output().expect("it runs").stdout;
    let shown = String::from_utf8_lossy(&shown).into_owned();
    for words in
        ["notes/**", "each time: file.delete, process.start", "the first time in a session: fs:write, npm"]
    {
        assert!(shown.contains(words), "{words}: {shown}");
    }
    let unknown = host.cli(&["scope", "allow", "app", "--operation", "file.delet", "--ask"]);
    assert_eq!(unknown["error"]["code"], "unknown_operation", "{unknown:#}");
    let explained = host.cli(&["policy", "explain", "file.delete", "notes/a.txt", "--scope", "app"]);
    assert_eq!(explained["code"], "approval_required", "{explained:#}");
    assert!(
        explained.to_string().contains("bailiwick scope edit app --remove-rule file.delete"),
        "{explained:#}"
    );
    for words in [
        &["scope", "edit", "app", "--remove-rule", "file.delete"][..],
        &["scope", "allow", "app", "--operation", "process.start"],
        &["scope", "allow", "app", "--files", "notes/**"],
        &["scope", "edit", "app", "--remove-rule", "fs:write"],
        &["scope", "edit", "app", "--other-hosts", "deny"],
    ] {
        let done = host.cli(words);
        assert_eq!(done["ok"], true, "{words:?}: {done:#}");
    }
    let policy = &host.cli(&["scope", "show", "app"])["scope"]["policy"];
    assert!(policy.get("askOperations").is_none() && policy.get("askFiles").is_none(), "{policy:#}");
    assert_eq!((&policy["askFirstUse"], &policy["network"]), (&json!(["npm"]), &json!("loopback")));
}

/// Starts a service whose scope has `fs:write` need approval, and lets clients approve these kinds of operations.
fn lets_clients_approve(kinds: &Value) -> TestService {
    let scope = TestScope::new().with_field("ask", json!(["fs:write"]));
    scope.with_policy(json!({"clientApprovals": kinds})).save().host()
}

fn arguments() -> Value {
    let mut envelope = write("new.txt", "text");
    envelope["scope"] = json!("app");
    envelope["options"] = json!({"detail": "full"});
    envelope
}

/// Sends a call over HTTP by a client of the newest revision that can ask its user; with an answer, if one is given.
async fn call_over_http(
    address: SocketAddr,
    token: &str,
    arguments: &Value,
    answer: Option<&Value>,
) -> Value {
    let mut about = meta();
    about["io.modelcontextprotocol/clientCapabilities"] = json!({"elicitation": {"form": {}}});
    let mut params = json!({"name": "computer_operation", "arguments": arguments, "_meta": about});
    if let Some(answer) = answer {
        params["requestState"] = answer["requestState"].clone();
        params["inputResponses"] = answer["inputResponses"].clone();
    }
    let message = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
    let bearer = format!("Bearer {token}");
    let headers = [
        ("Authorization", bearer.as_str()),
        ("Content-Type", "application/json"),
        ("Accept", "application/json, text/event-stream"),
        ("MCP-Protocol-Version", "2026-07-28"),
        ("Mcp-Method", "tools/call"),
        ("Mcp-Name", "computer_operation"),
    ];
    send(address, "POST", "/mcp", &headers, &message.to_string()).await.json()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn over_http_a_client_is_asked_too_and_its_answer_is_for_its_own_call_alone() {
    for (action, code) in
        [("accept", None), ("decline", Some("permission_denied")), ("cancel", Some("approval_required"))]
    {
        let mut house = TestServer::over(lets_clients_approve(&json!(["writes", "destroys"])));
        let (own, foreign) =
            (house.token("own", None, &["*"], &["*"]), house.token("other", None, &["*"], &["*"]));
        let address = house.http().await;
        let asked = call_over_http(address, &own, &arguments(), None).await;
        assert_eq!(asked["result"]["resultType"], "input_required", "{asked:#}");
        assert_eq!(asked["result"]["inputRequests"]["approve"]["method"], "elicitation/create", "{asked:#}");
        assert!(!house.root().join("new.txt").exists());
        // A client that has gone by now leaves a ticket.
        assert_eq!(house.waiting().len(), 1);
        let answer = json!({
            "requestState": asked["result"]["requestState"],
            "inputResponses": {"approve": {"action": action, "content": {}}},
        });
        // Another token's answer and one to another call decide nothing.
        let stolen = outcome(&call_over_http(address, &foreign, &arguments(), Some(&answer)).await);
        assert_eq!(stolen["error"]["code"], "approval_required", "{stolen:#}");
        assert!(!house.root().join("new.txt").exists());
        let answered = outcome(&call_over_http(address, &own, &arguments(), Some(&answer)).await);
        assert_eq!(answered["error"]["code"].as_str(), code, "{action}: {answered:#}");
        assert_eq!(house.root().join("new.txt").exists(), action == "accept", "{answered:#}");
        let mut altered = arguments();
        altered["target"] = json!("other.txt");
        let altered = outcome(&call_over_http(address, &own, &altered, Some(&answer)).await);
        assert_eq!(altered["error"]["code"], "approval_required", "{altered:#}");
        if action == "accept" {
            let replayed = outcome(&call_over_http(address, &own, &arguments(), Some(&answer)).await);
            assert_eq!(replayed["error"]["code"], "approval_required", "{replayed:#}");
        }
        house.end().await;
    }
}

/// Begins a conversation of an older revision with a client that can ask its user.
async fn older(host: &TestService) -> StdioClient {
    let (mut client, _) = in_memory(host.backend(), CancellationToken::new());
    let params = json!({
        "protocolVersion": "2025-11-25",
        "capabilities": {"elicitation": {}},
        "clientInfo": {"name": "test", "version": "1"},
    });
    client.ask("initialize", params).await;
    client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
    client
}

/// Calls a tool, answers the question of the service, and returns the answer of the call.
async fn call_and_answer(client: &mut StdioClient, action: &str) -> Value {
    let params = json!({"name": "computer_operation", "arguments": arguments()});
    client.send(&json!({"jsonrpc": "2.0", "id": 77, "method": "tools/call", "params": params})).await;
    let question = client.receive().await;
    assert_eq!(question["method"], "elicitation/create", "{question:#}");
    let message = question["params"]["message"].as_str().expect("a message");
    assert!(message.contains("new.txt") && message.contains("fs:write"), "{message}");
    let result = json!({"action": action, "content": {}});
    client.send(&json!({"jsonrpc": "2.0", "id": question["id"], "result": result})).await;
    let answer = client.receive().await;
    assert_eq!(answer["id"], 77, "{answer:#}");
    outcome(&answer)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_of_an_older_revision_is_asked_where_its_answer_counts() {
    for (action, code) in
        [("accept", None), ("decline", Some("permission_denied")), ("cancel", Some("approval_required"))]
    {
        let host = lets_clients_approve(&json!(["writes", "destroys"]));
        let mut client = older(&host).await;
        let answer = call_and_answer(&mut client, action).await;
        assert_eq!(answer["error"]["code"].as_str(), code, "{action}: {answer:#}");
        assert_eq!(host.path("new.txt").exists(), action == "accept");
        assert_eq!(host.waiting().len(), usize::from(action == "cancel"), "{action}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_of_the_newest_revision_sends_its_call_again_with_the_answer() {
    let mut about = meta();
    about["io.modelcontextprotocol/clientCapabilities"] = json!({"elicitation": {"form": {}}});
    let params = json!({"name": "computer_operation", "arguments": arguments(), "_meta": about});
    for (action, code) in
        [("accept", None), ("decline", Some("permission_denied")), ("cancel", Some("approval_required"))]
    {
        let host = lets_clients_approve(&json!(["writes", "destroys"]));
        let (mut client, _) = in_memory(host.backend(), CancellationToken::new());
        let asked = client.ask("tools/call", params.clone()).await;
        assert_eq!(asked["result"]["resultType"], "input_required", "{asked:#}");
        assert_eq!(asked["result"]["inputRequests"]["approve"]["method"], "elicitation/create");
        assert!(!host.path("new.txt").exists());
        let mut again = params.clone();
        again["requestState"] = asked["result"]["requestState"].clone();
        again["inputResponses"] = json!({"approve": {"action": action, "content": {}}});
        let answer = outcome(&client.ask("tools/call", again.clone()).await);
        assert_eq!(answer["error"]["code"].as_str(), code, "{action}: {answer:#}");
        assert_eq!(host.path("new.txt").exists(), action == "accept");
        if action == "accept" {
            // The same answer once more is an answer to nothing.
            let replayed = outcome(&client.ask("tools/call", again).await);
            assert_eq!(replayed["error"]["code"], "approval_required", "{replayed:#}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_accept_of_a_client_counts_only_where_the_scope_lets_it() {
    for kinds in [json!([]), json!(["read_only", "runs_code", "captures"])] {
        let host = lets_clients_approve(&kinds);
        let mut client = older(&host).await;
        let params = json!({"name": "computer_operation", "arguments": arguments()});
        let answer = outcome(&client.ask("tools/call", params).await);
        let id = ticket(&answer);
        let forced = host.backend().answer_in_client(&id, true).await;
        assert!(forced.is_err(), "{kinds}");
        assert_eq!(host.waiting().len(), 1);
    }
    // What a client has approved is judged by the policy of the moment when it is used.
    let mut host = lets_clients_approve(&json!(["writes", "destroys"]));
    let id = ticket(&host.send(write("new.txt", "text")).await);
    host.backend().answer_in_client(&id, true).await.expect("it counts");
    host.config.scopes[0].policy.client_approvals.clear();
    host.restart();
    ticket(&host.send(write("new.txt", "text")).await);
    assert!(!host.path("new.txt").exists());
}
