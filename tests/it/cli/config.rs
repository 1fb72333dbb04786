//! `config …`: what is in force, what is wrong in it, and changing it in an editor.

use std::fs;

#[cfg(unix)]
use bailiwick::platform::fs::modes::PermissionsExt;
use bailiwick::platform::fs::modes::set_mode;
use serde_json::{Value, json};

#[cfg(unix)]
use crate::installation::CommandOutput;
use crate::installation::Installation;
use crate::system::{Need, lacks};

/// Runs `config edit` with an editor that is a script; `$1` is the copy.
#[cfg(unix)]
fn edit(place: &Installation, script: &str, words: &[&str]) -> CommandOutput {
    let editor = place.folder.path().join("editor");
    fs::write(&editor, format!("#!/bin/sh\n{script}\n")).expect("written");
    set_mode(&editor, 0o700).expect("own file");
    let mut command = place.command(&[&["config", "edit"], words].concat());
    command.env("EDITOR", &editor).env_remove("VISUAL").output().expect("the binary runs").into()
}

#[cfg(unix)]
fn copies(place: &Installation) -> Vec<String> {
    let folder = place.config().parent().expect("a folder").to_owned();
    let names = fs::read_dir(folder).expect("there").map(|it| it.expect("read").file_name().into_string());
    names.map(|name| name.expect("UTF-8")).filter(|name| name.starts_with("config.edit")).collect()
}

// Its mistakes are in paths of Unix.
#[cfg(unix)]
#[test]
fn every_mistake_is_named_with_its_place_and_the_smallest_change() {
    let place = Installation::set_up();
    let good = place.run(&["config", "validate"]);
    assert_eq!((good.exit, good.out.contains("would be accepted")), (0, true), "{}{}", good.out, good.err);
    let text = r#"{
  "machineId": "m", "machineName": "n",
  "port": "x",
  "colour": 1,
  "scopes": [
    {"id": "a", "roots": ["/none/of/it"], "capabilities": ["fs:raed"]},
    {"id": "b", "roots": ["/usr"], "policy": {"closedFiles": ["[z-a]"]}}
  ]
}
"#;
    let draft = place.folder.path().join("draft.json");
    fs::write(&draft, text).expect("written");
    let ran = place.run(&["config", "validate", "draft.json", "--json"]);
    assert_eq!(ran.exit, 1, "{}", ran.out);
    let found = ran.json();
    let at: Vec<(&Value, &Value, &str)> = found["problems"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|it| (&it["line"], &it["column"], it["field"].as_str().expect("text")))
        .collect();
    assert_eq!(
        at,
        [
            (&json!(3), &json!(3), "port"),
            (&json!(4), &json!(3), "colour"),
            (&json!(6), &json!(27), "scopes[0].roots[0]"),
            (&json!(6), &json!(60), "scopes[0].capabilities[0]"),
            (&json!(7), &json!(47), "scopes[1].policy.closedFiles"),
        ]
    );
    let shown = place.run(&["config", "validate", "draft.json"]);
    for said in [
        "draft.json:3:3: `port`:",
        "unknown field `colour`",
        "Correct the field's name, or remove it.",
        "5 mistakes",
    ] {
        assert!(shown.out.contains(said), "{said}: {}", shown.out);
    }
    assert!(
        found["problems"]
            .as_array()
            .expect("a list")
            .iter()
            .all(|it| it["fix"].as_str().is_some_and(|fix| !fix.is_empty()))
    );
    for (text, line) in [
        ("{\n  \"machineId\": }", 2),
        ("", 1),
        ("{\"machineId\":\"m\",\"machineName\":\"n\",\n\"machineId\":\"m\"}", 2),
    ] {
        fs::write(&draft, text).expect("written");
        let ran = place.run(&["config", "validate", "draft.json", "--json"]);
        assert_eq!(
            (ran.exit, ran.json()["problems"][0]["line"].clone()),
            (1, json!(line)),
            "{text}: {}",
            ran.out
        );
    }
    assert_eq!(place.run(&["config", "validate", "none.json"]).exit, 15);
    if lacks(Need::Modes) {
        return;
    }
    set_mode(&place.config(), 0o666).expect("own file");
    let open = place.run(&["config", "validate"]);
    assert!(open.exit == 1 && open.out.contains("chmod 600"), "{}", open.out);
}

#[test]
fn path_and_show_tell_what_is_in_force() {
    let place = Installation::set_up();
    let path = place.run(&["config", "path", "--json"]).json();
    assert_eq!((&path["chosenBy"], &path["config"]), (&json!("environment"), &json!(place.config())));
    let named = place.run(&["config", "path", "--config", "other.json", "--json"]).json();
    assert_eq!((&named["chosenBy"], &named["places"][0]["exists"]), (&json!("flag"), &json!(false)));
    let shown: Value = serde_json::from_str(&place.run(&["config", "show"]).out).expect("JSON");
    assert_eq!(shown["scopes"][0]["id"], "project");
    assert!(shown["scopes"][0]["policy"]["maxRuntimeSeconds"].is_null());
    let all: Value = serde_json::from_str(&place.run(&["config", "show", "--defaults"]).out).expect("JSON");
    assert_eq!(all["scopes"][0]["policy"]["maxRuntimeSeconds"], 3_600);
    assert_eq!(all["scopes"][0]["name"], "project");
}

