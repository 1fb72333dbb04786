//! Changing scopes and looking at them: every change is told as what it grants and takes.

use std::fs;
#[cfg(unix)]
use std::process::Command;

use serde_json::{Value, json};

use crate::installation::{CommandOutput, Installation};
use crate::needs::lacks_full_sandbox;

#[test]
fn every_change_of_a_scope_is_told_as_what_it_grants_and_takes() {
    let place = Installation::set_up();
    fs::create_dir(place.folder.path().join("tools")).expect("made");
    let read = format!("lets commands read {}", place.folder.path().join("tools").display());
    for (words, removed, added) in [
        (&["allow", "project", "fs:write"][..], &[][..], &["grants fs:write"][..]),
        (
            &["allow", "project", "fs:write", "--ask"],
            &["grants fs:write"],
            &["needs your approval for fs:write"],
        ),
        (
            &["deny", "project", "fs:write"],
            &["needs your approval for fs:write"],
            &["never lets clients use fs:write"],
        ),
        (&["allow", "project", "--files", ".env"], &[], &["opens .env"]),
        (&["deny", "project", "--files", ".env"], &["opens .env"], &["closes .env"]),
        (&["allow", "project", "--command", "npm run *"], &[], &["runs npm run *"]),
        (
            &["allow", "project", "--command", "npm run *", "--ask"],
            &["runs npm run *"],
            &["needs your approval for npm run *"],
        ),
        (
            &["deny", "project", "--command", "npm run *"],
            &["needs your approval for npm run *"],
            &["never runs npm run *"],
        ),
        (&["edit", "project", "--remove-rule", "npm run *"], &["never runs npm run *"], &[]),
        (
            &["edit", "project", "--network", "full", "--sandbox", "full"],
            &[],
            &["network is full", "sandbox is full"],
        ),
        (&["edit", "project", "--network", "none"], &["network is full"], &["network is none"]),
        (&["edit", "project", "--limit", "processes=9"], &[], &["maxProcesses is 9"]),
        (&["edit", "project", "--limit", "processes=default"], &["maxProcesses is 9"], &[]),
        (&["edit", "project", "--read-path", "tools"], &[], &[read.as_str()]),
        (&["edit", "project", "--env", "KEY=one"], &[], &["gives commands the variable KEY"]),
        (
            &["edit", "project", "--env", "KEY=two"],
            &["gives commands the variable KEY"],
            &["gives commands the variable KEY"],
        ),
        (&["edit", "project", "--unset-env", "KEY"], &["gives commands the variable KEY"], &[]),
        (&["edit", "project", "--name", "My app"], &[], &["is called My app"]),
        (&["edit", "project", "--name", "My app"], &[], &[]),
    ] {
        let words = [&["scope"], words].concat();
        let before = fs::read(place.config()).expect("there");
        let dry = place.run(&[&words[..], &["--dry-run", "--json"]].concat());
        assert_eq!(dry.exit, 0, "{words:?}: {}", dry.out);
        assert_eq!(fs::read(place.config()).expect("there"), before, "{words:?} wrote");
        assert_eq!(dry.json()["written"], false);
        let ran = place.run(&[&words[..], &["--json"]].concat()).json();
        assert_eq!(ran["changes"], json!({"removed": removed, "added": added}), "{words:?}");
        assert_eq!(dry.json()["changes"], ran["changes"], "{words:?}");
        assert_eq!(ran["written"], !(removed.is_empty() && added.is_empty()), "{words:?}");
    }
    let told = place.run(&["scope", "deny", "project", "search:read"]);
    assert!(
        told.out.starts_with(
            "Changed scope `project`:\n- grants search:read (search in files)\n\
             + never lets clients use search:read (search in files)\n"
        ),
        "{}",
        told.out
    );
}

