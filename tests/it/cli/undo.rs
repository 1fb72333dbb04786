//! `undo`: what clients changed in files comes back, and the history shows what can.

use std::fs;

use serde_json::{Value, json};

use super::answers::holds;
use crate::installation::{CommandOutput, Installation};

/// With the project open for changes, and a client `laptop`.
fn place() -> Installation {
    let place = Installation::new();
    for words in [
        &["setup", "project", "--preset", "coding", "--yes", "--json"][..],
        &["token", "create", "laptop", "--json"],
    ] {
        let ran = place.run(words);
        assert_eq!(ran.exit, 0, "{}", ran.err);
    }
    place
}

fn done(place: &Installation, words: &[&str]) -> CommandOutput {
    let ran = place.run(words);
    assert_eq!(ran.exit, 0, "{words:?}: {}{}", ran.out, ran.err);
    ran
}

/// Writes a file as the owner, or as the client.
fn write(place: &Installation, path: &str, content: &str, by_client: bool) -> String {
    let mut words = vec!["call", "file.write", path, "--content", content, "--overwrite", "--json"];
    if by_client {
        words.extend(["--caller", "laptop"]);
    }
    done(place, &words).json()["operationId"].as_str().expect("an id").to_owned()
}

fn file(place: &Installation, path: &str) -> Option<String> {
    fs::read_to_string(place.project().join(path)).ok()
}

/// The state of each row of the log that changed something, by its id.
fn state(place: &Installation, id: &str) -> Value {
    let listed = done(place, &["log", "--json", "-n", "100"]).json();
    holds("log", &listed);
    let rows = listed["operations"].as_array().expect("rows");
    rows.iter().find(|row| row["operationId"] == id).expect("its row")["undo"].clone()
}

#[test]
fn the_owner_takes_back_what_any_client_changed_with_and_without_a_service() {
    let place = place();
    for is_served in [false, true] {
        let service = is_served.then(|| place.start());
        let first = write(&place, "a.txt", "one\n", false);
        let second = write(&place, "b.txt", "two\n", true);

        let dry = done(&place, &["undo", "--dry-run"]);
        assert!(dry.out.contains("laptop") && dry.out.contains("removed  b.txt"), "{}", dry.out);
        assert!(dry.out.contains("-two"), "{}", dry.out);
        assert_eq!(file(&place, "b.txt").as_deref(), Some("two\n"));
        assert_eq!(state(&place, &second)["state"], "possible");
        assert!(state(&place, &second)["until"].is_string());

        // The newest, and then the one before it.
        let undone = done(&place, &["undo", "--yes", "--json"]).json();
        holds("undo", &undone);
        assert_eq!(
            (&undone["written"], &undone["changes"][0]["caller"], &undone["changes"][0]["operationId"]),
            (&json!(true), &json!("laptop"), &json!(second))
        );
        assert_eq!((file(&place, "b.txt"), file(&place, "a.txt").as_deref()), (None, Some("one\n")));
        let before = done(&place, &["undo", "--yes"]);
        assert!(before.out.ends_with("Took back 1 change: 1 file.\n"), "{}", before.out);
        assert_eq!(file(&place, "a.txt"), None);

        // What was taken back is not taken back twice, but again by its own id.
        let undo = undone["operationId"].as_str().expect("an id").to_owned();
        assert_eq!(state(&place, &second), json!({"state": "takenBack", "by": undo}));
        let twice = place.run(&["undo", &second, "--yes"]);
        assert_eq!(twice.exit, 16, "{}{}", twice.out, twice.err);
        assert!(twice.err.contains(&format!("`bailiwick undo {}`", &undo[20..])), "{}", twice.err);
        done(&place, &["undo", &undo[20..], "--yes"]);
        assert_eq!(file(&place, "b.txt").as_deref(), Some("two\n"));
        assert_eq!(state(&place, &second)["state"], "possible");
        assert_eq!(state(&place, &undo)["state"], "takenBack");
        done(&place, &["undo", &second, "--yes"]);
        assert_eq!((file(&place, "a.txt"), file(&place, "b.txt")), (None, None));
        assert_eq!(state(&place, &first)["state"], "takenBack");
        let none = place.run(&["undo", "--yes"]);
        assert_eq!(none.exit, 15, "{}{}", none.out, none.err);
        drop(service);
    }
}

