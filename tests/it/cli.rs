//! The command line, run as a person runs it: the real binary in a temporary installation.

pub mod answers;
// Places, links and modes of clients' settings as Linux has them; those of other systems have tests beside their code.
#[cfg(target_os = "linux")]
mod client;
// Shells and their terminals as Linux has them.
#[cfg(target_os = "linux")]
mod completions;
mod config;
mod exits;
mod help;
mod hints;
mod reach;
mod served;
mod scopes;
mod undo;
mod uninstall;

use std::fs;
#[cfg(unix)]
use std::net::TcpStream;
use std::path::Path;

use bailiwick::platform::fs::modes::{set_mode, symlink};
use serde_json::{Value, json};

use crate::installation::{CommandOutput, Installation};
use crate::needs::lacks_full_sandbox;
use crate::system::{Need, assert_private, lacks};

#[test]
fn setup_opens_one_folder_makes_no_token_and_changes_nothing_the_second_time() {
    let place = Installation::new();
    let first = place.run(&["setup", "project", "--yes", "--json"]);
    assert_eq!(first.exit, 0, "{}", first.err);
    let first = first.json();
    assert_eq!(first["scope"]["id"], "project");
    let coding = ["fs:read", "search:read", "fs:write", "git:read", "git:write", "history:read"];
    assert_eq!(first["scope"]["capabilities"], json!(coding));
    let before = fs::read(place.config()).expect("the config");
    // A token is for HTTP, which nobody wanted yet.
    assert!(!place.config().with_file_name("tokens.json").exists());
    let token = place.make_token("laptop");
    assert_eq!((token.len(), &token[..4]), (68, "bwl_"));
    for file in ["config.json", "tokens.json"] {
        assert_private(&place.config().with_file_name(file), 0o600);
    }

    let second = place.run(&["setup", "project", "--json"]).json();
    assert_eq!(second["change"], "nothing");
    assert_eq!(fs::read(place.config()).expect("the config"), before);

    let third = place.run(&["setup", "project", "--preset", "read-only", "--yes", "--json"]).json();
    assert_eq!(third["change"], "changed");
    assert_eq!(third["scope"]["capabilities"], json!(["fs:read", "search:read", "history:read"]));
    assert_eq!(place.run(&["scope", "list", "--json"]).json()["scopes"].as_array().map(Vec::len), Some(1));
}

#[test]
fn setup_refuses_folders_that_would_open_too_much() {
    let place = Installation::new();
    let home = place.folder.path().join("home");
    fs::create_dir(&home).expect("made");
    let has_links = Need::Links.is_there();
    if has_links {
        symlink("/", place.folder.path().join("top")).expect("a link");
        symlink(&home, place.folder.path().join("own")).expect("a link");
    }
    for (words, exit, said) in [
        (&["setup", "/"][..], 12, "whole file system"),
        (&["setup", "top"], 12, "whole file system"),
        (&["setup", "."], 12, "home folder"),
        (&["setup", ".", "--whole-home"], 12, "own config or state"),
        (&["setup", "home"], 12, "own config or state"),
        (&["setup", "own"], 12, "own config or state"),
        (&["setup", "none"], 15, "no folder"),
        (&["setup", "project/hello.txt"], 2, "a file, not a folder"),
        (&["setup", "project", "--id", "a b"], 2, "cannot be the id"),
    ] {
        if !has_links && ["top", "own"].contains(&words[1]) {
            continue;
        }
        let ran = place.run(words);
        assert_eq!(ran.exit, exit, "{words:?}: {}", ran.err);
        assert!(ran.err.contains(said), "{words:?}: {}", ran.err);
        assert!(ran.err.contains("hint:"), "{words:?}: {}", ran.err);
    }
    assert!(!place.config().exists(), "nothing was set up");
}

#[test]
fn here_opens_the_current_folder() {
    let place = Installation::new();
    let output =
        place.command(&["here", "--id", "app", "--yes", "--json"]).current_dir(place.project()).output();
    let ran = CommandOutput::from(output.expect("the binary runs"));
    assert_eq!(ran.json()["scope"]["roots"], json!([place.project()]));
}

