//! Many callers of one file, and callers that are killed.

use std::fs;
use std::process::{Child, Stdio};
use std::sync::Arc;
use std::time::Instant;

use bailiwick::contract::{Caller, Transport};
use bailiwick::platform::fs::modes::{HAS_BITS, PermissionsExt, set_mode};
use bailiwick::service::Service;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

#[cfg(unix)]
use crate::installation::Installation;
use crate::system::{Need, lacks, tries};
use bailiwick::adapters::http::HttpSettings;
use support::http_client;
use support::scope::TestScope;
use support::server::TestServer;
use support::service::{call, send, wait_for};
use support::stdio_client::{in_memory, outcome};

/// Runs the program to its end, unless it is killed.
fn program(scope: &TestScope, words: &[&str]) -> Child {
    scope.command(words).stdout(Stdio::null()).spawn().expect("the program starts")
}

fn edit(target: &str, old: &str, new: &str) -> Value {
    json!({"op": "file.patch", "target": target, "input": {"edits": [{"old": old, "new": new}]}})
}

#[test]
fn of_a_thousand_disjoint_edits_by_eight_callers_none_is_lost() {
    if lacks(Need::Replacing) {
        return;
    }
    let rounds = tries(125) as usize;
    let world = TestScope::new();
    let lines =
        |mark: &str| -> String { (0..rounds * 8).map(|line| format!("line {line} {mark}\n")).collect() };
    fs::write(world.root().join("shared.txt"), lines("old")).expect("the scope can be written");
    // Two services on one state folder stand for two processes: their locks are files either way.
    let services = [world.boot(), world.boot()];
    std::thread::scope(|scope| {
        for caller in 0..8_usize {
            let service = &services[caller % 2];
            scope.spawn(move || {
                for round in 0..rounds {
                    let line = round * 8 + caller;
                    let answer = call(
                        service,
                        edit("shared.txt", &format!("line {line} old"), &format!("line {line} new")),
                    );
                    assert_eq!(answer["ok"], true, "{answer}");
                }
            });
        }
    });
    let got = fs::read_to_string(world.root().join("shared.txt")).expect("the file is there");
    assert_eq!(got.lines().filter(|line| line.ends_with(" old")).count(), 0);
    assert_eq!(got, lines("new"));
}

#[test]
fn edits_by_several_processes_all_land() {
    if lacks(Need::Replacing) {
        return;
    }
    let world = TestScope::new();
    world.save_config();
    let lines = |mark: &str| -> String { (0..24).map(|line| format!("line {line} {mark}\n")).collect() };
    fs::write(world.root().join("shared.txt"), lines("old")).expect("the scope can be written");
    for round in 0..4 {
        let children: Vec<Child> = (0..6)
            .map(|caller| {
                let line = round * 6 + caller;
                let edits = json!([{"old": format!("line {line} old"), "new": format!("line {line} new")}]);
                program(&world, &["call", "file.patch", "shared.txt", "--edits", &edits.to_string()])
            })
            .collect();
        for mut child in children {
            assert!(child.wait().expect("it ends").success());
        }
    }
    let got = fs::read_to_string(world.root().join("shared.txt")).expect("the file is there");
    assert_eq!(got, lines("new"));
}

#[test]
fn edits_of_the_same_lines_have_one_winner() {
    if lacks(Need::Replacing) {
        return;
    }
    let world = TestScope::new();
    fs::write(world.root().join("a.txt"), "value: none\n").expect("the scope can be written");
    let service = world.boot();
    let answers: Vec<Value> = std::thread::scope(|scope| {
        let callers: Vec<_> = (0..6)
            .map(|caller| {
                let service = &service;
                scope.spawn(move || call(service, edit("a.txt", "value: none", &format!("value: {caller}"))))
            })
            .collect();
        callers.into_iter().map(|caller| caller.join().expect("a caller ends")).collect()
    });
    let won: Vec<usize> = (0..6).filter(|caller| answers[*caller]["ok"] == true).collect();
    assert_eq!(won.len(), 1, "{answers:?}");
    assert!(answers.iter().all(|it| it["ok"] == true || it["error"]["code"] == "conflict"), "{answers:?}");
    let got = fs::read_to_string(world.root().join("a.txt")).expect("the file is there");
    assert_eq!(got, format!("value: {}\n", won[0]));
}

#[test]
fn files_that_were_written_are_put_back_when_a_later_one_fails() {
    let world = TestScope::new();
    let service = world.boot();
    let root = world.root();
    for (name, content) in [("a.txt", "one\n"), ("gone.txt", "gone\n"), ("from.txt", "two\n")] {
        fs::write(root.join(name), content).expect("the scope can be written");
    }
    set_mode(&root.join("a.txt"), 0o640).expect("modes can be set");
    // What fails cannot be seen before: the last file would be in a folder that the one before it is.
    let patch = "*** Begin Patch\n*** Update File: a.txt\n-one\n+1\n*** Delete File: gone.txt\n\
                 *** Update File: from.txt\n*** Move to: to.txt\n-two\n+2\n*** Add File: deep/er\n+file\n\
                 *** Add File: deep/er/new.txt\n+new\n*** End Patch\n";
    let answer = call(&service, json!({"op": "file.patch", "input": {"patch": patch}}));
    let mut names: Vec<String> = fs::read_dir(&root)
        .expect("the scope can be read")
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    assert_eq!(answer["error"]["details"]["restored"], true, "{answer}");
    assert_eq!(names, ["a.txt", "from.txt", "gone.txt"]);
    for (name, content) in [("a.txt", "one\n"), ("gone.txt", "gone\n"), ("from.txt", "two\n")] {
        assert_eq!(fs::read_to_string(root.join(name)).expect("it is there"), content);
    }
    let mode = fs::metadata(root.join("a.txt")).expect("it is there").permissions().mode() & 0o777;
    assert!(mode == 0o640 || !HAS_BITS, "{mode:o}");
}

