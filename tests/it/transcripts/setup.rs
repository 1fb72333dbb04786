//! `setup` and `here`: each question, each way to answer it, and nothing left behind by one that was not answered.

use std::fs;

use super::place::TranscriptFixture;
use super::transcript::{CTRL_C, CTRL_D, ENTER, Transcript};

const FOLDER: &str = "A folder, or `none`";
const PRESET: &str = "A number or a word";
const OPEN: &str = "Open it? [Y/n]";
const CHANGE: &str = "Change it? [Y/n]";
const CLIENTS: &str = "Connect which?";

/// Returns the user two clients.
fn with_clients() -> TranscriptFixture {
    let place = TranscriptFixture::new();
    for folder in [".cursor", ".gemini"] {
        fs::create_dir(place.path(folder)).expect("made");
    }
    place
}

#[test]
fn setup_asks_for_the_preset_and_a_yes_and_the_second_time_nothing() {
    let place = TranscriptFixture::new();
    let mut it = Transcript::begin(&place, "setup", "A folder is opened; Enter takes what is usual");
    assert_eq!(it.run(&["setup", "project"], &[(PRESET, ENTER), (OPEN, ENTER)]), 0);
    let before = place.files();
    it.note("A second time changes nothing, and says so");
    assert_eq!(it.run(&["setup", "project"], &[]), 0);
    assert_eq!(it.run(&["setup", "project", "--preset", "coding", "--yes"], &[]), 0);
    assert!(place.files() == before, "nothing was touched");
    it.note("Another preset says what it changes");
    assert_eq!(it.run(&["setup", "project", "--preset", "read-only"], &[(CHANGE, "n\r")]), 20);
    assert!(place.files() == before, "nothing was touched");
    assert_eq!(it.run(&["setup", "project", "--preset", "read-only"], &[(CHANGE, "yes\r")]), 0);
    assert_eq!(it.run(&["setup", "project", "--preset", "coding", "--yes"], &[]), 0);
    it.end();
    // But for the configs between, which are kept for `config undo`, and the clock by which they are.
    let mut after = place.files();
    after.retain(|(path, _)| {
        !path.components().any(|part| part.as_os_str() == "configs" || part.as_os_str() == "clock")
    });
    assert!(after == before, "it is as it was");
}

#[test]
fn setup_asks_for_the_folder_until_there_is_one() {
    let place = TranscriptFixture::new();
    let mut it =
        Transcript::begin(&place, "setup-folder", "Without a folder it is asked for, until it can be opened");
    let answers = [
        (FOLDER, ENTER),
        (FOLDER, "nowhere\r"),
        (FOLDER, "~\r"),
        (FOLDER, "/\r"),
        (FOLDER, "project/hello.txt\r"),
        (FOLDER, "~/project\r"),
        (PRESET, "4\r"),
        (PRESET, "codng\r"),
        (PRESET, "1\r"),
        (OPEN, "what\r"),
        (OPEN, "y\r"),
    ];
    assert_eq!(it.run(&["setup"], &answers), 0);
    it.end();
}

#[test]
fn setup_in_a_folder_offers_that_folder() {
    let place = TranscriptFixture::new();
    let mut it =
        Transcript::begin(&place, "setup-here", "In a project its folder is offered; `here` means it");
    it.in_folder("project");
    assert_eq!(it.run(&["setup"], &[(FOLDER, ENTER), (PRESET, "read-only\r"), (OPEN, ENTER)]), 0);
    assert_eq!(it.run(&["here", "--id", "other", "--name", "Other"], &[(PRESET, "2\r"), (OPEN, ENTER)]), 0);
    it.note("No folder at all");
    assert_eq!(it.run(&["setup"], &[(FOLDER, "none\r")]), 0);
    it.end();
}

#[test]
fn setup_connects_the_clients_that_are_chosen() {
    let place = with_clients();
    let mut it = Transcript::begin(&place, "setup-clients", "Clients that are there are offered, once");
    let answers = [(PRESET, ENTER), (OPEN, ENTER), (CLIENTS, "3\r"), (CLIENTS, "2\r")];
    assert_eq!(it.run(&["setup", "project"], &answers), 0);
    assert!(!place.path(".cursor/mcp.json").exists());
    assert!(fs::read_to_string(place.path(".gemini/settings.json")).expect("there").contains("bailiwick"));
    it.note("By a flag");
    assert_eq!(it.run(&["setup", "project", "--client", "cursor", "--yes"], &[]), 0);
    assert_eq!(it.run(&["setup", "project", "--client", "cursor", "--yes"], &[]), 0);
    it.end();
}