#[test]
fn a_broken_config_starts_nothing_and_says_where_it_is_broken() {
    let place = Installation::set_up();
    let good = fs::read_to_string(place.config()).expect("the config");
    fs::write(place.config(), good.replace("\"fs:read\"", "\"fs:raed\"")).expect("written");
    for words in [
        &["status"][..],
        &["start"],
        &["mcp"],
        &["call", "computer.info"],
        &["scope", "list"],
        &["setup", "project"],
    ] {
        let ran = place.run(words);
        assert_eq!(ran.exit, 18, "{words:?}: {}{}", ran.out, ran.err);
        for part in ["config.json", "line ", "scopes[0].capabilities[0]", "fs:raed", "hint:"] {
            assert!(ran.err.contains(part), "{words:?}: {}", ran.err);
        }
        assert_eq!(ran.out, "", "{words:?}");
    }
    fs::write(place.config(), good).expect("written");
    if lacks(Need::Modes) {
        return;
    }
    set_mode(&place.config(), 0o666).expect("own file");
    let ran = place.run(&["call", "computer.info"]);
    assert_eq!(ran.exit, 18);
    assert!(
        ran.err.contains("other users can change the file") && ran.err.contains("chmod 600"),
        "{}",
        ran.err
    );
}

#[test]
fn a_running_service_takes_up_a_changed_config_and_refuses_all_while_it_is_broken() {
    let place = Installation::set_up();
    let service = place.start();
    let stat = ["call", "file.stat", "hello.txt"];
    assert_eq!(place.run(&stat).exit, 0);
    assert_eq!(place.run(&["scope", "deny", "project", "fs:read"]).exit, 0);
    assert_eq!(place.run(&stat).exit, 12);
    assert_eq!(place.run(&["scope", "allow", "project", "fs:read"]).exit, 0);
    assert_eq!(place.run(&stat).exit, 0);

    let good = fs::read(place.config()).expect("the config");
    fs::write(place.config(), "{").expect("written");
    let ran = place.run(&[&stat[..], &["--json"]].concat());
    assert_eq!(ran.exit, 18, "{}", ran.out);
    let error = &ran.json()["error"];
    assert_eq!(
        (&error["code"], &error["details"]["rule"]),
        (&json!("provider_unavailable"), &json!("broken-config"))
    );
    assert!(!error.to_string().contains(place.folder.path().to_str().expect("UTF-8")), "{error}");
    fs::write(place.config(), good).expect("written");
    assert_eq!(place.run(&stat).exit, 0, "it continues when the config is whole again");
    drop(service);
}