#[test]
fn a_desktop_is_opened_to_be_seen_or_to_be_acted_on_and_never_without_a_word() {
    let place = Installation::set_up();
    let before = fs::read(place.config()).expect("there");
    for (words, exit) in [
        (&["desk"][..], 2),
        (&["desk", "--read", "--control"], 2),
        (&["no id", "--read"], 2),
        (&["project", "--read"], 16),
        (&["desk", "--control", "--dry-run"], 0),
    ] {
        let ran = place.run(&[&["scope", "add-desktop"], words].concat());
        assert_eq!(ran.exit, exit, "{words:?}: {}{}", ran.out, ran.err);
        assert_eq!(fs::read(place.config()).expect("there"), before, "{words:?}");
    }
    let granted = |id: &str, how: &str| {
        let ran = place.run(&["scope", "add-desktop", id, how, "--yes"]);
        assert_eq!(ran.exit, 0, "{}", ran.err);
        let config: Value = serde_json::from_slice(&fs::read(place.config()).expect("there")).expect("JSON");
        let scopes = config["scopes"].as_array().expect("a list");
        (ran.out, scopes.iter().find(|it| it["id"] == id).expect("it was added").clone())
    };
    let (said, desk) = granted("desk", "--read");
    assert!(said.contains("Clients see all windows") && !said.contains("They press"), "{said}");
    let read =
        json!(["history:read", "screen:capture", "ui:read", "window:read", "clipboard:read", "system:read",]);
    assert_eq!((&desk["capabilities"], &desk["type"]), (&read, &json!("computer")), "{desk:#}");
    assert_eq!(desk["policy"]["visibleInput"], Value::Null, "{desk:#}");
    let (said, desk) = granted("mine", "--control");
    assert!(said.contains("Clients see all windows") && said.contains("They press"), "{said}");
    assert_eq!(desk["policy"]["visibleInput"], "ask", "{desk:#}");
    assert!(desk["capabilities"].to_string().contains("input:control"), "{desk:#}");
    assert!(said.contains("a banner\nat the top of your screen names the client"), "{said}");
    let show = || place.run(&["scope", "show", "mine"]).out;
    assert!(show().contains("a banner on your display (X11) names the client"), "{}", show());
    let changed = place.run(&["scope", "edit", "mine", "--input-banner", "off", "--yes"]);
    assert!(changed.exit == 0 && show().contains("without a banner on your display"), "{}", show());
    let refused = place.run(&["scope", "edit", "project", "--input-banner", "off", "--yes"]);
    assert!(refused.exit != 0 && refused.err.contains("only your own display"), "{}", refused.err);
}

#[test]
fn a_scope_is_edited_as_setup_makes_one() {
    if lacks_full_sandbox() {
        return;
    }
    let place = Installation::set_up();
    let changed = place.run(&["scope", "edit", "project", "--preset", "full"]);
    assert_eq!(changed.exit, 0, "{}", changed.err);
    for said in ["+ grants command:run", "+ runs npm *", "+ never runs rm -r /, ", "sudo *", "any program"] {
        assert!(changed.out.contains(said), "{said}: {}", changed.out);
    }
    assert_eq!(place.run(&["policy", "explain", "git status"]).exit, 0);
    assert_eq!(place.run(&["scope", "deny", "project", "--command", "git status"]).exit, 0);
    assert_eq!(place.run(&["policy", "explain", "git status"]).exit, 12);
    assert_eq!(place.run(&["scope", "allow", "project", "--command", "git status"]).exit, 0);
    assert_eq!(place.run(&["policy", "explain", "git status"]).exit, 0);
    let before = fs::read(place.config()).expect("there");
    for (words, exit) in [
        (&["--remove-rule", "no such rule"][..], 15),
        (&["--env", "A"], 2),
        (&["--unset-env", "NONE"], 15),
        (&["--read-path", "/"], 12),
        (&["--read-path", "none"], 15),
        (&["--max-output-bytes", "5"], 2),
        (&["--network", "everything"], 2),
        (&["--limit", "output-bytes=5"], 2),
        (&["--limit", "processes"], 2),
        (&["--limit", "procesess=5"], 2),
        (&["--allow-env", "LD_PRELOAD"], 2),
        (&["--screen=displays"], 2),
    ] {
        let ran = place.run(&[&["scope", "edit", "project"], words].concat());
        assert_eq!(ran.exit, exit, "{words:?}: {}", ran.err);
        assert_eq!(fs::read(place.config()).expect("there"), before, "{words:?}");
    }
    let rule = place.run(&["scope", "allow", "project", "--command", "npm 'run"]);
    assert_eq!(rule.exit, 2, "{}", rule.err);
}

