//! `doctor`: faults injected one by one into a healthy installation, each named with its fix; repairs, and their undo.

use std::collections::BTreeSet;
use std::fs::{self, Permissions};
use std::net::TcpListener;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

use crate::installation::Installation;

/// Something that goes wrong.
struct Fault {
    name: &'static str,
    /// The check that must tell.
    check: &'static str,
    /// What its fix must say.
    fix: &'static str,
    /// Whether `--fix` mends it.
    is_mended: bool,
    inject: fn(&Installation),
}

/// What a doctor must not touch, and what it must tell, by check.
fn troubles(report: &Value) -> BTreeSet<String> {
    let Some(checks) = report["checks"].as_array() else { panic!("no checks: {report}") };
    let text = |value: &Value| value.as_str().expect("text").to_owned();
    checks.iter().filter(|check| check["standing"] != "ok").map(|check| text(&check["check"])).collect()
}

fn doctor(place: &Installation, words: &[&str]) -> Value {
    let words = [&["doctor", "--json"], words].concat();
    let ran = place.run(&words);
    assert!([0, 1].contains(&ran.exit), "{words:?}: {} {}", ran.exit, ran.err);
    let report = ran.json();
    assert_eq!(ran.exit == 0, report["ok"] == true, "{words:?}");
    report
}

/// An installation in order, with a history and a port that is free.
fn healthy() -> Installation {
    let place = Installation::set_up();
    change(&place, |config| config["port"] = json!(free_port()));
    assert_eq!(place.run(&["call", "file.list", ".", "--json"]).exit, 0);
    place
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("bound").port()
}

fn home(place: &Installation) -> PathBuf {
    place.folder.path().join("home")
}

fn change(place: &Installation, change: impl FnOnce(&mut Value)) {
    let mut config: Value =
        serde_json::from_str(&fs::read_to_string(place.config()).expect("the config")).expect("JSON");
    change(&mut config);
    // In place, so that its mode stays.
    fs::write(place.config(), serde_json::to_string_pretty(&config).expect("JSON")).expect("written");
}

fn replace(place: &Installation, from: &str, to: &str) {
    let text = fs::read_to_string(place.config()).expect("the config");
    assert!(text.contains(from), "{text}");
    fs::write(place.config(), text.replacen(from, to, 1)).expect("written");
}

fn mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).expect("own file");
}

fn tokens(place: &Installation) -> PathBuf {
    home(place).join("config/tokens.json")
}

fn change_tokens(place: &Installation, change: impl FnOnce(&mut Value)) {
    let mut file: Value =
        serde_json::from_str(&fs::read_to_string(tokens(place)).expect("the tokens")).expect("JSON");
    change(&mut file["tokens"][0]);
    fs::write(tokens(place), file.to_string()).expect("written");
}

fn in_days(days: i64) -> String {
    let output =
        Command::new("date").args(["-u", "-d", &format!("{days} days"), "+%Y-%m-%dT%H:%M:%SZ"]).output();
    String::from_utf8(output.expect("date runs").stdout).expect("UTF-8").trim().to_owned()
}