#[test]
fn call_takes_fields_as_flags_and_says_the_nearest_for_a_wrong_one() {
    let place = Installation::set_up();
    for (words, exit, said) in [
        (&["call", "file.stat", "hello.txt"][..], 0, ""),
        (&["call", "file.stat", "hello.txt", "--scope", "project"], 0, ""),
        (&["call", "file.stat", "hello.txt", "--timeout-seconds", "3"], 0, ""),
        (&["call", "file.stat", "hello.txt", "--timeoutSeconds=3"], 0, ""),
        (&["call", "file.stat", "none.txt"], 15, "does not exist"),
        (&["call", "file.stat", "../x"], 13, "path_out_of_scope"),
        (&["call", "file.stat", ".env"], 12, "sensitive"),
        (&["call", "file.stat", "--scope", "other"], 10, "unknown_scope"),
        (&["call", "file.stta", "hello.txt"], 11, "Did you mean file.stat"),
        (&["call", "file.stat", "--timout-seconds", "3"], 2, "Did you mean `--timeout-seconds`"),
        (&["call", "file.stat", "--timeout-seconds", "soon"], 2, "whole number"),
        (&["call", "file.stat", "--options", "[]"], 2, "JSON object"),
        (&["call", "file.stat", "--options", r#"{"colour":1}"#], 2, "no field `colour`"),
        (&["call", "file.stat", "a", "b"], 2, "one word too many"),
        (&["call"], 2, "no operation is named"),
        (&["call", "{"], 2, "not valid JSON"),
        (&["call", r#"{"op":"file.stat","target":"hello.txt"}"#], 0, ""),
    ] {
        let ran = place.run(words);
        assert_eq!(ran.exit, exit, "{words:?}: {}{}", ran.out, ran.err);
        assert!(ran.err.contains(said), "{words:?}: {}", ran.err);
        let json = place.run(&[words, &["--json"]].concat());
        assert_eq!(json.exit, exit, "{words:?} --json: {}", json.out);
        assert_eq!(json.json()["ok"], exit == 0, "{words:?}: {}", json.out);
        assert_eq!(json.err, "", "{words:?}");
    }
    let ran = place
        .run_with_input(&["call", "file.stat", "hello.txt", "--options", "-"], r#"{"timeoutSeconds":3}"#);
    assert_eq!(ran.exit, 0, "{}", ran.err);
}

#[test]
fn call_shows_an_operations_fields_and_lists_all_operations() {
    let place = Installation::new();
    let one = place.run(&["call", "file.stat", "--help"]);
    assert_eq!(one.exit, 0, "{}", one.err);
    for part in [
        "Usage: bailiwick call file.stat [PATH]",
        "--hash",
        "--timeout-seconds N",
        "Needs: fs:read",
        "Example:",
    ] {
        assert!(one.out.contains(part), "{part}: {}", one.out);
    }
    let all = place.run(&["call", "--help"]);
    for family in bailiwick::operations::FAMILIES {
        for entry in family.operations {
            let (family, name) = entry.spec.name.split_once('.').expect("a family");
            // Short families share a row.
            assert!(all.out.contains(&format!("  {family} ")), "{family}");
            assert!(all.out.split_whitespace().any(|it| it == name), "{}", entry.spec.name);
        }
    }
}

#[test]
fn results_of_call_can_be_read_and_cannot_steer_the_terminal() {
    if lacks(Need::Names) {
        return;
    }
    let place = Installation::set_up();
    fs::write(place.project().join("a\u{1b}[31m\nb.txt"), "x").expect("written");
    let ran = place.run(&["call", "file.find", "--pattern", "*.txt"]);
    assert_eq!(ran.exit, 0, "{}", ran.err);
    assert!(ran.out.contains("hello.txt") && ran.out.contains("a\\u{1b}[31m\\nb.txt"), "{}", ran.out);
    let denied = place.run(&["call", "file.stat", "\u{1b}[2J"]);
    assert!(!denied.err.contains('\u{1b}'), "{}", denied.err);
}

#[test]
fn a_token_opens_until_it_is_rotated_or_revoked_and_only_what_it_names() {
    let place = Installation::set_up();
    place.make_token("owner");
    let service = place.start();
    let stat = json!({"op": "file.stat", "target": "hello.txt"});
    assert_eq!(service.post(None, &stat), 401);
    assert_eq!(service.post(Some("bwl_wrong"), &stat), 401);

    let made = place.run(&[
        "token",
        "create",
        "laptop",
        "--scope",
        "project",
        "--capability",
        "history:read",
        "--expires",
        "1d",
        "--json",
    ]);
    assert_eq!(made.exit, 0, "{}", made.err);
    let first = made.json()["token"]["secret"].as_str().expect("shown once").to_owned();
    assert_eq!(service.post(Some(&first), &stat), 403, "it may not read files");
    assert_eq!(place.run(&["token", "revoke", "laptop"]).exit, 0);
    let made = place.run(&["token", "create", "laptop"]);
    let second = made.out.trim().to_owned();
    assert_eq!((service.post(Some(&first), &stat), service.post(Some(&second), &stat)), (401, 200));

    let third = place.run(&["token", "rotate", "laptop"]).out.trim().to_owned();
    assert_eq!((service.post(Some(&second), &stat), service.post(Some(&third), &stat)), (401, 200));
    let listed = place.run(&["token", "list"]);
    assert!(listed.out.contains("laptop") && listed.out.contains("owner"), "{}", listed.out);
    for secret in [&first, &second, &third] {
        assert!(!listed.out.contains(&secret[4..]), "{}", listed.out);
    }
    assert_eq!(place.run(&["token", "create", "laptop"]).exit, 16);
    assert_eq!(place.run(&["token", "revoke", "laptop"]).exit, 0);
    assert_eq!(service.post(Some(&third), &stat), 401);
    assert_eq!(place.run(&["token", "revoke", "laptop"]).exit, 15);
    assert_eq!(place.run(&["token", "create", "x", "--scope", "none"]).exit, 10);
    assert_eq!(place.run(&["token", "create", "x", "--capability", "fs:raed"]).exit, 2);
    assert_eq!(place.run(&["token", "create", "x", "--expires", "2020-01-01"]).exit, 2);
}

#[test]
fn a_token_file_that_others_can_read_or_that_is_a_link_serves_nobody() {
    if lacks(Need::Modes) || lacks(Need::Links) {
        return;
    }
    let place = Installation::set_up();
    place.make_token("owner");
    let tokens = place.config().with_file_name("tokens.json");
    set_mode(&tokens, 0o640).expect("own file");
    let ran = place.run(&["start", "--port", "0"]);
    assert_eq!(ran.exit, 18);
    assert!(ran.err.contains("other users can read the file"), "{}", ran.err);
    set_mode(&tokens, 0o600).expect("own file");
    let elsewhere = place.folder.path().join("elsewhere.json");
    fs::rename(&tokens, &elsewhere).expect("moved");
    symlink(&elsewhere, &tokens).expect("a link");
    let ran = place.run(&["start", "--port", "0"]);
    assert_eq!(ran.exit, 18);
    assert!(ran.err.contains("symbolic link"), "{}", ran.err);
}

#[test]
fn scope_allow_and_deny_change_what_is_judged() {
    let place = Installation::set_up();
    let explain = |words: &[&str]| place.run(&[&["policy", "explain"], words, &["--json"]].concat());
    let write = r#"{"op":"file.stat","target":"secrets.yaml"}"#;
    let ran = explain(&[write]);
    assert_eq!(ran.exit, 12);
    assert_eq!(ran.json()["permitted"], false);
    assert_eq!(place.run(&["scope", "allow", "project", "--files", "secrets.yaml"]).exit, 0);
    assert_eq!(explain(&[write]).json()["permitted"], true);
    assert_eq!(place.run(&["scope", "deny", "project", "--files", "secrets.yaml"]).exit, 0);
    assert_eq!(explain(&[write]).exit, 12);

    assert_eq!(place.run(&["scope", "allow", "project", "fs:read", "--ask"]).exit, 0);
    let ran = explain(&["file.stat", "hello.txt"]);
    assert_eq!((ran.exit, ran.json()["code"].clone()), (14, json!("approval_required")));
    assert_eq!(place.run(&["scope", "allow", "project", "fs:read"]).exit, 0);
    assert_eq!(explain(&["file.stat", "hello.txt"]).exit, 0);
    let stages = explain(&["file.stat", "../x"]).json();
    let names: Vec<&str> =
        stages["stages"].as_array().expect("a list").iter().filter_map(|it| it["stage"].as_str()).collect();
    let all: Vec<&str> = bailiwick::policy::STAGES.iter().map(|stage| stage.name.as_str()).collect();
    assert_eq!(names, all);

    let before = fs::read(place.config()).expect("the config");
    for (words, exit) in [
        (&["scope", "deny", "other", "fs:read"][..], 10),
        (&["scope", "allow", "project", "fs:raed"], 2),
        (&["scope", "allow", "project", "--files", "[z-a]"], 2),
        (&["scope", "edit", "project", "--remove-root", "project"], 2),
        (&["scope", "edit", "project", "--max-output-bytes", "5"], 2),
        (&["scope", "remove", "other"], 10),
    ] {
        let ran = place.run(words);
        assert_eq!(ran.exit, exit, "{words:?}: {}", ran.err);
        assert_eq!(fs::read(place.config()).expect("the config"), before, "{words:?}");
    }
    assert_eq!(place.run(&["scope", "remove", "project"]).exit, 0);
    assert_eq!(place.run(&["call", "file.stat", "hello.txt"]).exit, 10);
}

// It ends its service as other programs of Unix do.
#[cfg(unix)]
#[test]
fn status_tells_whether_a_service_runs_and_a_second_one_is_refused() {
    let place = Installation::new();
    let ran = place.run(&["status"]);
    assert_eq!(ran.exit, 18);
    assert!(ran.err.contains("not set up") && ran.err.contains("bailiwick setup"), "{}", ran.err);
    assert_eq!(place.run(&["setup", "--yes"]).exit, 0, "without a folder nothing is opened");
    assert_eq!(place.run(&["setup", "project", "--yes"]).exit, 0);
    let status = place.run(&["status", "--json"]).json();
    assert_eq!(
        (&status["ok"], &status["running"], &status["service"]),
        (&json!(true), &json!(false), &Value::Null)
    );

    let mut service = place.start();
    let status = place.run(&["status", "--json"]).json();
    assert_eq!((&status["running"], &status["service"]["url"]), (&json!(true), &service.started["url"]));
    let second = place.run(&["start", "--port", "0"]);
    assert_eq!(second.exit, 16);
    assert!(second.err.contains("running already"), "{}", second.err);
    service.signal(rustix::process::Signal::TERM);
    assert_eq!(service.end().0, Some(0));
    assert_eq!(place.run(&["status", "--json"]).json()["running"], false);

    fs::rename(place.project(), place.folder.path().join("gone")).expect("moved");
    let ran = place.run(&["status"]);
    assert_eq!(ran.exit, 18);
    assert!(ran.out.contains("Problem       project: "), "{}", ran.out);
}

// A key cannot be sent to another program's console.
#[cfg(unix)]
#[test]
fn ctrl_c_ends_a_service_with_an_open_connection() {
    let place = Installation::set_up();
    let mut service = place.start();
    let idle =
        TcpStream::connect(service.started["address"].as_str().expect("an address")).expect("it listens");
    service.signal(rustix::process::Signal::INT);
    let (exit, took) = service.end();
    assert_eq!(exit, Some(0), "after {took:?}");
    drop(idle);
    assert!(!place.folder.path().join("home/run/bailiwick.sock").exists());
}

#[test]
fn a_port_that_is_taken_is_said_plainly() {
    let place = Installation::set_up();
    let other = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    let port = other.local_addr().expect("bound").port().to_string();
    let ran = place.run(&["start", "--port", &port]);
    assert_eq!(ran.exit, 18);
    assert!(ran.err.contains(&port) && ran.err.contains("--port"), "{}", ran.err);
}

#[test]
fn mcp_ends_with_its_client_and_writes_nothing_but_protocol() {
    let place = Installation::set_up();
    place.make_token("owner");
    let ran = place.run(&["mcp"]);
    assert_eq!((ran.exit, ran.out.as_str()), (0, ""));
    let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}});
    let ran = place.run_with_input(&["mcp", "--caller", "owner"], &format!("{hello}\n"));
    assert_eq!(ran.exit, 0, "{}", ran.err);
    assert_eq!(ran.json()["result"]["serverInfo"]["name"], "bailiwick");
    let ran = place.run(&["mcp", "--caller", "nobody"]);
    assert_eq!(ran.exit, 15);
    assert!(ran.err.contains("no token named"), "{}", ran.err);
}

#[test]
fn a_named_config_keeps_its_own_state_and_socket() {
    let place = Installation::set_up();
    let service = place.start();
    let named = place.folder.path().join("other/own.json");
    let words = ["--config", named.to_str().expect("UTF-8")];
    let ran = place.run(&[&words[..], &["setup", "project", "--id", "second", "--yes"]].concat());
    assert_eq!(ran.exit, 0, "{}", ran.err);
    let info = place.run(&[&["call"][..], &words, &["computer.info", "--json"]].concat()).json();
    assert_eq!(info["data"]["scopes"][0]["id"], "second", "it is not answered by the running service");
    assert!(named.with_file_name("own.state").is_dir());
    drop(service);
}

#[test]
fn completions_and_help_name_every_command() {
    let place = Installation::new();
    let help = place.run(&["--help"]);
    assert_eq!((help.exit, help.err.as_str()), (0, ""));
    let commands = [
        "setup",
        "status",
        "doctor",
        "watch",
        "log",
        "ps",
        "approve",
        "scope",
        "client",
        "token",
        "policy",
        "config",
        "undo",
        "serve",
        "mcp",
        "service",
        "tunnel",
        "call",
        "completions",
        "man",
        "uninstall",
    ];
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = place.run(&["completions", shell]).out;
        for command in commands {
            assert!(help.out.contains(&format!(" {command} ")), "{command}: {}", help.out);
            assert!(script.contains(command), "{shell}: {command}");
            let one = place.run(&[command, "--help"]);
            assert_eq!(one.exit, 0, "{command}: {}", one.err);
        }
    }
    assert!(place.run(&["--version"]).out.starts_with(concat!("bailiwick ", env!("CARGO_PKG_VERSION"))));
    for words in [&["statsu"][..], &["setup", "--colour"], &["completions", "tcsh"]] {
        let ran = place.run(words);
        assert_eq!((ran.exit, ran.out.as_str()), (2, ""), "{words:?}: {}", ran.err);
    }
    let alone = place.run(&["--json"]);
    assert_eq!((alone.exit, alone.out), (18, place.run(&["status", "--json"]).out), "alone it is `status`");
    assert_eq!(place.run(&["statsu", "--json"]).json()["error"]["code"], "invalid_request");
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let place = Installation::new();
    let mut child = place.command(&["completions", "zsh"]).spawn().expect("the binary runs");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("it ends");
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]));
}