#[test]
fn scope_show_tells_everything_and_no_secret() {
    let place = Installation::set_up();
    for words in [
        &["scope", "edit", "project", "--commands", "--env", "NPM_TOKEN=hidden-value", "--network", "full"][..],
        &["scope", "allow", "project", "--files", ".env.example"],
        &["scope", "allow", "project", "git:write", "--ask"],
        &["token", "create", "owner"],
        &["token", "create", "laptop", "--scope", "project"],
        &["token", "create", "elsewhere", "--scope", "*"],
    ] {
        assert_eq!(place.run(words).exit, 0, "{words:?}");
    }
    let text = place.run(&["scope", "show", "project"]).out;
    for said in [
        "Scope `project`",
        "folder",
        "read and list files (fs:read)",
        "git:write",
        "(git:write; needs your approval)",
        "open all the same: .env.example",
        "1800 s for one operation",
        "tokens owner, laptop, elsewhere",
        "any code",
        "network: full",
        "NPM_TOKEN",
        "started ones: 32",
    ] {
        assert!(text.contains(said), "{said}: {text}");
    }
    let told = place.run(&["scope", "show", "project", "--json"]).json();
    let effective = &told["effective"];
    assert_eq!(effective["maxRuntimeSeconds"], 1_800);
    assert_eq!(effective["commands"]["network"], "full");
    assert!(effective["operations"].as_array().expect("a list").contains(&json!("command.run")));
    assert!(!effective["operations"].as_array().expect("a list").contains(&json!("file.write")));
    let shown = [
        text,
        told.to_string(),
        place.run(&["scope", "list", "--json"]).out,
        place.run(&["config", "show"]).out,
        place.run(&["config", "show", "--defaults", "--json"]).out,
    ];
    assert!(shown.iter().all(|text| !text.contains("hidden-value")));
    fs::rename(place.project(), place.folder.path().join("gone")).expect("moved");
    let text = place.run(&["scope", "show", "project"]).out;
    assert!(text.contains("NOT SERVED"), "{text}");
}

#[test]
fn tools_tells_what_a_client_sees_and_what_it_needs() {
    let place = Installation::set_up();
    assert_eq!(place.run(&["token", "create", "reader", "--capability", "fs:read"]).exit, 0);
    assert_eq!(place.run(&["scope", "allow", "project", "fs:write", "--ask"]).exit, 0);
    let told = |words: &[&str]| place.run(&[&["tools"], words, &["--json"]].concat()).json();
    let names = |told: &Value, field: &str| -> Vec<String> {
        let list = told[field].as_array().expect("a list").iter();
        list.map(|it| it["name"].as_str().expect("a name").to_owned()).collect()
    };
    let local = told(&[]);
    assert_eq!(
        names(&local, "tools"),
        ["get_computer_info", "computer_query", "computer_operation", "get_operation_history"]
    );
    let write = local["operations"].as_array().expect("a list").iter().find(|it| it["name"] == "file.write");
    assert_eq!(
        write.map(|it| (it["open"].clone(), it["ask"].clone())),
        Some((json!([]), json!(["project"])))
    );
    let reader = told(&["--token", "reader"]);
    assert_eq!(names(&reader, "tools"), ["get_computer_info", "computer_query"]);
    assert!(!names(&reader, "operations").contains(&"file.write".to_owned()));
    assert!(names(&told(&["--token", "reader", "--all"]), "operations").contains(&"file.write".to_owned()));
    assert!(place.run(&["tools"]).out.contains("project?"));
    // A client has the rights of the token that its settings name.
    fs::create_dir(place.folder.path().join(".cursor")).expect("made");
    assert_eq!(place.run(&["client", "install", "cursor", "--caller", "reader", "--yes"]).exit, 0);
    assert_eq!(told(&["--client", "cursor"])["caller"], "reader");
    assert_eq!(place.run(&["tools", "--client", "zed"]).exit, 15);
}