#[test]
fn a_question_without_an_answer_leaves_nothing_behind() {
    let place = with_clients();
    let before = place.files();
    let mut it = Transcript::begin(
        &place,
        "setup-ended",
        "Ctrl-C, Ctrl-D and a no, at each question: nothing is written, and the terminal has its mode",
    );
    let answers = [(FOLDER, "project\r"), (PRESET, ENTER), (OPEN, ENTER), (CLIENTS, "")];
    for (place_of_question, (question, _)) in answers.iter().enumerate() {
        for key in [CTRL_C, CTRL_D] {
            let mut terminal = it.start(&["setup"]);
            for (question, keys) in &answers[..place_of_question] {
                terminal.answer(question, keys);
            }
            terminal.answer(question, key);
            let (exit, printed) = terminal.ended();
            let printed = String::from_utf8_lossy(&printed);
            assert_eq!(exit, 20, "{question}: {printed}");
            assert!(printed.contains("nothing was set up, and nothing was written"), "{question}: {printed}");
            assert!(place.files() == before, "{question}: something was written");
        }
    }
    assert_eq!(it.run(&["setup"], &[(FOLDER, CTRL_C)]), 20);
    assert_eq!(it.run(&["setup", "project"], &[(PRESET, CTRL_D)]), 20);
    assert_eq!(it.run(&["setup", "project"], &[(PRESET, ENTER), (OPEN, "n\r")]), 20);
    assert_eq!(it.run(&["setup", "project"], &[(PRESET, ENTER), (OPEN, ENTER), (CLIENTS, CTRL_C)]), 20);
    it.end();
    assert!(place.files() == before, "something was written");
    assert!(!place.path(".config").exists());
}

#[test]
fn setup_works_on_forty_columns_and_on_a_terminal_that_can_do_nothing() {
    let place = with_clients();
    let mut it = Transcript::begin(&place, "setup-narrow", "A narrow terminal, and one that can do nothing");
    it.columns(40);
    let answers = [(PRESET, "2\r"), (OPEN, ENTER), (CLIENTS, "none\r")];
    assert_eq!(it.run(&["setup", "project"], &answers), 0);
    it.columns(80).with("TERM", "dumb").with("NO_COLOR", "1");
    let mut terminal = it.start(&["setup", "project", "--id", "second"]);
    for (question, keys) in [(PRESET, "read-only\r"), (OPEN, ENTER), (CLIENTS, "none\r")] {
        terminal.answer(question, keys);
    }
    assert!(!terminal.text().contains('\x1b'), "{}", terminal.text());
    assert_eq!(it.ended(&["setup", "project", "--id", "second"], terminal), 0);
    it.end();
}

#[test]
fn setup_refuses_what_would_open_too_much_and_says_what_to_do() {
    let place = TranscriptFixture::new();
    let before = place.files();
    let mut it = Transcript::begin(&place, "setup-refused", "What is not opened, and why");
    for folder in ["/", ".", "nowhere", "project/hello.txt"] {
        assert_ne!(it.run(&["setup", folder, "--yes"], &[]), 0);
    }
    assert_ne!(it.run(&["setup", ".", "--whole-home", "--yes"], &[]), 0);
    assert_ne!(it.run(&["setup", "project", "--id", "a b", "--yes"], &[]), 0);
    it.end();
    assert!(place.files() == before, "something was written");
}

#[test]
fn without_a_terminal_and_without_a_yes_the_flags_are_named() {
    let place = TranscriptFixture::new();
    let before = place.files();
    for words in [&["setup", "project"][..], &["setup"], &["setup", "project", "--json"]] {
        let ran = place.run(words);
        assert_eq!(ran.exit, 14, "{words:?}: {}{}", ran.out, ran.err);
        let said = format!("{}{}", ran.out, ran.err);
        for flag in ["--yes", "--preset read-only", "--id", "--client"] {
            assert!(said.contains(flag), "{flag}: {said}");
        }
    }
    assert!(place.files() == before, "something was written");
    // Where there is nothing to write there is nothing to say yes to.
    place.well(&["setup", "project", "--yes"]);
    assert!(place.well(&["setup", "project"]).out.contains("nothing to change"));
    let told = place.well(&["setup", "project", "--preset", "coding", "--json"]).json();
    assert_eq!(told["nothingToChange"], true, "{told}");
    assert_eq!(place.run(&["setup", "project", "--preset", "read-only"]).exit, 14);
    let told = place.well(&["setup", "project", "--preset", "read-only", "--yes", "--json"]).json();
    let expected = serde_json::json!([
        "- grants fs:write (create, change, move and delete files)",
        "- grants git:read (read the state and history of Git)",
        "- grants git:write (stage and commit)",
    ]);
    assert_eq!(told["difference"], expected, "{told}");
}