#[test]
fn colour_is_never_sent_to_what_is_no_terminal() {
    let place = Installation::set_up();
    for words in
        [&["status"][..], &["call", "file.stat", "../x"], &["policy", "explain", "file.stat", ".env"]]
    {
        let ran = place.run(words);
        assert!(!ran.out.contains('\u{1b}') && !ran.err.contains('\u{1b}'), "{words:?}");
    }
}

#[test]
fn the_history_shows_every_call_and_its_chain_holds() {
    let place = Installation::set_up();
    place.run(&["call", "file.stat", "hello.txt"]);
    place.run(&["call", "file.stat", "../outside"]);
    let shown = place.run(&["history", "--json"]).json();
    let codes: Vec<&Value> =
        shown["operations"].as_array().expect("a list").iter().map(|it| &it["code"]).collect();
    assert_eq!(codes, [&json!("path_out_of_scope"), &Value::Null]);
    let id = shown["operations"][0]["operationId"].as_str().expect("an id").to_owned();
    let table = place.run(&["log"]).out;
    let row = table.lines().find(|line| line.contains("../outside")).expect("a row");
    let short = row.split_whitespace().nth(2).expect("an id");
    assert!(id.ends_with(short) && row.contains(" denied "), "{row}");
    assert_eq!(place.run(&["log", "show", short]).out, place.run(&["log", "show", &id]).out);
    let targets = |flags: &[&str]| -> Vec<String> {
        let shown = place.run(&[&["log", "--json"], flags].concat()).json();
        let list = shown["operations"].as_array().expect("a list").clone();
        list.iter().map(|it| it["target"].as_str().unwrap_or_default().to_owned()).collect()
    };
    for (flags, expected) in [
        (&["--failed"][..], &["../outside"][..]),
        (&["--op", "file"], &["../outside", "hello.txt"]),
        (&["--op", "git"], &[]),
        (&["--client", "LOCAL", "--since", "1h"], &["../outside", "hello.txt"]),
        (&["--client", "cursor"], &[]),
        (&["--since", "2099-01-01"], &[]),
    ] {
        assert_eq!(targets(flags), expected, "{flags:?}");
    }
    assert_eq!(place.run(&["log", "--since", "soon"]).exit, 2);
    let mut elsewhere = place.command(&["log"]);
    let elsewhere = CommandOutput::from(elsewhere.env("TZ", "JST-9").output().expect("it runs"));
    let utc = place.run(&["log", "--utc"]).out;
    let times = |table: &str| -> Vec<String> {
        table
            .lines()
            .skip(1)
            .map(|line| line.split_whitespace().take(2).collect::<Vec<_>>().join(" "))
            .collect()
    };
    assert_ne!(times(&elsewhere.out), times(&utc), "times are those of the time zone");
    let one = place.run(&["history", "get", &id]);
    assert!(one.out.contains("../outside") && one.out.contains("stage path"), "{}", one.out);
    assert_eq!(place.run(&["history", "get", "01ARZ3NDEKTSV4RRFFQ69G5FAV"]).exit, 15);
    assert_eq!(place.run(&["history", "get", "x"]).exit, 2);
    let failed = place.run(&["history", "failed-replay", "--json"]).json();
    assert_eq!(
        failed["failed"][0]["envelope"],
        json!({"scope": "project", "op": "file.stat", "target": "../outside"})
    );
    let ways = place.run(&["history", "connections", "--json"]).json();
    assert_eq!(
        (&ways["connections"][0]["operations"], &ways["connections"][0]["failed"]),
        (&json!(2), &json!(1))
    );
    assert!(place.run(&["history", "last"]).out.contains("The policy refused it"));
    let verified = place.run(&["history", "verify"]);
    assert_eq!(verified.exit, 0, "{}{}", verified.out, verified.err);

    // An edit of the file alone: the pages written ahead go with it, or SQLite would put them back.
    let state = place.folder.path().join("home/state");
    let text = fs::read(state.join("history.db")).expect("readable");
    let at = text.windows(10).position(|part| part == b"../outside").expect("the target is in the store");
    let mut changed = text.clone();
    changed[at + 3..at + 10].copy_from_slice(b"inside_");
    fs::write(state.join("history.db"), changed).expect("written");
    let _ = fs::remove_file(state.join("history.db-wal"));
    let verified = place.run(&["history", "verify"]);
    assert_eq!(verified.exit, 16, "{}", verified.out);
    assert!(verified.out.contains("tampered: row 2"), "{}", verified.out);
}