#[test]
fn the_list_of_tokens_tells_of_use_and_of_what_expires() {
    let place = Installation::set_up();
    for words in [
        &["token", "create", "owner"][..],
        &["token", "create", "soon", "--expires", "3d"],
        &["token", "create", "later", "--expires", "90d", "--scope", "project"],
        &["token", "create", "old", "--expires", "1h"],
        &["call", "file.stat", "hello.txt", "--caller", "later"],
    ] {
        let ran = place.run(words);
        assert_eq!(ran.exit, 0, "{words:?}: {}", ran.err);
    }
    let tokens = place.config().with_file_name("tokens.json");
    let text = fs::read_to_string(&tokens).expect("there");
    let listed = place.run(&["token", "list", "--json"]).json();
    let expires = listed["tokens"][3]["expiresAt"].as_str().expect("a time");
    fs::write(&tokens, text.replace(expires, "2020-01-01T00:00:00.000Z")).expect("written");

    let listed = place.run(&["token", "list", "--json"]).json();
    let of = |name: &str| {
        let mut all = listed["tokens"].as_array().expect("a list").iter();
        all.find(|it| it["name"] == name).cloned().expect("listed")
    };
    assert_eq!((of("owner")["state"].clone(), of("owner")["lastUsedAt"].is_null()), (json!("valid"), true));
    assert_eq!(
        (of("soon")["state"].clone(), of("old")["state"].clone()),
        (json!("expires-soon"), json!("expired"))
    );
    assert!(of("later")["lastUsedAt"].is_string() && of("later")["state"] == "valid");
    let shown = place.run(&["token", "list"]);
    for said in ["just now", "(soon)", "(expired)", "never", "project:"] {
        assert!(shown.out.contains(said), "{said}: {}", shown.out);
    }
    assert!(
        shown.err.contains("`soon` expires soon") && shown.err.contains("`old` has expired"),
        "{}",
        shown.err
    );
    // A new value of an expired token would open nothing.
    assert_eq!(place.run(&["token", "rotate", "old"]).exit, 16);
    let rotated = place.run(&["token", "rotate", "old", "--expires", "never", "--json"]).json();
    assert_eq!(
        (rotated["token"]["state"].clone(), rotated["token"]["expiresAt"].is_null()),
        (json!("valid"), true)
    );
}

#[test]
fn set_ups_at_the_same_time_all_succeed() {
    let place = Installation::new();
    let running: Vec<_> = (0..10)
        .map(|at| {
            let folder = place.folder.path().join(format!("folder-{at}"));
            fs::create_dir(&folder).expect("made");
            let folder = folder.to_str().expect("UTF-8").to_owned();
            place.command(&["setup", &folder, "--preset", "read-only", "--yes"]).spawn().expect("it runs")
        })
        .collect();
    for child in running {
        let ran = CommandOutput::from(child.wait_with_output().expect("it ends"));
        assert_eq!(ran.exit, 0, "{}", ran.err);
    }
    let config: Value = serde_json::from_slice(&fs::read(place.config()).expect("there")).expect("JSON");
    assert_eq!(config["scopes"].as_array().map(Vec::len), Some(10), "{config}");
}

