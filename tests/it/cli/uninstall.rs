//! `uninstall` takes away what Bailiwick has put on a computer, and nothing of the user's own.

use std::fs;

use super::answers::holds;
use crate::installation::{CommandOutput, Installation};

#[test]
fn uninstall_lists_first_and_then_removes_only_what_bailiwick_made() {
    let place = Installation::set_up();
    let user = place.folder.path().join("user");
    fs::create_dir_all(&user).expect("made");
    let settings = place.folder.path().join("settings.json");
    fs::write(&settings, "{\"mcpServers\": {\"mine\": {\"command\": \"x\"}}}").expect("written");
    let before = fs::read(&settings).expect("readable");
    let run = |words: &[&str]| {
        CommandOutput::from(place.command(words).env("HOME", &user).output().expect("it runs"))
    };
    let named = settings.to_str().expect("UTF-8");
    let added = run(&["client", "add", "cursor", "--settings", named, "--yes"]);
    assert_eq!(added.exit, 0, "{}{}", added.out, added.err);
    assert_ne!(fs::read(&settings).expect("readable"), before);
    assert_eq!(run(&["call", "file.stat", "hello.txt"]).exit, 0);
    fs::write(place.config().with_file_name("notes.txt"), "mine").expect("written");
    let state = place.folder.path().join("home/state");

    let listed = run(&["uninstall", "--dry-run", "--json"]);
    assert_eq!(listed.exit, 0, "{}{}", listed.out, listed.err);
    holds("uninstall", &listed.json());
    assert_eq!(listed.json()["written"], false);
    assert_eq!(listed.json()["clients"][0], named);
    assert!(place.config().exists() && state.exists());
    // Without a terminal nobody can say yes.
    assert_eq!(run(&["uninstall"]).exit, 14);
    assert!(place.config().exists());

    let kept = run(&["uninstall", "--keep-data", "--yes"]);
    assert_eq!(kept.exit, 0, "{}{}", kept.out, kept.err);
    assert_eq!(fs::read(&settings).expect("readable"), before, "the settings are as they were, to the byte");
    assert!(place.config().exists() && state.exists());

    let removed = run(&["uninstall", "--yes", "--json"]);
    assert_eq!(removed.exit, 0, "{}{}", removed.out, removed.err);
    holds("uninstall", &removed.json());
    assert!(!place.config().exists() && !state.exists());
    assert_eq!(fs::read_to_string(place.config().with_file_name("notes.txt")).expect("readable"), "mine");
    assert!(place.project().join("hello.txt").exists() && settings.exists());
    assert!(run(&["uninstall", "--dry-run"]).out.contains("nothing"));
}
