//! The lists: what is open, who may come, what was done, what continues.

use std::fs;

use super::place::Place;
use super::transcript::Transcript;

#[test]
fn lists_fit_the_terminal() {
    let place = Place::set_up();
    let mut it = Transcript::begin(&place, "lists", "Lists, before and after there is something in them");
    for words in [&["history"][..], &["processes", "list"], &["approve"]] {
        assert_eq!(it.run(words, &[]), 0);
    }
    place.well(&["call", "file.read", "hello.txt"]);
    assert_ne!(place.run(&["call", "file.read", "../outside"]).exit, 0);
    place.well(&["call", "file.search", "--query", "hello"]);
    place.well(&["token", "create", "laptop", "--scope", "project"]);
    fs::create_dir(place.path(".cursor")).expect("made");
    it.note("With something in them");
    for words in [&["history"][..], &["scope", "list"], &["token", "list"], &["client", "list"], &["connect"]]
    {
        assert_eq!(it.run(words, &[]), 0);
    }
    it.columns(40);
    for words in [&["history"][..], &["scope", "list"], &["token", "list"]] {
        assert_eq!(it.run(words, &[]), 0);
    }
    it.end();
}

#[test]
fn a_scope_is_removed_when_it_was_said_so_and_can_be_put_back() {
    let place = Place::set_up();
    let mut it = Transcript::begin(&place, "undo", "A scope goes and comes back");
    assert_eq!(it.run(&["scope", "remove", "project"], &[("Close scope", "n\r")]), 0);
    assert_eq!(it.run(&["scope", "remove", "project"], &[("Close scope", "y\r")]), 0);
    assert_eq!(it.run(&["config", "undo"], &[("Write this?", "y\r")]), 0);
    assert_eq!(it.run(&["status"], &[]), 0);
    it.end();
}