#[test]
fn try_does_everything_for_real() {
    let place = Installation::new();
    fs::write(place.project().join("code.rs"), "fn main() {}\n").expect("written");
    let temporary = place.folder.path().join("tmp");
    fs::create_dir(&temporary).expect("made");
    let mut command = place.command(&["try", "project", "--json"]);
    let ran: CommandOutput = command.env("TMPDIR", &temporary).output().expect("the binary runs").into();
    let told = ran.json();
    let wrong: Vec<&Value> =
        told["steps"].as_array().expect("steps").iter().filter(|step| step["state"] != "ok").collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert_eq!(ran.exit, 0);
    let mut left: Vec<_> =
        fs::read_dir(place.project()).expect("there").map(|it| it.expect("read").file_name()).collect();
    left.sort();
    assert_eq!(left, ["code.rs", "hello.txt"], "try changed nothing");
    assert!(!place.config().exists(), "it did not touch the installation");
    assert_eq!(fs::read_dir(&temporary).expect("there").count(), 0, "the throw-away installation is gone");
}

// The examples name folders of Unix.
#[cfg(unix)]
#[test]
fn every_example_policy_is_a_valid_config() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/policies");
    let read_me = fs::read_to_string(folder.join("README.md")).expect("there");
    let mut count = 0;
    for entry in fs::read_dir(&folder).expect("there") {
        let path = entry.expect("readable").path();
        if path.extension().is_some_and(|extension| extension == "json") {
            let text = fs::read(&path).expect("readable");
            let config = bailiwick::config::Config::parse(&path, &text).expect("valid");
            for scope in &config.scopes {
                bailiwick::policy::command::Commands::compile(&scope.id, &scope.policy)
                    .expect("the rules compile");
            }
            let name = path.file_name().and_then(|name| name.to_str()).expect("UTF-8");
            assert!(read_me.contains(name), "{name} is not in the README");
            count += 1;
        }
    }
    assert!(count >= 4);
}

