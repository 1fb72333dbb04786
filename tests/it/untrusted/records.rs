//! What is recorded of untrusted reads: before the answer, for the caller, over restarts, and damaged as little known.

use std::fs;

use bailiwick::contract::{Caller, Transport};

use super::*;

fn run() -> Value {
    json!({"op": "command.run", "input": {"command": ["cat", "notes.txt"]}})
}

#[tokio::test(flavor = "multi_thread")]
async fn a_read_is_of_its_caller_on_every_connection_and_after_a_restart() {
    let mut host = scopes().save().host();
    let of =
        |session: &str, transport| Caller { session: Some(session.to_owned()), ..Caller::local(transport) };
    let other = host.caller_with_token("other");
    read_page(&host).await;
    assert!(is_asked(&host.send_as(&of("two", Transport::Stdio), run()).await));
    assert!(is_asked(&host.send_as(&of("three", Transport::Http), run()).await));
    host.restart();
    assert!(is_asked(&host.send(run()).await));
    let answer = host.send_as(&other, run()).await;
    assert_eq!(answer["ok"], true, "another caller has read nothing: {answer:#}");
    assert!(is_asked(&host.send_as(&other, run()).await), "now it has");
    let listed = host.cli(&["policy", "untrusted"]);
    let callers: Vec<&Value> =
        listed["callers"].as_array().expect("callers").iter().map(|it| &it["caller"]).collect();
    assert_eq!(callers, ["local", "other"], "{listed:#}");
    assert_eq!(listed["callers"][0]["reads"][0]["scope"], "app");
    // The user alone forgets.
    assert_eq!(host.cli(&["policy", "untrusted", "--forget", "local"])["forgotten"], json!(["local"]));
    assert_eq!(host.send(run()).await["ok"], true);
    assert!(is_asked(&host.send_as(&other, run()).await));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_damaged_record_counts_as_a_read() {
    let host = scopes().save().host();
    read_page(&host).await;
    let folder = fs::read_dir(host.dirs.state.join("untrusted"))
        .expect("records")
        .map(|entry| entry.expect("one").path())
        .find(|path| path.is_dir())
        .expect("a caller's");
    let record = fs::read_dir(&folder)
        .expect("its files")
        .map(|entry| entry.expect("a file").path())
        .find(|path| path.extension().is_some_and(|it| it == "json"))
        .expect("a record");
    let whole = fs::read(&record).expect("it is read");
    for damage in [&b""[..], &whole[..whole.len() / 2], b"{}", b"[]"] {
        fs::write(&record, damage).expect("it is damaged");
        let answer = host.send(run()).await;
        assert!(is_asked(&answer), "{answer:#}");
        assert!(answer["error"]["message"].as_str().expect("a message").contains("is not known"));
        // In another scope too, since it may have been any.
        let write = json!({"op": "file.write", "target": "x.txt", "input": {"content": "x"}});
        assert!(is_asked(&host.send(write).await));
    }
    fs::remove_dir_all(&folder).expect("removed");
    fs::write(&folder, "no folder").expect("written");
    assert!(is_asked(&host.send(run()).await));
    assert_eq!(host.cli(&["policy", "untrusted", "--forget", "(unknown)"])["ok"], true);
    assert_eq!(host.send(run()).await["ok"], true);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_approval_from_before_the_read_does_not_count_after_it() {
    let mut host = scopes().save().host();
    host.config.scopes[0].policy.ask_commands = serde_json::from_value(json!(["cat *"])).expect("a rule");
    host.restart();
    let answer = host.send(run()).await;
    let before = answer["error"]["details"]["approvalId"].as_str().expect("an id").to_owned();
    assert_eq!(host.cli(&["approve", &before, "--for", "1h"])["ok"], true);
    assert_eq!(host.send(run()).await["ok"], true);
    // The command itself reached the network.
    let answer = host.send(run()).await;
    assert_eq!(answer["error"]["code"], "approval_required", "{answer:#}");
    let after = answer["error"]["details"]["approvalId"].as_str().expect("an id").to_owned();
    assert_ne!(before, after);
    assert_eq!(host.cli(&["approve", &after, "--for", "1h"])["ok"], true);
    for _ in 0..2 {
        assert_eq!(host.send(run()).await["ok"], true, "what was approved after the read counts");
    }
    host.restart();
    assert_eq!(host.send(run()).await["ok"], true);
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_recorded_where_no_scope_asks() {
    let mut host = scopes().save().host();
    for scope in &mut host.config.scopes {
        scope.policy.after_untrusted = Default::default();
    }
    host.restart();
    read_page(&host).await;
    assert_eq!(host.send(run()).await["ok"], true);
    assert!(!host.dirs.state.join("untrusted").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn reads_that_cannot_be_looked_up_count_as_reads() {
    let host = scopes().save().host();
    fs::create_dir_all(&host.dirs.state).expect("the state folder");
    fs::write(host.dirs.state.join("untrusted"), "no folder").expect("written");
    let answer = host.send(run()).await;
    // What cannot be looked up counts as read, too.
    assert_eq!(answer["error"]["code"], "approval_required", "{answer:#}");
    host.write("../lib/a.txt", "text\n");
    assert_eq!(host.send(json!({"op": "file.read", "target": "a.txt", "scope": "lib"})).await["ok"], true);
}

#[tokio::test(flavor = "multi_thread")]
async fn where_a_read_cannot_be_written_down_nothing_runs_and_nothing_is_shown() {
    let host = with_untrusted_files();
    host.write("vendor/page.md", INJECTION);
    fs::create_dir_all(&host.dirs.state).expect("the state folder");
    // Nothing is there by this name, and no folder can be made in its place.
    std::os::unix::fs::symlink("missing", host.dirs.state.join("untrusted")).expect("linked");
    let run = json!({"op": "command.run", "input": {"command": ["python3", "-c", "open('made', 'w')"]}});
    for request in [run, json!({"op": "file.read", "target": "vendor/page.md"})] {
        let answer = host.send(request).await;
        assert_eq!(answer["error"]["details"]["rule"], "no-record-no-content", "{answer:#}");
        assert!(!answer.to_string().contains(INJECTION), "{answer:#}");
    }
    assert!(!host.path("made").exists());
    assert_eq!(host.send(json!({"op": "file.read", "target": "notes.txt"})).await["ok"], true);
}

#[tokio::test(flavor = "multi_thread")]
async fn lines_of_an_untrusted_file_in_a_failure_count_as_read() {
    let host = with_untrusted_files();
    host.write("vendor/page.md", format!("{INJECTION}\nlast\n"));
    let old = INJECTION.replace("Ignore", "ignore");
    let edits = json!([{"old": format!("{old}\nlost\n"), "new": "x\n"}]);
    let patch = json!({"op": "file.patch", "target": "vendor/page.md", "input": {"edits": edits}});
    let answer = host.send(patch).await;
    assert_eq!(answer["error"]["code"], "conflict", "{answer:#}");
    assert!(answer.to_string().contains(INJECTION), "{answer:#}");
    let write = json!({"op": "file.write", "scope": "lib", "target": "x.py", "input": {"content": "x"}});
    let answer = host.send(write).await;
    assert!(is_asked(&answer), "{answer:#}");
}

fn with_untrusted_files() -> TestService {
    let mut host = scopes().save().host();
    host.config.scopes[0].policy.untrusted_files = vec!["vendor/**".to_owned()];
    host.restart();
    host
}

#[tokio::test(flavor = "multi_thread")]
async fn explanations_know_what_was_read() {
    let host = scopes().save().host();
    host.write("../lib/a.txt", "text\n");
    let explain = || host.cli(&["policy", "explain", "file.delete", "a.txt", "--scope", "lib"]);
    let before = explain();
    assert_ne!(before["code"], "approval_required", "{before:#}");
    read_page(&host).await;
    let after = explain();
    assert_eq!(after["code"], "approval_required", "{after:#}");
    assert!(after.to_string().contains("this client has read untrusted content"), "{after:#}");
    let answer = host.send(json!({"op": "file.delete", "scope": "lib", "target": "a.txt"})).await;
    assert!(is_asked(&answer), "{answer:#}");
    let why = host.cli(&["policy", "why", answer["operationId"].as_str().expect("an id")]);
    assert_eq!(
        (&why["decided"]["verdict"], &why["decided"]["rule"]),
        (&json!("ask"), &json!("after-untrusted")),
        "{why:#}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn stored_requests_are_judged_by_what_came_before_them() {
    let mut host = scopes().save().host();
    for scope in &mut host.config.scopes {
        scope.policy.after_untrusted = Default::default();
    }
    host.restart();
    assert_eq!(host.send(run()).await["ok"], true);
    let second = host.send(run()).await;
    host.data(json!({"op": "file.read", "target": "notes.txt"})).await;
    let asking = config_that_asks(&host);
    let found = host.cli(&["policy", "test", "--against-history", &asking]);
    assert_eq!(found["newlyAsked"][0]["requests"], 1, "the first read nothing before: {found:#}");
    assert_eq!(found["newlyAsked"][0]["operationId"], second["operationId"]);
    assert_eq!(found["newlyAsked"][0]["now"]["rule"], "after-untrusted");
    assert_eq!(found["newlyDenied"], json!([]));
}

/// Writes a config whose scopes ask, beside the one of the service; returns its path.
pub(super) fn config_that_asks(host: &TestService) -> String {
    let mut config = host.config.clone();
    for scope in &mut config.scopes {
        scope.policy.after_untrusted = bailiwick::config::AfterUntrusted::Ask;
    }
    let path = host.beside("asking.json");
    config.save(&path).expect("it is saved");
    path.to_str().expect("text").to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_process_that_was_started_with_the_network_is_given_nothing_after_a_read() {
    if support::needs::lacks_full_sandbox() {
        return support::needs::report_left_out("a full sandbox");
    }
    let mut host = scopes().save().host();
    host.write("vendor/page.md", INJECTION);
    for scope in &mut host.config.scopes {
        scope.policy.after_untrusted = Default::default();
    }
    host.restart();
    let process = host.start(json!(["python3", "-i", "-q"])).await;
    let write = json!({"op": "process.write", "target": process, "input": {"text": "1\n"}});
    host.data(write.clone()).await;
    // The scope closes its network and asks from now on; the process still has it.
    let policy = &mut host.config.scopes[0].policy;
    policy.after_untrusted = bailiwick::config::AfterUntrusted::Ask;
    policy.network = serde_json::from_value(json!("loopback")).expect("a network");
    policy.untrusted_files = vec!["vendor/**".to_owned()];
    host.restart();
    host.data(write.clone()).await;
    assert_eq!(host.send(json!({"op": "file.read", "target": "vendor/page.md"})).await["ok"], true);
    let answer = host.send(write).await;
    assert_eq!(answer["error"]["details"]["rule"], "after-untrusted", "{answer:#}");
}
