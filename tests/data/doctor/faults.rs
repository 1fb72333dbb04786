//! What is injected into a healthy installation, one by one.

use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::time::{Duration, SystemTime};

use serde_json::json;
use support::installation::Installation;

use super::client_faults::CLIENT_FAULTS;
use super::{Fault, change, change_tokens, home, in_days, mode, replace, tokens};

/// Returns all of them.
pub fn faults() -> impl Iterator<Item = &'static Fault> {
    FAULTS.iter().chain(CLIENT_FAULTS)
}

fn grants_ground(place: &Installation, capabilities: &[&str]) {
    change(place, |config| {
        let all = config["scopes"][0]["capabilities"].as_array_mut().expect("a list");
        all.extend(capabilities.iter().map(|it| json!(it)));
    });
}

fn sets_key(place: &Installation, file: &Path) {
    let model = json!({"kind": "ollama", "baseUrl": "http://127.0.0.1:1", "model": "m", "keyFile": file});
    change(place, |config| config["visionModel"] = model);
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
        fix: "Did you mean `fs:read`?",
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
        name: "a name of a tunnel that is none",
        check: "http-hosts",
        fix: "Write the name alone",
        is_mended: false,
        inject: |place| {
            change(place, |config| config["http"] = json!({"allowedHosts": ["https://bw.example"]}));
        },
    },
    Fault {
        name: "an origin that no browser says",
        check: "http-origins",
        fix: "scheme and name",
        is_mended: false,
        inject: |place| {
            change(place, |config| config["http"] = json!({"allowedOrigins": ["app.example/x"]}));
        },
    },
    Fault {
        name: "a public URL that leads nowhere",
        check: "public-url",
        fix: "Start the tunnel or proxy",
        is_mended: false,
        inject: |place| {
            change(place, |config| config["http"] = json!({"publicBaseUrl": "https://127.0.0.1:1"}));
        },
    },
    Fault {
        name: "a tunnel that lets everybody in",
        check: "tunnel-no-token",
        fix: "to false",
        is_mended: false,
        inject: |place| {
            change(place, |config| {
                config["http"] = json!({"allowedHosts": ["bw.example"], "allowLoopbackWithoutToken": true});
            });
        },
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
        name: "a copy that was cut off",
        check: "unfinished",
        fix: "the next change in that folder",
        is_mended: false,
        inject: |place| {
            let names = home(place).join("state/locks/names");
            fs::create_dir_all(&names).expect("made");
            mode(&home(place).join("state/locks"), 0o700);
            mode(&names, 0o700);
            let lock = names.join("01JD0000000000000000000000");
            fs::write(&lock, "app/copy").expect("written");
            mode(&lock, 0o600);
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
        name: "a write that was cut off",
        check: "half-written",
        fix: "the next change in that folder",
        is_mended: false,
        inject: |place| {
            fs::create_dir(place.project().join("deep")).expect("made");
            fs::write(place.project().join("deep/.bailiwick-01JD0000000000000000000000.tmp"), "half")
                .expect("written");
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
        fix: "bailiwick scope edit project --commands",
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
        name: "secrets for commands without handles",
        check: "commands-secrets",
        fix: "--secrets handles",
        is_mended: false,
        inject: |place| {
            change(place, |config| {
                config["scopes"][0]["capabilities"] = json!(["command:run"]);
                config["scopes"][0]["policy"] =
                    json!({"allowedCommands": ["make *"], "secretCommands": "allow"});
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
        name: "pictures for a model that is not configured",
        check: "vision-model",
        fix: "`visionModel`",
        is_mended: false,
        inject: |place| grants_ground(place, &["screen:capture", "screen:ground"]),
    },
    Fault {
        name: "pictures for a model that may not be taken",
        check: "vision-model-rights",
        fix: "bailiwick scope allow project screen:capture",
        is_mended: false,
        inject: |place| {
            grants_ground(place, &["screen:ground"]);
            let model = json!({"kind": "ollama", "baseUrl": "http://127.0.0.1:1", "model": "m"});
            change(place, |config| config["visionModel"] = model);
        },
    },
    Fault {
        name: "a key of a model that is not there",
        check: "vision-model",
        fix: "none.key",
        is_mended: false,
        inject: |place| sets_key(place, &home(place).join("none.key")),
    },
    Fault {
        name: "a key of a model that others can read",
        check: "vision-model",
        fix: "only you can read",
        is_mended: false,
        inject: |place| {
            let file = home(place).join("model.key");
            fs::write(&file, "key").expect("written");
            mode(&file, 0o644);
            sets_key(place, &file);
        },
    },
    Fault {
        name: "a key of a model in the folder of a scope",
        check: "vision-model",
        fix: "outside of all scopes",
        is_mended: false,
        inject: |place| {
            let file = place.project().join("model.key");
            fs::write(&file, "key").expect("written");
            mode(&file, 0o600);
            sets_key(place, &file);
        },
    },
    Fault {
        name: "a folder of programs that is gone",
        check: "commands-folder",
        fix: "bailiwick scope edit project --remove-rule",
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
        name: "a store of a newer version",
        check: "history-writing",
        fix: "Update Bailiwick",
        is_mended: false,
        inject: |place| {
            // The number of the schema is at this place of the file's header; what the log holds would hide it.
            let path = home(place).join("state/history.db");
            let mut bytes = fs::read(&path).expect("read");
            bytes[60..64].copy_from_slice(&99_u32.to_be_bytes());
            let _ = fs::remove_file(home(place).join("state/history.db-wal"));
            let _ = fs::remove_file(home(place).join("state/history.db-shm"));
            fs::write(&path, bytes).expect("written");
        },
    },
    Fault {
        name: "a store that was set aside",
        check: "history-aside",
        fix: "when you do not need it",
        is_mended: false,
        inject: |place| {
            let part = home(place).join("state/set-aside/0000000001.0");
            fs::create_dir_all(&part).expect("made");
            fs::write(part.join("history.db.damaged-1"), "torn").expect("written");
            mode(part.parent().expect("above it"), 0o700);
            mode(&part, 0o700);
        },
    },
    Fault {
        name: "a kept change that is damaged",
        check: "undo",
        fix: "All other changes can be taken back",
        is_mended: false,
        inject: |place| {
            change(place, |config| {
                let capabilities = config["scopes"][0]["capabilities"].as_array_mut().expect("a list");
                capabilities.push(json!("fs:write"));
            });
            for content in ["one", "two"] {
                let input = json!({"content": content}).to_string();
                let words = ["call", "file.write", "--target", "kept.txt", "--input", &input, "--json"];
                assert_eq!(place.run(&words).exit, 0);
            }
            let parts = fs::read_dir(home(place).join("state/versions/changes")).expect("made").flatten();
            let logs = parts.filter_map(|part| fs::read_dir(part.path().join("log")).ok());
            let newest = logs.flatten().flatten().map(|entry| entry.path()).max().expect("it is kept");
            let text = fs::read(&newest).expect("read");
            fs::write(&newest, &text[..text.len() - 1]).expect("written");
        },
    },
    Fault {
        name: "an anchor that cannot be read",
        check: "history",
        fix: "Check the disk",
        is_mended: false,
        inject: |place| {
            let path = home(place).join("state/history.anchor");
            let _ = fs::remove_file(&path);
            fs::create_dir(&path).expect("made");
            mode(&path, 0o700);
        },
    },
    Fault {
        name: "a store that was taken away",
        check: "history",
        fix: "log verify",
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