#[test]
fn all_that_was_changed_since_a_time_comes_back_whoever_changed_it() {
    let place = place();
    write(&place, "a.txt", "one\n", false);
    write(&place, "a.txt", "two\n", true);
    done(&place, &["call", "file.move", "hello.txt", "--to", "moved.txt", "--caller", "laptop"]);
    done(&place, &["call", "file.mkdir", "empty"]);
    let dry = done(&place, &["undo", "--since", "1h", "--dry-run"]);
    assert!(dry.out.contains("moved back") && dry.out.contains("hello.txt (now moved.txt)"), "{}", dry.out);
    let undone = done(&place, &["undo", "--since", "1h", "--yes", "--json"]).json();
    assert_eq!(file(&place, "hello.txt").as_deref(), Some("hello\n"), "{undone:#}");
    assert_eq!((file(&place, "a.txt"), file(&place, "moved.txt")), (None, None));
    // Again: the whole time is taken back, also the undo, and so everything stays.
    let again = done(&place, &["undo", "--since", "1h", "--dry-run", "--json"]).json();
    holds("undo", &again);
    assert_eq!(again["written"], false);

    // Of several scopes one is chosen.
    fs::create_dir(place.folder.path().join("lib")).expect("made");
    done(&place, &["scope", "add", "lib", "--preset", "coding"]);
    done(&place, &["call", "file.write", "c.txt", "--content", "three\n", "--scope", "lib"]);
    let several = place.run(&["undo", "--since", "1h", "--yes"]);
    assert_eq!(several.exit, 2, "{}{}", several.out, several.err);
    assert!(several.err.contains("--scope lib"), "{}", several.err);
    done(&place, &["undo", "--since", "1h", "--scope", "lib", "--yes"]);
    assert!(!place.folder.path().join("lib/c.txt").exists());
    for (words, exit) in [
        (&["undo", "--since", "yesterday"][..], 2),
        (&["undo", "01JD0000000000000000000000"], 15),
        (&["undo", "x y"], 2),
        (&["undo", "--since", "0s", "--yes"], 15),
    ] {
        let ran = place.run(words);
        assert_eq!(ran.exit, exit, "{words:?}: {}{}", ran.out, ran.err);
    }
}

#[test]
fn what_was_changed_again_is_named_and_stays() {
    let place = place();
    let steps = json!([
        {"op": "file.write", "target": "a.txt", "input": {"content": "one\n"}},
        {"op": "file.write", "target": "b.txt", "input": {"content": "two\n"}},
        {"op": "file.write", "target": "c.txt", "input": {"content": "three\n"}},
    ]);
    let batch = done(&place, &["call", "batch.run", "--steps", &steps.to_string(), "--json"]).json();
    let batch = batch["operationId"].as_str().expect("an id").to_owned();
    for name in ["a.txt", "c.txt"] {
        fs::write(place.project().join(name), "mine\n").expect("written");
    }
    for words in [&["undo", "--yes"][..], &["undo", "--dry-run"], &["undo", &batch, "--yes"]] {
        let refused = place.run(words);
        assert_eq!(refused.exit, 16, "{words:?}: {}{}", refused.out, refused.err);
        for shown in ["  a.txt\n", "  c.txt\n", "-mine", "and 1 more file"] {
            assert!(refused.err.contains(shown), "{shown}: {}", refused.err);
        }
        assert!(!refused.err.contains("  b.txt\n"), "{}", refused.err);
    }
    let told = place.run(&["undo", "--yes", "--json"]).json();
    holds("failure", &told);
    let conflicts = &told["error"]["details"]["conflicts"];
    assert_eq!(
        (&conflicts[0]["path"], &conflicts[1]["path"]),
        (&json!("c.txt"), &json!("a.txt")),
        "{told:#}"
    );
    assert_eq!(file(&place, "b.txt").as_deref(), Some("two\n"));
    for (name, content) in [("a.txt", "one\n"), ("c.txt", "three\n")] {
        fs::write(place.project().join(name), content).expect("written");
    }
    // The newest change is the whole batch.
    let undone = done(&place, &["undo", "--yes"]);
    assert!(undone.out.ends_with("Took back 3 changes: 3 files.\n"), "{}", undone.out);
    assert_eq!(state(&place, &batch)["state"], "takenBack");
}

#[test]
fn the_log_shows_what_can_be_taken_back_and_why_not() {
    let place = place();
    let written = write(&place, "a.txt", "one\n", false);
    done(&place, &["call", "file.read", "a.txt"]);
    let read = done(&place, &["log", "last", "--json"]).json();
    assert!(read["operation"]["undo"].is_null(), "{read:#}");
    let shown = done(&place, &["log"]);
    let row = shown.out.lines().find(|line| line.contains("file.write")).expect("its row");
    assert!(shown.out.lines().next().expect("headings").contains("UNDO") && row.contains(" 29 d "), "{row}");
    let show = done(&place, &["log", "show", &written]);
    assert!(show.out.contains(&format!("`bailiwick undo {}`, until ", &written[20..])), "{}", show.out);

    // A dry run has changed nothing, and its row says so.
    done(&place, &["call", "file.delete", "a.txt", "--dry-run"]);
    let dry = done(&place, &["log", "last", "--json"]).json();
    assert!(dry["operation"]["undo"].is_null(), "{dry:#}");
    let row = done(&place, &["log", "-n", "1"]);
    assert!(row.out.contains("dry run"), "{}", row.out);

    // What was done without undo is reported as that, and so is what is in a scope that was closed since.
    let words = ["call", "file.delete", "a.txt", "--without-undo", "--json"];
    let gone = done(&place, &words).json();
    let gone = gone["operationId"].as_str().expect("an id");
    assert_eq!(state(&place, gone)["state"], "nothingKept");
    let refused = place.run(&["undo", gone, "--yes"]);
    assert!(refused.exit == 15 && refused.err.contains("went without undo"), "{}", refused.err);
    done(&place, &["scope", "remove", "project", "--yes"]);
    assert_eq!(state(&place, &written)["state"], "outOfReach");
    assert_eq!(place.run(&["undo", "--yes"]).exit, 15);
}