#[test]
fn a_patch_that_is_killed_leaves_old_or_new_files() {
    kill_patches(8);
}

/// Patches three files, kills so many of the patches, and checks that each file is the old or the new one.
pub(super) fn kill_patches(count: u32) {
    let world = TestScope::new();
    world.save_config();
    let root = world.root();
    let content = |letter: &str| format!("start\n{}end {letter}\n", "the same line in both\n".repeat(40_000));
    let files = ["one.txt", "two.txt", "three.txt"];
    for name in files {
        fs::write(root.join(name), content("a")).expect("the scope can be written");
    }
    let patch = |from: &str, to: &str| -> String {
        let each = files.map(|name| format!("*** Update File: {name}\n-end {from}\n+end {to}\n"));
        format!("*** Begin Patch\n{}*** End Patch\n", each.concat())
    };
    let run = |from: &str, to: &str| program(&world, &["call", "file.patch", "--patch", &patch(from, to)]);
    let began = Instant::now();
    assert!(run("a", "b").wait().expect("it ends").success());
    let mut whole_run = began.elapsed();
    let contents = [content("a"), content("b")];
    let mut killed = 0;
    while killed < count {
        for name in files {
            fs::write(root.join(name), &contents[0]).expect("the scope can be written");
        }
        let mut child = run("a", "b");
        // From its start to about its end.
        std::thread::sleep(whole_run * killed / count);
        child.kill().expect("it can be killed");
        if child.wait().expect("it ends").success() {
            whole_run = whole_run * 9 / 10;
        } else {
            killed += 1;
        }
        for name in files {
            let got = fs::read_to_string(root.join(name)).expect("the file is always there");
            assert!(contents.contains(&got), "{name}: {} bytes, no whole content", got.len());
        }
    }
}

/// Sends an envelope in a session.
fn call_in(service: &Arc<Service>, transport: Transport, session: &str, envelope: &Value) -> Value {
    let caller = Caller { session: Some(session.to_owned()), ..Caller::local(transport) };
    wait_for(send(service, &caller, envelope.clone(), &CancellationToken::new()))
}

#[test]
fn what_another_client_wrote_is_overwritten_only_by_who_has_read_it_or_says_so() {
    let world = TestScope::new();
    let service = world.boot();
    let write = |content: &str| json!({"op": "file.write", "target": "a.txt", "input": {"content": content}});
    let read = json!({"op": "file.read", "target": "a.txt"});
    let is_done = |session: &str, envelope: &Value| {
        let answer = call_in(&service, Transport::Stdio, session, envelope);
        assert_eq!(answer["ok"], true, "{session}: {answer}");
        answer["data"].clone()
    };
    let is_refused = |session: &str, envelope: &Value| {
        let answer = call_in(&service, Transport::Stdio, session, envelope);
        assert_eq!(answer["error"]["details"]["rule"], "written-by-another", "{session}: {answer}");
    };
    // One client alone, and one over what nobody that we know of wrote.
    fs::write(world.root().join("a.txt"), "from elsewhere").expect("the scope can be written");
    is_done("one", &write("1"));
    is_done("one", &write("2"));
    // Another one has never read it, or read what was there before.
    is_refused("two", &write("3"));
    let mut looking = write("3");
    looking["options"] = json!({"dryRun": true});
    is_refused("two", &looking);
    is_done("two", &read);
    is_done("one", &edit("a.txt", "2", "4"));
    is_refused("two", &write("5"));
    assert_eq!(fs::read_to_string(world.root().join("a.txt")).expect("it is there"), "4");
    is_done("two", &read);
    let written = is_done("two", &write("5"));
    // With a version that holds, and with the word for it.
    let mut versioned = write("6");
    versioned["options"] = json!({"ifVersion": written["version"]});
    is_done("one", &versioned);
    let mut forced = write("7");
    forced["options"] = json!({"overwrite": true});
    is_done("two", &forced);
    // What another program wrote since is nobody's here, as ever.
    fs::write(world.root().join("a.txt"), "from elsewhere").expect("the scope can be written");
    is_done("one", &write("8"));
    // A client that connects again for each request is one client.
    let again = |transport, session: &str, content: &str| {
        let to_b = json!({"op": "file.write", "target": "b.txt", "input": {"content": content}});
        call_in(&service, transport, session, &to_b)["ok"] == true
    };
    assert!(again(Transport::Http, "1", "1") && again(Transport::Http, "2", "2"));
    assert!(again(Transport::Cli, "3", "3") && again(Transport::Cli, "4", "4"));
    assert!(!again(Transport::Stdio, "5", "5"));
}

