//! A hint that names a command: at this terminal the command is run as it stands there, and the refused call succeeds.

use std::fs;

use bailiwick::contract::CommandInput;
use bailiwick::policy::command::recognise;

use crate::installation::{Installation, Ran};

/// Returns the words of every command that a text names in backquotes.
fn commands_in(text: &str) -> Vec<Vec<String>> {
    let quoted = text.split('`').filter(|part| part.starts_with("bailiwick "));
    let words = |line: &str| {
        let plan = recognise::plan(&CommandInput::Line(line.to_owned())).expect("a command line");
        plan.first.commands[0].argv[1..].to_vec()
    };
    quoted.map(words).collect()
}

fn run(place: &Installation, words: &[String]) -> Ran {
    place.run(&words.iter().map(String::as_str).collect::<Vec<_>>())
}

#[test]
fn the_command_that_a_hint_names_makes_the_refused_call_succeed() {
    let place = Installation::new();
    let project = place.folder.path().join("project");
    fs::create_dir_all(project.join(".ssh")).expect("made");
    fs::create_dir_all(project.join("private")).expect("made");
    for file in [".env", ".env.[x]", ".ssh/notes", "private/plan.md", "private/.env", "closed.md"] {
        fs::write(project.join(file), "text\n").expect("written");
    }
    assert_eq!(place.run(&["setup", "project", "--preset", "read-only", "--yes"]).exit, 0);
    let ask: &[&str] = &["scope", "allow", "project", "fs:write", "--ask"];
    let deny: &[&str] = &["scope", "deny", "project", "fs:write"];
    let close: &[&str] = &["scope", "deny", "project", "--files", "private/**", "--files", "closed.*"];
    for (first, call) in [
        // A sensitive file, one whose name looks like a glob, one in a sensitive folder, and files that the scope closes.
        (close, &["file.read", ".env"][..]),
        (&[], &["file.read", ".env.[x]"]),
        (&[], &["file.read", ".ssh/notes"]),
        (&[], &["file.read", "closed.md"]),
        (&[], &["file.read", "private/.env"]),
        (close, &["file.read", "private/plan.md"]),
        // A capability that is not granted, one that is set to `ask`, and one that is denied.
        (&[], &["file.create", "new.txt", "--content", "x"]),
        (ask, &["file.create", "newest.txt", "--content", "x"]),
        (deny, &["file.create", "newer.txt", "--content", "x"]),
        // Settings that name programs are closed for writing.
        (&[], &["file.create", ".vscode/tasks.json", "--create-parents", "--content", "{}"]),
    ] {
        if !first.is_empty() {
            assert_eq!(place.run(first).exit, 0, "{first:?}");
        }
        let words = [&["call"][..], call].concat();
        let refused = place.run(&words);
        assert_ne!(refused.exit, 0, "{call:?}: {}", refused.out);
        assert!(!refused.err.contains("For the user"), "{}", refused.err);
        let hints = refused.err.split("hint:").skip(1).collect::<String>();
        let named = commands_in(&hints);
        assert!(!named.is_empty(), "{call:?} names no command: {}", refused.err);
        for command in &named {
            let ran = run(&place, command);
            assert_eq!(ran.exit, 0, "{command:?}: {}", ran.err);
        }
        let allowed = place.run(&words);
        assert_eq!(allowed.exit, 0, "{call:?} after {named:?}: {}", allowed.err);
    }
    // A client is told whom the hint is for.
    assert_eq!(place.run(deny).exit, 0);
    let refused = place.run(&["call", "file.mkdir", "made", "--json"]).json();
    let hint = refused["error"]["hints"][0].as_str().expect("a hint");
    assert!(hint.starts_with("For the user: `bailiwick scope allow project fs:write`"), "{hint}");
}