#[test]
fn setup_with_commands_grants_them_with_rules_and_says_what_they_mean() {
    if lacks_full_sandbox() {
        return;
    }
    let place = Installation::new();
    let programs = place.folder.path().join(".local/bin");
    fs::create_dir_all(&programs).expect("made");
    fs::create_dir_all(place.project().join(".cargo/bin")).expect("made");
    let set_up = || {
        let mut command =
            place.command(&["setup", "project", "--preset", "read-only", "--commands", "--yes"]);
        for variable in ["RUSTUP_HOME", "NVM_DIR", "PYENV_ROOT", "GOPATH"] {
            command.env_remove(variable);
        }
        CommandOutput::from(
            command.env("CARGO_HOME", place.project().join(".cargo")).output().expect("the binary runs"),
        )
    };
    let ran = set_up();
    assert_eq!(ran.exit, 0, "{}", ran.err);
    for said in ["any program and any text for bash", "npm", "none of your keys", "sudo *", "git push *"] {
        assert!(ran.out.contains(said), "{said}: {}", ran.out);
    }
    let config: Value = serde_json::from_slice(&fs::read(place.config()).expect("there")).expect("JSON");
    let scope = &config["scopes"][0];
    let capabilities = scope["capabilities"].as_array().expect("a list");
    for granted in ["command:run", "process:manage", "package:run"] {
        assert!(capabilities.contains(&json!(granted)), "{granted}");
    }
    assert!(!capabilities.contains(&json!("fs:write")), "what else is granted stays as it was");
    // Programs that start others, or shells, are in no default list; what the project holds is on no path.
    let allowed = scope["policy"]["allowedCommands"].to_string();
    for program in
        ["bash", "sh", "env", "xargs", "find", "sed", "sort", "docker", "ssh", "curl", "rm", "sudo"]
    {
        assert!(!allowed.contains(&format!("\"{program} *\"")), "{program}");
    }
    let path = scope["policy"]["searchPath"].as_array().expect("a list");
    assert!(path.contains(&json!(programs)));
    assert!(!scope["policy"].to_string().contains("project/.cargo"));
    let before = fs::read(place.config()).expect("there");
    assert!(set_up().out.contains("nothing to change"));
    assert_eq!(fs::read(place.config()).expect("there"), before);
}

