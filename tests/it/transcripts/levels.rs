//! What is said of commands and closed files where this computer has a full sandbox, a partial one, or none.

use super::place::TranscriptFixture;
use super::transcript::Transcript;
use crate::needs::{lacks_full_sandbox, require_program};

fn at(place: &TranscriptFixture, name: &'static str, shows: &str) -> String {
    let mut it = Transcript::begin(place, name, shows);
    for words in [
        &["setup", "project", "--preset", "full", "--yes"][..],
        &["status"],
        &["status", "--details"],
        &["scope", "show", "project"],
        &["doctor", "-v"],
    ] {
        it.run(words, &[]);
    }
    it.note("A scope that wants no sandbox");
    for words in [
        &["scope", "edit", "project", "--sandbox", "none", "--yes"][..],
        &["status"],
        &["scope", "show", "project"],
    ] {
        assert_eq!(it.run(words, &[]), 0, "{words:?}");
    }
    it.end();
    it.text().to_owned()
}

#[test]
fn with_a_full_sandbox_everything_runs_and_closed_files_are_closed_to_it() {
    if lacks_full_sandbox() {
        return;
    }
    let text = at(&TranscriptFixture::new(), "level-full", "A computer with a full sandbox");
    assert!(text.contains("to file operations and commands: .env files"), "{text}");
}

#[test]
fn with_a_partial_sandbox_rules_decide_and_programs_read_closed_files() {
    if lacks_full_sandbox() {
        return;
    }
    require_program("python3");
    let text =
        at(&TranscriptFixture::at_level("partial"), "level-partial", "A computer without user namespaces");
    let (alone, _) = text.split_once("\n## ").expect("both parts");
    assert!(alone.contains("programs that run here can read them"), "{text}");
    for promise in [
        "a loopback of their own",
        "any program and any text for bash, in a full sandbox: it has",
        "closed files are hidden",
    ] {
        assert!(!alone.contains(promise), "{promise}: {text}");
    }
}

#[test]
fn without_a_sandbox_no_command_runs_unless_the_scope_wants_none_and_every_screen_says_so() {
    require_program("python3");
    let place = TranscriptFixture::at_level("none");
    let text = at(&place, "level-none", "A computer without namespaces and without Landlock");
    let (alone, _) = text.split_once("\n## ").expect("both parts");
    assert_eq!(alone.matches("no command and no Git runs").count(), 3, "status twice, doctor once: {text}");
    for promise in [
        "a loopback of their own",
        "any program and any text for bash, in a full sandbox: it has",
        "the sandbox does",
    ] {
        assert!(!alone.contains(promise), "{promise}: {text}");
    }
    // And so it is.
    let ran = place.run(&["call", "command.run", "--command", "true"]);
    assert_eq!(ran.exit, 0, "the scope wants none by now: {}", ran.err);
    place.well(&["scope", "edit", "project", "--sandbox", "auto"]);
    let ran = place.run(&["call", "command.run", "--command", "true", "--json"]);
    assert_eq!(ran.json()["error"]["details"]["rule"], "sandbox-level", "{}", ran.out);
    place.well(&["call", "file.read", "hello.txt"]);
}