const FAULTS: &[Fault] = &[
    // The config.
    Fault {
        name: "no config",
        check: "config-there",
        fix: "bailiwick setup",
        is_mended: false,
        inject: |place| fs::remove_file(place.config()).expect("removed"),
    },
    Fault {
        name: "an empty config",
        check: "config",
        fix: "ends too early",
        is_mended: false,
        inject: |place| fs::write(place.config(), "").expect("written"),
    },
    Fault {
        name: "JSON that is cut off",
        check: "config",
        fix: "ends too early",
        is_mended: false,
        inject: |place| fs::write(place.config(), "{\"machineId\": ").expect("written"),
    },
    Fault {
        name: "a trailing comma",
        check: "config-plain",
        fix: "Remove",
        is_mended: true,
        inject: |place| replace(place, "\n}", ",\n}"),
    },
    Fault {
        name: "a comment",
        check: "config-plain",
        fix: "Remove",
        is_mended: true,
        inject: |place| replace(place, "{", "{ // my own"),
    },
    Fault {
        name: "a wrong type",
        check: "config",
        fix: "expected form",
        is_mended: false,
        inject: |place| change(place, |config| config["port"] = json!("x")),
    },
    Fault {
        name: "an unknown key",
        check: "config",
        fix: "Correct the field's name",
        is_mended: false,
        inject: |place| change(place, |config| config["colour"] = json!(1)),
    },
    Fault {
        name: "an unknown capability",
        check: "config",
        fix: "expected form",
        is_mended: false,
        inject: |place| replace(place, "fs:read", "fs:raed"),
    },
    Fault {
        name: "no machine id",
        check: "config-machine",
        fix: "an id",
        is_mended: true,
        inject: |place| {
            change(place, |config| {
                config.as_object_mut().expect("an object").remove("machineId");
            });
        },
    },
    Fault {
        name: "an empty machine name",
        check: "config-machine",
        fix: "name",
        is_mended: true,
        inject: |place| change(place, |config| config["machineName"] = json!("")),
    },
    Fault {
        name: "a scope twice",
        check: "config-scope-twice",
        fix: "Remove the second",
        is_mended: true,
        inject: |place| {
            change(place, |config| {
                let scope = config["scopes"][0].clone();
                config["scopes"].as_array_mut().expect("a list").push(scope);
            });
        },
    },
    Fault {
        name: "two scopes of one id",
        check: "config",
        fix: "an id of its own",
        is_mended: false,
        inject: |place| {
            change(place, |config| {
                let mut scope = config["scopes"][0].clone();
                scope["name"] = json!("other");
                config["scopes"].as_array_mut().expect("a list").push(scope);
            });
        },
    },
    Fault {
        name: "a relative folder",
        check: "config",
        fix: "whole path",
        is_mended: false,
        inject: |place| change(place, |config| config["scopes"][0]["roots"] = json!(["project"])),
    },
    Fault {
        name: "a folder with ~",
        check: "config-home",
        fix: "whole path",
        is_mended: true,
        inject: |place| change(place, |config| config["scopes"][0]["roots"] = json!(["~/project"])),
    },
    Fault {
        name: "a folder twice",
        check: "config-folder-twice",
        fix: "Remove the second",
        is_mended: true,
        inject: |place| {
            change(place, |config| {
                let root = config["scopes"][0]["roots"][0].clone();
                config["scopes"][0]["roots"] = json!([root, root]);
            });
        },
    },
    Fault {
        name: "the older key",
        check: "config-legacy",
        fix: "scopes",
        is_mended: true,
        inject: |place| {
            change(place, |config| {
                let scopes = config.as_object_mut().expect("an object").remove("scopes").expect("there");
                config["workspaces"] = scopes;
            });
        },
    },
    Fault {
        name: "a config that others can change",
        check: "config-mode",
        fix: "chmod 600",
        is_mended: true,
        inject: |place| mode(&place.config(), 0o666),
    },
    Fault {
        name: "a folder in the config's place",
        check: "config",
        fix: "kind, owner",
        is_mended: false,
        inject: |place| {
            fs::remove_file(place.config()).expect("removed");
            fs::create_dir(place.config()).expect("made");
        },
    },
    Fault {
        name: "no schema",
        check: "config-schema",
        fix: "Write the schema",
        is_mended: true,
        inject: |place| {
            fs::remove_file(place.config().with_file_name("config.schema.json")).expect("removed");
        },
    },
    Fault {
        name: "an old schema",
        check: "config-schema",
        fix: "Write the schema",
        is_mended: true,
        inject: |place| {
            fs::write(place.config().with_file_name("config.schema.json"), "{}\n").expect("written");
        },
    },
    Fault {
        name: "a host that is no address",
        check: "config",
        fix: "127.0.0.1",
        is_mended: false,
        inject: |place| change(place, |config| config["host"] = json!("example.com")),
    },
    Fault {
        name: "open to the network",
        check: "host",
        fix: "127.0.0.1",
        is_mended: false,
        inject: |place| change(place, |config| config["host"] = json!("0.0.0.0")),
    },
    Fault {
        name: "no token is asked for",
        check: "no-token-needed",
        fix: "false",
        is_mended: false,
        inject: |place| change(place, |config| config["http"] = json!({"allowLoopbackWithoutToken": true})),
    },
    // The tokens.
    Fault {
        name: "tokens that others can read",
        check: "tokens",
        fix: "chmod 600",
        is_mended: true,
        inject: |place| mode(&tokens(place), 0o644),
    },
    Fault {
        name: "tokens that cannot be read",
        check: "tokens",
        fix: "bailiwick token create",
        is_mended: false,
        inject: |place| fs::write(tokens(place), "{\"tokens\":[{\"id\"").expect("written"),
    },
    Fault {
        name: "tokens behind a link",
        check: "tokens",
        fix: "the file itself",
        is_mended: false,
        inject: |place| {
            let other = home(place).join("config/other.json");
            fs::rename(tokens(place), &other).expect("moved");
            symlink(&other, tokens(place)).expect("a link");
        },
    },
    Fault {
        name: "no token",
        check: "tokens",
        fix: "bailiwick token create",
        is_mended: false,
        inject: |place| fs::write(tokens(place), "{\"tokens\":[]}").expect("written"),
    },
    Fault {
        name: "an expired token",
        check: "token-expired",
        fix: "bailiwick token revoke",
        is_mended: false,
        inject: |place| change_tokens(place, |token| token["expiresAt"] = json!("2020-01-01T00:00:00Z")),
    },
    Fault {
        name: "a token that soon expires",
        check: "token-expires",
        fix: "bailiwick token create",
        is_mended: false,
        inject: |place| change_tokens(place, |token| token["expiresAt"] = json!(in_days(2))),
    },
    Fault {
        name: "a token for a scope that is gone",
        check: "token-scope",
        fix: "bailiwick token revoke",
        is_mended: false,
        inject: |place| change_tokens(place, |token| token["scopes"] = json!(["gone"])),
    },
    // The folders.
    Fault {
        name: "a config folder that others can enter",
        check: "folder-mode",
        fix: "chmod 700",
        is_mended: true,
        inject: |place| mode(&home(place).join("config"), 0o755),
    },
    Fault {
        name: "a state folder that others can change",
        check: "folder-mode",
        fix: "chmod 700",
        is_mended: true,
        inject: |place| mode(&home(place).join("state"), 0o777),
    },
    Fault {
        name: "a history that others can read",
        check: "file-mode",
        fix: "chmod 600",
        is_mended: true,
        inject: |place| mode(&home(place).join("state/history.db"), 0o644),
    },
    Fault {
        name: "a file that a crash left",
        check: "file-left",
        fix: "Remove it",
        is_mended: true,
        inject: |place| {
            let path = home(place).join("config/.config.json.01JD0000000000000000000000");
            fs::write(&path, "half").expect("written");
            mode(&path, 0o600);
            let file = fs::File::options().write(true).open(&path).expect("opened");
            file.set_modified(SystemTime::now() - Duration::from_secs(7_200)).expect("set");
        },
    },
    Fault {
        name: "a file in a folder's place",
        check: "folder",
        fix: "Move the file away",
        is_mended: false,
        inject: |place| {
            let _ = fs::remove_dir_all(home(place).join("run"));
            fs::write(home(place).join("run"), "").expect("written");
        },
    },
    // The scopes.
    Fault {
        name: "a folder that is gone",
        check: "scope-folder",
        fix: "mount its disk",
        is_mended: false,
        inject: |place| fs::remove_dir_all(place.project()).expect("removed"),
    },
    Fault {
        name: "a file in a scope folder's place",
        check: "scope-folder",
        fix: "",
        is_mended: false,
        inject: |place| {
            fs::remove_dir_all(place.project()).expect("removed");
            fs::write(place.project(), "").expect("written");
        },
    },
    Fault {
        name: "folders that overlap",
        check: "scope-overlap",
        fix: "grant the same",
        is_mended: false,
        inject: |place| {
            change(place, |config| {
                let mut scope = config["scopes"][0].clone();
                scope["id"] = json!("other");
                fs::create_dir(place.project().join("sub")).expect("made");
                scope["roots"] = json!([place.project().join("sub")]);
                config["scopes"].as_array_mut().expect("a list").push(scope);
            });
        },
    },
    Fault {
        name: "Bailiwick's own folder as a scope",
        check: "scope-folder",
        fix: "",
        is_mended: false,
        inject: |place| change(place, |config| config["scopes"][0]["roots"] = json!([home(place)])),
    },
    Fault {
        name: "commands without rules",
        check: "commands-none",
        fix: "allowedCommands",
        is_mended: false,
        inject: |place| change(place, |config| config["scopes"][0]["capabilities"] = json!(["command:run"])),
    },
    Fault {
        name: "nothing to manage",
        check: "commands-manage",
        fix: "bailiwick scope deny",
        is_mended: false,
        inject: |place| {
            change(place, |config| {
                config["scopes"][0]["capabilities"] = json!(["fs:read", "process:manage"]);
            });
        },
    },
    Fault {
        name: "the whole network",
        check: "commands-network",
        fix: "loopback",
        is_mended: false,
        inject: |place| {
            change(place, |config| {
                config["scopes"][0]["capabilities"] = json!(["command:run"]);
                config["scopes"][0]["policy"] = json!({"allowedCommands": ["make *"], "network": "full"});
            });
        },
    },
    Fault {
        name: "a folder of programs that is gone",
        check: "commands-folder",
        fix: "Correct the path",
        is_mended: false,
        inject: |place| {
            change(place, |config| {
                config["scopes"][0]["policy"] = json!({"searchPath": ["/usr/bin", "/opt/none"]});
            });
        },
    },
    Fault {
        name: "a glob that is none",
        check: "scope",
        fix: "",
        is_mended: false,
        inject: |place| {
            change(place, |config| config["scopes"][0]["policy"] = json!({"closedFiles": ["a[b"]}));
        },
    },
    Fault {
        name: "a scope that grants nothing",
        check: "scope-grants",
        fix: "bailiwick scope allow",
        is_mended: false,
        inject: |place| change(place, |config| config["scopes"][0]["capabilities"] = json!([])),
    },
    Fault {
        name: "no scope",
        check: "scopes",
        fix: "bailiwick setup",
        is_mended: false,
        inject: |place| change(place, |config| config["scopes"] = json!([])),
    },
    // The history.
    Fault {
        name: "a torn store",
        check: "history",
        fix: "set aside",
        is_mended: false,
        inject: |place| {
            let path = home(place).join("state/history.db");
            let bytes = fs::read(&path).expect("read");
            let _ = fs::remove_file(home(place).join("state/history.db-wal"));
            let _ = fs::remove_file(home(place).join("state/history.db-shm"));
            fs::write(&path, [&b"torn"[..], &bytes[4..bytes.len() / 2]].concat()).expect("written");
        },
    },
    Fault {
        name: "a store that was taken away",
        check: "history",
        fix: "history verify",
        is_mended: false,
        inject: |place| {
            for name in ["history.db", "history.db-wal", "history.db-shm"] {
                let _ = fs::remove_file(home(place).join("state").join(name));
            }
        },
    },
    // The service.
    Fault {
        name: "a stale socket",
        check: "left-behind",
        fix: "Remove it",
        is_mended: true,
        inject: |place| {
            fs::create_dir_all(home(place).join("run")).expect("made");
            mode(&home(place).join("run"), 0o700);
            drop(UnixListener::bind(home(place).join("run/bailiwick.sock")).expect("bound"));
            mode(&home(place).join("run/bailiwick.sock"), 0o600);
        },
    },
    Fault {
        name: "a stale note",
        check: "left-behind",
        fix: "Remove it",
        is_mended: true,
        inject: |place| {
            fs::create_dir_all(home(place).join("run")).expect("made");
            mode(&home(place).join("run"), 0o700);
            let note = home(place).join("run/service.json");
            fs::write(&note, "{\"processId\":1,\"url\":\"http://127.0.0.1:1/mcp\"}").expect("written");
            mode(&note, 0o600);
        },
    },
    Fault {
        name: "a folder in the socket's place",
        check: "socket-place",
        fix: "Move it away",
        is_mended: false,
        inject: |place| {
            let run = home(place).join("run");
            fs::create_dir_all(run.join("bailiwick.sock")).expect("made");
            mode(&run, 0o700);
            mode(&run.join("bailiwick.sock"), 0o700);
        },
    },
    // The programs.
    Fault {
        name: "no Git",
        check: "program",
        fix: "Install Git",
        is_mended: false,
        inject: |place| {
            change(place, |config| {
                let none = place.folder.path().join("none");
                fs::create_dir(&none).expect("made");
                config["scopes"][0]["capabilities"] = json!(["fs:read", "git:read"]);
                config["scopes"][0]["policy"] = json!({"searchPath": [none]});
            });
        },
    },
];

