//! What is injected into the settings of clients, and into what scopes may see of the screens.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};
use support::installation::Installation;
use support::ports::reserve_port;

use super::{Fault, change, home, mode};

/// The settings of Cursor: where they are written.
pub fn settings(place: &Installation) -> PathBuf {
    place.folder.path().join(".cursor/mcp.json")
}

/// Writes an entry for Bailiwick into the settings of Cursor.
pub fn connect(place: &Installation, entry: &Value) {
    fs::create_dir_all(place.folder.path().join(".cursor")).expect("made");
    let text = json!({"mcpServers": {"bailiwick": entry}}).to_string();
    fs::write(settings(place), text).expect("written");
}

/// An entry that starts this Bailiwick.
pub fn entry(place: &Installation) -> Value {
    json!({
        "command": env!("CARGO_BIN_EXE_bailiwick"),
        "args": ["mcp"],
        "env": {"BAILIWICK_HOME": home(place)},
    })
}

fn connect_otherwise(place: &Installation, change: impl FnOnce(&mut Value)) {
    let mut entry = entry(place);
    change(&mut entry);
    connect(place, &entry);
}

pub const CLIENT_FAULTS: &[Fault] = &[
    Fault {
        name: "a client whose program is gone",
        check: "client-program",
        fix: "bailiwick client add cursor",
        is_mended: false,
        inject: |place| connect_otherwise(place, |entry| entry["command"] = json!("/none/bailiwick")),
    },
    Fault {
        name: "a client whose program is on no path",
        check: "client-program",
        fix: "bailiwick client add cursor",
        is_mended: false,
        inject: |place| connect_otherwise(place, |entry| entry["command"] = json!("bailiwick.exe")),
    },
    Fault {
        name: "a client that starts another version",
        check: "client-version",
        fix: "bailiwick client add cursor",
        is_mended: false,
        inject: |place| {
            let folder = place.folder.path().join("old");
            fs::create_dir(&folder).expect("made");
            let program = folder.join("bailiwick");
            fs::write(&program, "#!/bin/sh\necho bailiwick 0.0.1\n").expect("written");
            mode(&program, 0o755);
            connect_otherwise(place, |entry| entry["command"] = json!(program));
        },
    },
    Fault {
        name: "a client that uses another home",
        check: "client-home",
        fix: "bailiwick client add cursor",
        is_mended: false,
        inject: |place| {
            connect_otherwise(place, |entry| entry["env"]["BAILIWICK_HOME"] = json!("/none/home"));
        },
    },
    Fault {
        name: "a client that uses another config",
        check: "client-home",
        fix: "bailiwick client add cursor",
        is_mended: false,
        inject: |place| {
            connect_otherwise(place, |entry| entry["args"] = json!(["mcp", "--config", "/none/config.json"]));
        },
    },
    Fault {
        name: "a client whose token is gone",
        check: "client-token",
        fix: "bailiwick token create",
        is_mended: false,
        inject: |place| {
            connect_otherwise(place, |entry| entry["args"] = json!(["mcp", "--caller", "gone"]));
        },
    },
    Fault {
        name: "a client that connects elsewhere",
        check: "client-url",
        fix: "bailiwick client add cursor",
        is_mended: false,
        inject: |place| {
            // Put there by `client add`, so that it is known to be Bailiwick's; then the port changes.
            let installed = place.run(&["client", "install", "cursor", "--http", "--yes"]);
            assert_eq!(installed.exit, 0, "{}", installed.err);
            change(place, |config| config["port"] = json!(reserve_port()));
        },
    },
    Fault {
        name: "a client that connects without a token",
        check: "client-token",
        fix: "bailiwick client add cursor",
        is_mended: false,
        inject: |place| {
            let config: Value =
                serde_json::from_str(&fs::read_to_string(place.config()).expect("the config")).expect("JSON");
            connect(place, &json!({"url": format!("http://127.0.0.1:{}/mcp", config["port"])}));
        },
    },
    Fault {
        name: "settings of a client that do not parse",
        check: "client-settings",
        fix: "",
        is_mended: false,
        inject: |place| {
            connect(place, &entry(place));
            fs::write(settings(place), "{\"mcpServers\": {").expect("written");
        },
    },
    Fault {
        name: "pictures of nothing",
        check: "screen-rules",
        fix: "bailiwick scope edit screen --screen",
        is_mended: false,
        inject: |place| {
            change(place, |config| {
                let screen = json!({"id": "screen", "type": "computer", "capabilities": ["screen:capture"]});
                config["scopes"].as_array_mut().expect("a list").push(screen);
            });
        },
    },
];
