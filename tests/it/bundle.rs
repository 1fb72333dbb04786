//! `bundle`: made on an installation full of secrets, of which none may be found in it.

use std::fs;

use serde_json::{Value, json};

use crate::installation::Installation;
use crate::system::{Need, assert_private};

/// What must not be found: tokens, keys, contents, output, values of the environment.
const SECRETS: &[&str] = &[
    "ghp_0aB1cD2eF3gH4iJ5kL6mN7oP8qR9sT0uV1wX",
    "AKIAIOSFODNN7EXAMPLE",
    "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
    "xoxb-123456789012-123456789012-AbCdEfGhIjKlMnOpQrStUvWx",
    "hunter2-of-the-database",
    "value-of-the-environment-77",
    "content-of-a-file-4711",
    "printed-by-a-process-0815",
];

fn seeded() -> (Installation, String) {
    let place = Installation::new();
    assert_eq!(place.run(&["setup", "project", "--preset", "full", "--yes"]).exit, 0);
    let token = place.make_token("owner");
    let text = fs::read_to_string(place.config()).expect("the config");
    let mut config: Value = serde_json::from_str(&text).expect("JSON");
    config["scopes"][0]["policy"]["environment"] = json!({"HARMLESS_NAME": SECRETS[5]});
    fs::write(place.config(), config.to_string()).expect("written");
    fs::write(place.project().join("notes.txt"), SECRETS[6]).expect("written");
    let calls = [
        json!({"op": "file.read", "target": "notes.txt"}),
        json!({"op": "file.create", "target": "made.txt", "input": {"content": SECRETS[6]}}),
        json!({"op": "file.search", "input": {"query": SECRETS[0]}}),
        json!({"op": "file.read", "target": format!("{}.txt", SECRETS[3])}),
        json!({"op": "command.run", "input": {"command": ["git", "clone", format!("https://me:{}@127.0.0.1/x", SECRETS[4])]}}),
        json!({"op": "command.run", "input": {"command": ["make", format!("AWS_SECRET_ACCESS_KEY={}", SECRETS[2]), SECRETS[1]]}}),
        json!({"op": "process.start", "input": {"command": ["python3", "-c", format!("print('{}')", SECRETS[7])]}}),
    ];
    for call in calls {
        // Some of them are refused or fail, which is kept as well.
        place.run(&["call", &call.to_string(), "--json"]);
    }
    (place, token)
}

#[test]
fn a_bundle_of_an_installation_full_of_secrets_holds_none_of_them() {
    let (place, token) = seeded();
    let made = place.run(&["bundle", "--out", "help.zip", "--json"]);
    assert_eq!(made.exit, 0, "{}", made.err);
    let file = place.folder.path().join("help.zip");
    assert_private(&file, 0o600);
    let shown = place.run(&["bundle", "--inspect", "help.zip", "--json"]);
    assert_eq!(shown.exit, 0, "{}", shown.err);
    let files = &shown.json()["files"];
    for name in ["manifest", "versions", "config", "tokens", "doctor", "history", "processes", "service"] {
        assert!(files[format!("{name}.json")].is_object(), "{name}: {files:#}");
    }
    // It is not empty either: what was done is there.
    let operations = files["history.json"]["operations"].as_array().expect("operations");
    assert!(operations.len() >= 6, "{operations:#?}");
    if Need::Programs.is_there() {
        assert!(files["processes.json"].to_string().contains("python3"), "{:#}", files["processes.json"]);
    }
    assert_eq!(files["config.json"]["scopes"][0]["policy"]["environment"]["HARMLESS_NAME"], "[left out]");
    let text = files.to_string();
    let tokens = fs::read_to_string(place.config().with_file_name("tokens.json")).expect("the tokens");
    let tokens: Value = serde_json::from_str(&tokens).expect("JSON");
    let hash = tokens["tokens"][0]["hash"].as_str().expect("a hash");
    // The scheme of a process's program stays readable, its words do not.
    for secret in SECRETS.iter().copied().filter(|it| *it != SECRETS[7]).chain([token.as_str(), hash]) {
        assert!(!text.contains(secret), "{secret} is in it");
    }
    let printed = files
        .as_object()
        .expect("files")
        .iter()
        .filter(|(name, _)| *name != "processes.json" && *name != "history.json");
    for (name, content) in printed {
        assert!(!content.to_string().contains(SECRETS[7]), "{name}");
    }
    let home = place.folder.path().to_str().expect("UTF-8").to_owned();
    assert!(!text.contains(&home), "the home folder is written out");
}

#[test]
fn a_bundle_is_made_where_much_is_broken_and_says_so() {
    let place = Installation::set_up();
    fs::write(place.config(), format!("{{\"machineId\": \"{}\"", SECRETS[4])).expect("written");
    fs::write(place.config().with_file_name("tokens.json"), SECRETS[4]).expect("written");
    let made = place.run(&["bundle", "--out", "help.zip", "--json"]);
    assert_eq!(made.exit, 0, "{}", made.err);
    let files = place.run(&["bundle", "--inspect", "help.zip", "--json"]).json()["files"].take();
    assert_eq!(files["config.json"]["broken"], true);
    assert_eq!(files["tokens.json"]["broken"], true);
    assert!(!files.to_string().contains(SECRETS[4]));
}

#[test]
fn a_bundle_is_never_written_over_a_file_and_nothing_else_is_taken_for_one() {
    let place = Installation::set_up();
    fs::write(place.folder.path().join("mine.zip"), "mine").expect("written");
    let ran = place.run(&["bundle", "--out", "mine.zip"]);
    assert_eq!(ran.exit, 16, "{}", ran.err);
    assert_eq!(fs::read(place.folder.path().join("mine.zip")).expect("read"), b"mine");
    let ran = place.run(&["bundle", "--inspect", "mine.zip"]);
    assert_eq!(ran.exit, 2, "{}", ran.err);
    assert!(ran.err.contains("no bundle") && ran.err.contains("hint:"), "{}", ran.err);
    let ran = place.run(&["bundle", "--out", "none/help.zip"]);
    assert_eq!(ran.exit, 18, "{}", ran.err);
}