#[test]
fn every_fault_is_named_with_its_fix_and_nothing_else_is_said() {
    let usual = troubles(&doctor(&healthy(), &[]));
    // What tells of the machine that runs this test.
    assert!(usual.iter().all(|check| ["user", "disk", "temporary"].contains(&check.as_str())), "{usual:?}");
    let mended = FAULTS.iter().filter(|fault| fault.is_mended).count();
    assert!(FAULTS.len() >= 40 && mended >= 12, "{} faults, {mended} mended", FAULTS.len());
    for fault in FAULTS {
        let name = fault.name;
        let place = healthy();
        (fault.inject)(&place);
        let report = doctor(&place, &[]);
        let mut expected = usual.clone();
        expected.insert(fault.check.to_owned());
        assert_eq!(troubles(&report), expected, "{name}: {report:#}");
        let checks = report["checks"].as_array().expect("checks");
        let finding =
            checks.iter().find(|it| it["check"] == fault.check && it["standing"] != "ok").expect("named");
        let fix = finding["fix"].as_str().expect("a fix");
        assert!(!fix.is_empty() && fix.contains(fault.fix), "{name}: {fix}");
        assert_eq!(finding["repair"].is_object(), fault.is_mended, "{name}: {finding}");
    }
}

/// Everything below a folder: kind, mode and content, but not times.
fn picture(folder: &Path) -> BTreeSet<(PathBuf, u32, Vec<u8>)> {
    let mut seen = BTreeSet::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let (path, facts) = (entry.path(), entry.metadata().expect("facts"));
        // SQLite's own files come and go with readers.
        if path.to_string_lossy().contains("history.db-") {
            continue;
        }
        let content = if facts.is_file() { fs::read(&path).expect("read") } else { Vec::new() };
        if facts.is_dir() {
            seen.extend(picture(&path));
        }
        seen.insert((path, facts.permissions().mode(), content));
    }
    seen
}