// The editor is a script of the shell.
#[cfg(unix)]
#[test]
fn an_edit_is_checked_shown_and_only_then_written() {
    let place = Installation::set_up();
    let before = fs::read_to_string(place.config()).expect("there");
    set_mode(&place.config(), 0o640).expect("own file");

    let unchanged = edit(&place, "true", &["--yes"]);
    assert_eq!((unchanged.exit, unchanged.out.as_str()), (0, "Nothing was changed.\n"), "{}", unchanged.err);
    let written = edit(&place, "sed -i 's/3939/4949/' \"$1\"", &["--yes"]);
    assert_eq!(written.exit, 0, "{}", written.err);
    assert!(
        written.out.contains("-  \"port\": 3939") && written.out.contains("+  \"port\": 4949"),
        "{}",
        written.out
    );
    assert_eq!(fs::read_to_string(place.config()).expect("there"), before.replace("3939", "4949"));
    let mode = fs::metadata(place.config()).expect("there").permissions().mode() & 0o777;
    assert_eq!((mode, copies(&place)), (0o640, Vec::new()));

    let broken = edit(&place, "sed -i 's/4949/\"x\"/' \"$1\"", &["--yes", "--json"]);
    assert_eq!(broken.exit, 1, "{}", broken.out);
    let told = broken.json();
    assert_eq!(
        (&told["ok"], &told["written"], &told["problems"][0]["field"]),
        (&json!(false), &json!(false), &json!("port"))
    );
    let copy = told["copy"].as_str().expect("it is kept");
    assert!(fs::read_to_string(copy).expect("there").contains("\"port\": \"x\""));
    assert!(fs::read_to_string(place.config()).expect("there").contains("4949"), "the config is as it was");
    let mended = edit(&place, "sed -i 's/\"x\"/5959/' \"$1\"", &["--yes", "--from", copy]);
    assert_eq!(mended.exit, 0, "{}{}", mended.out, mended.err);
    assert!(fs::read_to_string(place.config()).expect("there").contains("5959"));
    assert_eq!(copies(&place), Vec::<String>::new());

    let meanwhile = format!("sed -i 's/5959/1/' \"$1\"; echo >> '{}'", place.config().display());
    let conflict = edit(&place, &meanwhile, &["--yes"]);
    assert_eq!(conflict.exit, 16, "{}", conflict.err);
    assert!(conflict.err.contains("config edit --from"), "{}", conflict.err);
    assert_eq!(copies(&place).len(), 1, "what was typed is not lost");

    assert_eq!(edit(&place, "true", &[]).exit, 14, "there is nobody to ask");
    assert_eq!(edit(&place, "exit 3", &["--yes"]).exit, 1);
    let none = place.command(&["config", "edit", "--yes"]).env_remove("EDITOR").env_remove("VISUAL").output();
    assert_eq!(CommandOutput::from(none.expect("the binary runs")).exit, 15);
}

#[test]
fn the_last_twenty_configs_are_kept_and_put_back_one_by_one() {
    let place = Installation::set_up();
    let config = || fs::read_to_string(place.config()).expect("the config");
    // Setting up replaced the first one, so what is kept by it is not counted on.
    let mut before = Vec::new();
    for at in 0..25 {
        before.push(config());
        let name = format!("name {at}");
        assert_eq!(place.run(&["scope", "edit", "project", "--name", &name]).exit, 0);
    }
    let last = config();
    let dry = place.run(&["config", "undo", "--dry-run"]);
    assert!(dry.exit == 0 && dry.out.contains("name 23"), "{}{}", dry.out, dry.err);
    assert_eq!(config(), last);
    for earlier in before.iter().rev().take(20) {
        let undone = place.run(&["config", "undo", "--yes", "--json"]).json();
        assert_eq!(undone["written"], true, "{undone:#}");
        assert_eq!(config(), *earlier);
    }
    let none = place.run(&["config", "undo", "--yes"]);
    assert_eq!(none.exit, 15, "{}", none.err);

    // A scope that was removed is there again, with all its rules.
    assert_eq!(place.run(&["scope", "edit", "project", "--commands"]).exit, 0);
    let with_rules = config();
    let dry = place.run(&["scope", "remove", "project", "--dry-run"]);
    assert!(dry.exit == 0 && dry.out.contains("- never runs rm -r /"), "{}{}", dry.out, dry.err);
    assert_eq!(config(), with_rules);
    let removed = place.run(&["scope", "remove", "project"]);
    assert!(removed.exit == 0 && removed.err.contains("`bailiwick config undo`"), "{}", removed.err);
    assert!(!config().contains("rm -r /"));
    assert_eq!(place.run(&["config", "undo", "--yes"]).exit, 0);
    assert_eq!(config(), with_rules);

    // One that would be refused now is not put back.
    assert_eq!(place.run(&["scope", "edit", "project", "--name", "other"]).exit, 0);
    let now = config();
    let kept = place.config().parent().and_then(|it| it.parent()).expect("a home").join("state/configs");
    let parts = fs::read_dir(kept).expect("kept").flatten().map(|it| it.path().join("config.json"));
    let newest = parts.filter(|it| it.exists()).max().expect("one");
    fs::write(&newest, "{").expect("written");
    let refused = place.run(&["config", "undo", "--yes"]);
    assert_eq!(refused.exit, 16, "{}", refused.err);
    assert_eq!(config(), now);
}