/// Two clients of one service, over HTTP.
// The service is ended by a signal.
#[cfg(unix)]
#[test]
fn a_client_hears_with_its_next_result_that_another_changed_what_it_has_read() {
    let place = Installation::new();
    assert_eq!(place.run(&["setup", "project", "--preset", "coding", "--yes"]).exit, 0);
    let (one, other) = (place.make_token("one"), place.make_token("other"));
    let service = place.start();
    let ask = |token: &str, op: &str, target: &str, input: Value| {
        service.ask(token, &json!({"scope": "project", "op": op, "target": target, "input": input}))
    };
    let is_done = |answer: Value| {
        assert_eq!(answer["ok"], true, "{answer}");
        answer
    };
    let read = |token: &str, path: &str| is_done(ask(token, "file.read", path, json!({})));
    let write =
        |token: &str, path: &str, text: &str| ask(token, "file.write", path, json!({"content": text}));
    let heard = |token: &str| is_done(ask(token, "file.list", "", json!({})))["warnings"].clone();

    read(&one, "hello.txt");
    assert_eq!(heard(&one), json!([]));
    is_done(write(&other, "hello.txt", "other\n"));
    assert_eq!(heard(&other), json!([]), "it knows");
    let warnings = heard(&one);
    assert!(warnings[0].as_str().is_some_and(|it| it.contains("changed `hello.txt`")), "{warnings}");
    assert_eq!(heard(&one), json!([]), "once");

    // What it has not read since it does not replace by mistake.
    let refused = write(&one, "hello.txt", "one\n");
    assert_eq!(refused["error"]["details"]["rule"], "written-by-another", "{refused}");
    assert_eq!(read(&one, "hello.txt")["warnings"], json!([]));
    is_done(write(&one, "hello.txt", "one\n"));
    // Reading it is hearing of it.
    assert_eq!(read(&other, "hello.txt")["warnings"], json!([]));
    assert_eq!(heard(&other), json!([]));

    // A file that goes is changed, and so is one in a folder that goes, or that an undo changes.
    is_done(ask(&one, "file.mkdir", "folder", json!({})));
    is_done(write(&one, "folder/a.txt", "a\n"));
    read(&other, "folder/a.txt");
    is_done(ask(&one, "file.move", "folder", json!({"to": "moved"})));
    let warnings = heard(&other);
    assert!(warnings[0].as_str().is_some_and(|it| it.contains("`folder/a.txt`")), "{warnings}");
    read(&other, "hello.txt");
    is_done(
        service
            .ask(&one, &json!({"scope": "project", "op": "history.undo", "input": {"since": "2020-01-01"}})),
    );
    let warnings = heard(&other);
    assert!(warnings[0].as_str().is_some_and(|it| it.contains("`hello.txt`")), "{warnings}");
}

// The service is ended by a signal.
#[cfg(unix)]
#[test]
fn only_the_user_takes_back_what_others_changed_since_a_time() {
    let place = Installation::new();
    assert_eq!(place.run(&["setup", "project", "--preset", "coding", "--yes"]).exit, 0);
    let (one, other) = (place.make_token("one"), place.make_token("other"));
    let service = place.start();
    let write =
        json!({"scope": "project", "op": "file.write", "target": "a.txt", "input": {"content": "one\n"}});
    assert_eq!(service.ask(&one, &write)["ok"], true);
    let undo =
        json!({"scope": "project", "op": "history.undo", "input": {"since": "2020-01-01", "callers": "all"}});
    for token in [&one, &other] {
        let refused = service.ask(token, &undo);
        assert_eq!(refused["error"]["details"]["rule"], "undo-of-others", "{refused}");
        assert!(place.project().join("a.txt").exists());
    }
    let done = place.run(&["call", "history.undo", "--since", "2020-01-01", "--callers", "all"]);
    assert_eq!(done.exit, 0, "{}{}", done.out, done.err);
    assert!(!place.project().join("a.txt").exists());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_without_a_token_is_not_the_user_who_undoes_what_others_changed() {
    let mut server = TestServer::new();
    let settings = HttpSettings { allow_loopback_without_token: true, ..server.settings() };
    let address = server.http_with(settings).await;
    let undo =
        json!({"scope": "app", "op": "history.undo", "input": {"since": "2020-01-01", "callers": "all"}});
    let json = [("Content-Type", "application/json")];
    let reply = http_client::send(address, "POST", "/api/v1/operations", &json, &undo.to_string()).await;
    assert_eq!(reply.json()["error"]["details"]["rule"], "undo-of-others", "{reply:?}");
    let (mut client, _) = in_memory(server.backend(), CancellationToken::new());
    client.initialize("2025-11-25").await;
    let answer = outcome(&client.call("computer_operation", undo).await);
    assert_eq!(answer["error"]["details"]["rule"], "undo-of-others", "{answer}");
    server.end().await;
}