#[test]
fn what_is_clear_is_mended_shown_before_and_can_be_taken_back() {
    let usual = troubles(&doctor(&healthy(), &[]));
    for fault in FAULTS {
        let name = fault.name;
        let place = healthy();
        (fault.inject)(&place);
        let broken = picture(&home(&place));
        let shown = doctor(&place, &["--fix", "--dry-run"]);
        assert_eq!(picture(&home(&place)), broken, "{name}: a dry run changed something");
        let mended = doctor(&place, &["--fix"]);
        if !fault.is_mended {
            assert_eq!(mended["repaired"], json!([]), "{name}");
            assert_eq!(picture(&home(&place)), broken, "{name}: something was changed that is not clear");
            continue;
        }
        let diff =
            shown["checks"].as_array().expect("checks").iter().find_map(|it| it["repair"]["diff"].as_str());
        assert!(diff.is_some_and(|diff| diff.lines().count() >= 2), "{name}: {shown:#}");
        assert_eq!(troubles(&mended), usual, "{name}: {mended:#}");
        assert!(mended["undo"].is_string(), "{name}");
        assert_eq!(place.run(&["status"]).exit, 0, "{name}: it does not work after the repair");
        assert_eq!(place.run(&["doctor", "--undo", "--json"]).exit, 0, "{name}");
        // A socket that nobody serves stays away; a file that was put back is new.
        let stays_well = ["a stale socket", "a file that a crash left"].contains(&name);
        let gone = |(path, ..): &(PathBuf, u32, Vec<u8>)| !path.ends_with("bailiwick.sock");
        let kept = |picture: BTreeSet<(PathBuf, u32, Vec<u8>)>| -> Vec<PathBuf> {
            let own = ["repairs", "history.db", "history.anchor"];
            let is_same = |path: &Path| !own.iter().any(|name| path.to_string_lossy().contains(name));
            picture
                .into_iter()
                .filter(gone)
                .filter(|(path, ..)| is_same(path))
                .map(|(path, ..)| path)
                .collect()
        };
        assert_eq!(kept(picture(&home(&place))), kept(broken), "{name}: it was not taken back");
        assert_eq!(troubles(&doctor(&place, &[])).contains(fault.check), !stays_well, "{name}");
    }
}