// The limit of open files is one of Unix.
#[cfg(unix)]
#[test]
fn more_roots_are_opened_than_the_soft_limit_of_open_files_and_too_low_a_hard_one_is_said() {
    let place = Installation::set_up();
    let mut config: Value = serde_json::from_slice(&fs::read(place.config()).expect("there")).expect("JSON");
    let scopes = config["scopes"].as_array_mut().expect("a list");
    for at in 0..100 {
        let folder = place.folder.path().join(format!("folder-{at}"));
        fs::create_dir(&folder).expect("made");
        let mut scope = scopes[0].clone();
        (scope["id"], scope["roots"]) = (json!(format!("scope-{at}")), json!([folder]));
        scopes.push(scope);
    }
    fs::write(place.config(), config.to_string()).expect("written");
    let limited = |limit: &str, words: &[&str]| -> CommandOutput {
        let mut command = Command::new("sh");
        command
            .args(["-c", &format!("ulimit {limit} && exec \"$0\" \"$@\""), env!("CARGO_BIN_EXE_bailiwick")])
            .args(words)
            .env("BAILIWICK_HOME", place.folder.path().join("home"))
            .env("HOME", place.folder.path());
        command.output().expect("it runs").into()
    };
    let listed = limited("-Sn 64", &["call", "file.list", "--scope", "scope-99", "--json"]);
    assert_eq!(listed.exit, 0, "{}{}", listed.out, listed.err);
    let looked = limited("-n 300", &["doctor", "--json"]).json();
    let findings = looked["checks"].as_array().expect("a list");
    let said = findings.iter().find(|finding| finding["check"] == "open-files");
    assert!(said.is_some_and(|it| it["fix"].as_str().is_some_and(|fix| fix.contains("ulimit"))), "{looked}");
    // With still fewer files can be read, and a command says why it does not run.
    for words in [&["command:run"][..], &["--command", "echo *"]] {
        let allowed = limited("-n 4096", &[&["scope", "allow", "scope-99"], words].concat());
        assert_eq!(allowed.exit, 0, "{}{}", allowed.out, allowed.err);
    }
    let few = |op: &str, input: &str| {
        limited("-n 200", &["call", op, "--scope", "scope-99", "--input", input, "--json"]).json()
    };
    assert_eq!(few("file.list", "{}")["ok"], true);
    let run = few("command.run", r#"{"command": "echo x"}"#);
    assert_eq!(run["error"]["code"], "provider_unavailable", "{run}");
    let message = run["error"]["message"].as_str().expect("a text");
    assert!(message.contains("a process may open 200 files here"), "{message}");
}

// Limits of another process are set, and its open files counted, as Linux has it.
#[cfg(target_os = "linux")]
#[test]
fn a_service_that_may_open_no_more_files_answers_and_recovers_once_clients_leave() {
    use std::net::TcpStream;

    use rustix::process::{Pid, Resource, Rlimit, prlimit};

    use crate::patience::eventually;

    let place = Installation::set_up();
    let token = place.make_token("client");
    let mut service = place.start();
    let process = service.child.id();
    let open = || fs::read_dir(format!("/proc/{process}/fd")).expect("it runs").count();
    let list = json!({"scope": "project", "op": "file.list"});
    assert_eq!(service.ask(&token, &list)["ok"], true);
    let limit = Some(open() as u64 + 6);
    prlimit(
        Some(Pid::from_child(&service.child)),
        Resource::Nofile,
        Rlimit { current: limit, maximum: limit },
    )
    .expect("it is ours");
    let address = service.started["address"].as_str().expect("an address").to_owned();
    let idle: Vec<_> = (0..40).map(|_| TcpStream::connect(&address).expect("it listens")).collect();
    // Dropped connections make room for it, at least to say that there is none for what it asks.
    eventually("a new client is answered", || service.try_ask(&token, &list).is_some());
    drop(idle);
    let is_listed = || service.try_ask(&token, &list).is_some_and(|answer| answer["ok"] == true);
    eventually("what it asks is done", is_listed);
    service.signal(rustix::process::Signal::TERM);
    assert_eq!(service.end().0, Some(0));
}