#[test]
fn policy_explain_tells_words_rules_verdict_and_containment_of_a_command() {
    let place = Installation::new();
    assert_eq!(place.run(&["setup", "project", "--commands", "--yes"]).exit, 0);
    let explain = |command: &str| place.run(&["policy", "explain", command, "--json"]);
    for (command, exit, verdict) in
        [("echo $(id)", 0, "allow"), ("cd x && git push", 14, "ask"), ("true $X; sudo id", 12, "deny")]
    {
        let ran = explain(command);
        assert_eq!((ran.exit, &ran.json()["verdict"]), (exit, &json!(verdict)), "{command}: {}", ran.out);
        assert_eq!(ran.json()["containment"]["sandbox"], "full", "{command}: {}", ran.out);
    }
    // Where no full sandbox takes what no rule allows.
    assert_eq!(place.run(&["scope", "edit", "project", "--shell", "off"]).exit, 0);
    for (command, exit, verdict) in [
        ("git status", 0, "allow"),
        ("git push origin main", 14, "ask"),
        ("git -c core.pager=x log", 12, "deny"),
        (r#"["git","-c","core.pager=x","log"]"#, 12, "deny"),
        ("npm test && frob", 12, "deny"),
        ("echo $(id)", 12, "deny"),
    ] {
        let ran = explain(command);
        assert_eq!(
            (ran.exit, ran.json()["verdict"].clone()),
            (exit, json!(verdict)),
            "{command}: {}",
            ran.out
        );
    }
    let told = explain("npm test && npm ci").json();
    assert_eq!(told["commands"][0]["argv"], json!(["npm", "test"]));
    assert!(told["commands"][0]["implies"]["arbitraryCode"].is_string());
    assert_eq!(told["containment"]["sandbox"], "full");
    let text = place.run(&["policy", "explain", "git -c core.pager=x log", "--scope", "project"]).out;
    for said in
        ["\"core.pager=x\"", "profile:git", "allowedCommands[", "sandbox auto", "network loopback", "deny"]
    {
        assert!(text.contains(said), "{said}: {text}");
    }
    assert_eq!(place.run(&["policy", "explain", "git", "status"]).exit, 2);
    assert_eq!(explain("file.raed").json()["error"]["code"], "unknown_operation");
}

#[test]
fn policy_test_compares_verdicts_and_fails_where_one_differs() {
    let place = Installation::new();
    assert_eq!(place.run(&["setup", "project", "--commands", "--yes"]).exit, 0);
    assert_eq!(place.run(&["scope", "edit", "project", "--shell", "off"]).exit, 0);
    let test = |content: &str| {
        fs::write(place.folder.path().join("commands"), content).expect("written");
        place.run(&["policy", "test", "commands"])
    };
    let good = test(
        "# comment\n\nallow\tgit status\ndeny\tgit -c a=b log\nask\tgit push\ndeny\t[\"bash\",\"-c\",\"id\"]\n",
    );
    assert_eq!((good.exit, good.out.as_str()), (0, "4 commands, 4 as expected, 0 not\n"));
    let bad =
        test(r#"[{"verdict":"allow","command":["git","push"]},{"verdict":"deny","command":"echo $X"}]"#);
    assert_eq!(bad.exit, 1);
    assert!(bad.out.contains("commands:1: expected allow, found ask"), "{}", bad.out);
    for wrong in ["maybe\tgit status", "git status", "[{\"verdict\":\"allow\"}]"] {
        assert_eq!(test(wrong).exit, 2, "{wrong}");
    }
    assert_eq!(place.run(&["policy", "test", "missing"]).exit, 15);
}