#[test]
fn several_faults_are_mended_in_one_run_and_taken_back_as_one() {
    let place = healthy();
    replace(&place, "{", "{ // my own");
    let text = fs::read_to_string(place.config()).expect("the config");
    mode(&tokens(&place), 0o644);
    mode(&home(&place).join("config"), 0o755);
    let mended = doctor(&place, &["--fix"]);
    assert_eq!(mended["repaired"].as_array().map(Vec::len), Some(3), "{mended:#}");
    assert_eq!(mended["ok"], true);
    let said = place.run(&["doctor", "--undo"]);
    assert!(said.out.contains("tokens.json") && said.out.contains("config.json"), "{}", said.out);
    assert_eq!(fs::read_to_string(place.config()).expect("the config"), text);
    let nothing = place.run(&["doctor", "--undo"]);
    assert_eq!(nothing.exit, 15, "{}", nothing.err);
    assert!(nothing.err.contains("no repair"), "{}", nothing.err);
}

#[test]
fn a_running_service_is_asked_and_one_that_hangs_is_named() {
    let place = healthy();
    let service = place.start();
    let report = doctor(&place, &[]);
    let says = |check: &str| -> Vec<String> {
        let checks = report["checks"].as_array().expect("checks").iter();
        checks.filter(|it| it["check"] == check).map(|it| it["says"].to_string()).collect()
    };
    assert!(says("service-answers")[0].contains(env!("CARGO_PKG_VERSION")), "{report:#}");
    assert!(says("http")[0].contains("/mcp answers"), "{report:#}");
    service.signal(rustix::process::Signal::STOP);
    let stopped = troubles(&doctor(&place, &[]));
    service.signal(rustix::process::Signal::CONT);
    assert!(stopped.contains("service-answers") && stopped.contains("http"), "{stopped:?}");
}

#[test]
fn a_port_that_another_program_has_is_named_with_a_free_one() {
    let place = healthy();
    let other = TcpListener::bind("127.0.0.1:0").expect("a port");
    change(&place, |config| config["port"] = json!(other.local_addr().expect("bound").port()));
    let report = doctor(&place, &[]);
    let finding =
        report["checks"].as_array().expect("checks").iter().find(|it| it["check"] == "port").expect("named");
    assert!(finding["fix"].as_str().expect("a fix").contains("which is free"), "{finding}");
}

#[test]
fn what_the_environment_does_to_it_is_named() {
    let place = healthy();
    let other = place.folder.path().join("bin");
    fs::create_dir(&other).expect("made");
    fs::write(other.join("bailiwick"), "#!/bin/sh\n").expect("written");
    mode(&other.join("bailiwick"), 0o755);
    for (variable, value, check) in [
        ("TMPDIR", place.folder.path().join("none"), "temporary"),
        ("PATH", other, "binary"),
        ("HOME", place.project(), "scope-home"),
    ] {
        let output =
            place.command(&["doctor", "--json"]).env(variable, value).output().expect("the binary runs");
        let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert!(troubles(&report).contains(check), "{variable}: {report:#}");
    }
}
