//! What is said of mistakes: what stood in the way, and what to do.

use std::fs;

use super::place::TranscriptFixture;
use super::transcript::Transcript;

#[test]
fn typos_are_met_with_what_was_meant() {
    let place = TranscriptFixture::set_up();
    let mut it = Transcript::begin(&place, "typos", "Words that are nearly right");
    for words in [
        &["statsu"][..],
        &["setup", "project", "--presett", "coding"],
        &["setup", "project", "--preset", "codng"],
        &["scope", "lst"],
        &["serve", "--prot", "4000"],
        &["call", "file.raed", "hello.txt"],
        &["call", "file.read", "hello.txt", "--start-lien", "1"],
    ] {
        assert_ne!(it.run(words, &[]), 0, "{words:?}");
    }
    it.end();
}

#[test]
fn errors_say_what_stood_in_the_way_and_what_to_do() {
    let place = TranscriptFixture::set_up();
    let mut it = Transcript::begin(&place, "errors", "What goes wrong, and what to do about it");
    for words in [
        &["scope", "add", "nowhere"][..],
        &["call", "file.read", "missing.txt"],
        &["call", "file.read", "../outside"],
        &["call", "command.run", "--command", "ls"],
        &["serve", "--host", "0.0.0.0", "--port", "none"],
        &["ps", "logs", "p-none"],
    ] {
        assert_ne!(it.run(words, &[]), 0, "{words:?}");
    }
    it.note("A config with a mistake");
    let good = fs::read_to_string(place.config()).expect("the config");
    fs::write(place.config(), good.replace("\"fs:read\"", "\"fs:raed\"")).expect("written");
    for words in [&["status"][..], &["serve"], &["setup", "project"], &["log"]] {
        it.run(words, &[]);
    }
    it.end();
}
