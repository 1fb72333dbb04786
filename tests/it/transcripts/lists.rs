//! The lists: what is open, who may come, what was done, what continues.

use std::fs;

use super::place::TranscriptFixture;
use super::transcript::{CTRL_C, Transcript};
use crate::needs::lacks_full_sandbox;

#[test]
fn lists_fit_the_terminal() {
    let place = TranscriptFixture::set_up();
    let mut it = Transcript::begin(&place, "lists", "Lists, before and after there is something in them");
    for words in [&["log"][..], &["ps"], &["approve"]] {
        assert_eq!(it.run(words, &[]), 0);
    }
    place.well(&["call", "file.read", "hello.txt"]);
    assert_ne!(place.run(&["call", "file.read", "../outside"]).exit, 0);
    place.well(&["call", "file.search", "--query", "hello"]);
    place.well(&["token", "create", "laptop", "--scope", "project"]);
    fs::create_dir(place.path(".cursor")).expect("made");
    it.note("With something in them");
    for words in
        [&["log"][..], &["scope", "list"], &["token", "list"], &["client", "list"], &["client", "connect"]]
    {
        assert_eq!(it.run(words, &[]), 0);
    }
    it.columns(40);
    for words in [&["log"][..], &["scope", "list"], &["token", "list"]] {
        assert_eq!(it.run(words, &[]), 0);
    }
    it.end();
}

#[test]
fn what_a_change_of_a_scope_opens_is_shown_and_asked_about() {
    if lacks_full_sandbox() {
        return;
    }
    let place = TranscriptFixture::set_up();
    fs::create_dir(place.path("second")).expect("made");
    let config = || fs::read(place.config()).expect("there");
    let before = config();
    let mut it = Transcript::begin(&place, "scope", "What a change of a scope opens is asked about");
    assert_eq!(it.run(&["scope", "add", "second"], &[("Open it?", "n\r")]), 0);
    assert_eq!(it.run(&["scope", "add-screen", "screen"], &[("Add it?", "n\r")]), 0);
    assert_eq!(it.run(&["scope", "add-desktop", "desk", "--control"], &[("Add it?", "n\r")]), 0);
    assert_eq!(it.run(&["scope", "edit", "project", "--preset", "full"], &[("Change it?", "n\r")]), 0);
    assert_eq!(it.run(&["scope", "allow", "project", "command:run"], &[("Allow it?", "n\r")]), 0);
    assert_ne!(it.run(&["scope", "edit", "project", "--network", "full"], &[("Change it?", CTRL_C)]), 0);
    assert_eq!(it.run(&["scope", "edit", "project", "--network", "full", "--dry-run"], &[]), 0);
    assert!(config() == before, "something was written");
    it.note("Nothing to ask: what only takes away, what changes nothing, and what was said with --yes");
    assert_eq!(it.run(&["scope", "deny", "project", "git:write"], &[]), 0);
    assert_eq!(it.run(&["scope", "deny", "project", "git:write"], &[]), 0);
    assert_eq!(it.run(&["scope", "allow", "project", "fs:write"], &[]), 0);
    assert_eq!(it.run(&["scope", "edit", "project", "--network", "full", "--yes"], &[]), 0);
    it.note("What was shown is what is written");
    assert_eq!(it.run(&["scope", "add", "second"], &[("Open it?", "y\r")]), 0);
    let words = ["scope", "edit", "project", "--network", "none"];
    let mut terminal = it.start(&words);
    terminal.until("Change it?");
    place.well(&["scope", "deny", "project", "fs:write"]);
    let meanwhile = config();
    terminal.press("y\r");
    assert_eq!(it.ended(&words, terminal), 16);
    assert!(config() == meanwhile, "what nobody was asked about was written");
    it.end();
}

#[test]
fn a_scope_is_removed_when_it_was_said_so_and_can_be_put_back() {
    let place = TranscriptFixture::set_up();
    let mut it = Transcript::begin(&place, "undo", "A scope goes and comes back");
    assert_eq!(it.run(&["scope", "remove", "project"], &[("Close scope", "n\r")]), 0);
    assert_eq!(it.run(&["scope", "remove", "project"], &[("Close scope", "y\r")]), 0);
    assert_eq!(it.run(&["config", "undo"], &[("Write this?", "y\r")]), 0);
    assert_eq!(it.run(&["status"], &[]), 0);
    it.end();
}
