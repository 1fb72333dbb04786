//! The help of every command: it fits a screen, and its examples run.

use std::fs;
use std::io::{BufRead, BufReader};

use bailiwick::contract::id::new_id;
use serde_json::json;

use crate::installation::{CommandOutput, Installation};

/// Rows of a terminal of 80 columns that the help of one command may take.
const MAX_ROWS: usize = 40;

/// Every command of the definition with its words, without the program; groups too.
pub fn commands() -> Vec<Vec<String>> {
    fn below(command: &clap::Command, words: &[String], all: &mut Vec<Vec<String>>) {
        for inner in command.get_subcommands().filter(|it| it.get_name() != "help") {
            let words = [words, &[inner.get_name().to_owned()]].concat();
            all.push(words.clone());
            below(inner, &words, all);
        }
    }
    let mut all = Vec::new();
    below(&bailiwick::adapters::cli::definition(), &[], &mut all);
    all
}

fn help(place: &Installation, words: &[String]) -> CommandOutput {
    let words: Vec<&str> = words.iter().map(String::as_str).chain(["--help"]).collect();
    let ran = place.run(&words);
    assert_eq!((ran.exit, ran.err.as_str()), (0, ""), "{words:?}");
    ran
}

#[test]
fn the_help_of_every_command_fits_a_screen() {
    let place = Installation::new();
    let mut problems = Vec::new();
    for words in commands().iter().chain([&Vec::new()]) {
        let text = help(&place, words).out;
        let rows: usize = text.trim_end().lines().map(|line| line.chars().count().div_ceil(80).max(1)).sum();
        if rows > MAX_ROWS {
            problems.push(format!("{}: {rows} rows", words.join(" ")));
        }
        assert!(text.contains("Usage: bailiwick"), "{words:?}: {text}");
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// Returns what a command prints to a terminal of so many columns, or, without any, to a pipe: there nothing is folded.
fn printed(place: &Installation, words: &[&str], columns: Option<usize>) -> String {
    let mut command = place.command(words);
    if let Some(columns) = columns {
        command.env("COLUMNS", columns.to_string());
    }
    let ran: CommandOutput = command.output().expect("it runs").into();
    format!("{}{}", ran.out, ran.err)
}

#[test]
fn no_line_of_help_or_of_an_error_breaks_in_a_word() {
    let place = Installation::set_up();
    let mut all: Vec<Vec<String>> = commands();
    all.push(Vec::new());
    all.iter_mut().for_each(|words| words.push("--help".to_owned()));
    for mistake in [
        "call file.read ../../outside/of/the/scope/there/is/a/file/with/a/long/name",
        "call command.run --command ls",
        "call file.read hello.txt --start-lien 3",
        "call file.serach",
        "scope show nothing",
        "scope edit project --network everything",
        "policy explain file.write",
        "setup --preset fulll",
        "serve --port none",
        "call --help",
        "call file.patch --help",
        "tools",
        "scope show project",
        "statsu",
    ] {
        all.push(mistake.split(' ').map(str::to_owned).collect());
    }
    let mut problems = Vec::new();
    for words in &all {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let whole = printed(&place, &words, None);
        for columns in [80, 120] {
            let narrow = printed(&place, &words, Some(columns));
            let text = |text: &str| -> Vec<String> {
                // A command continues behind a backslash.
                text.replace("\\\n", " ").split_whitespace().map(str::to_owned).collect()
            };
            // Tables are laid out for their terminal: cells are cut there, and end so.
            if text(&whole) != text(&narrow) && !narrow.contains('\u{2026}') {
                problems.push(format!("{words:?} has other words at {columns}:\n{narrow}"));
            }
            let is_too_wide = |line: &&str| line.chars().count() > columns && line.trim().contains(' ');
            problems.extend(narrow.lines().filter(is_too_wide).map(|line| format!("{words:?}: {line}")));
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// The examples in the help of a command.
fn examples(text: &str) -> Vec<String> {
    let text = text.replace("\\\n", " ");
    let lines = text.lines().skip_while(|line| *line != "Examples:").skip(1);
    lines.filter_map(|line| line.strip_prefix("  bailiwick ")).map(str::to_owned).collect()
}

/// Splits a line as a shell does, as far as examples need it.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut rest = line.trim();
    while !rest.is_empty() {
        let (word, after) = match rest.strip_prefix('\'') {
            Some(quoted) => quoted.split_once('\'').expect("a closed quote"),
            None => rest.split_once(' ').unwrap_or((rest, "")),
        };
        words.push(word.to_owned());
        rest = after.trim_start();
    }
    words
}

/// An installation with what the examples name.
#[cfg(unix)]
fn installation() -> Installation {
    let place = Installation::new();
    let at = |path: &str| place.folder.path().join(path);
    fs::rename(place.project(), at("app")).expect("moved");
    fs::create_dir(at("lib")).expect("made");
    fs::create_dir(at("user")).expect("made");
    fs::write(at("commands.tsv"), "allow\tls\n").expect("written");
    for words in [
        &["setup", "app", "--preset", "full", "--yes", "--json"][..],
        &["scope", "allow", "app", "--command", "true *", "--json"],
        &["call", "file.stat", "hello.txt", "--json"],
    ] {
        let ran = place.run(words);
        assert_eq!(ran.exit, 0, "{words:?}: {}{}", ran.out, ran.err);
    }
    fs::copy(place.config(), at("draft.json")).expect("copied");
    place
}

/// Puts in ids for the words in capitals, and makes again what an example before has taken away.
#[cfg(unix)]
fn filled(place: &Installation, words: &[String]) -> Option<Vec<String>> {
    if words.iter().any(|word| word == "laptop") {
        // It may be there already.
        place.run(&["token", "create", "laptop", "--json"]);
    }
    // What is taken back has to have been changed, and an example before may have taken the right away.
    let changed = (words[0] == "undo").then(|| {
        place.run(&["scope", "allow", "app", "fs:write"]);
        let content = new_id();
        let write = ["call", "file.write", "new.txt", "--content", &content, "--overwrite", "--json"];
        place.run(&write).json()
    });
    let mut filled = words.to_vec();
    for word in &mut filled {
        match word.as_str() {
            "PROCESS" => {
                // An example before may have taken commands away.
                place.run(&["scope", "allow", "app", "command:run", "process:manage"]);
                let start = json!({"scope": "app", "op": "command.start", "input": {"command": ["true"]}});
                let ran = place.run(&["call", &start.to_string(), "--json"]);
                // Where commands cannot be sandboxed there is no process.
                *word = ran.json()["data"]["processId"].as_str()?.to_owned();
            }
            "OPERATION" if words[0] == "undo" => {
                *word = changed.as_ref().and_then(|it| it["operationId"].as_str()).expect("an id").to_owned();
            }
            "OPERATION" => {
                let last = place.run(&["history", "last", "--json"]).json();
                *word = last["operation"]["operationId"].as_str().expect("an id").to_owned();
            }
            "4040" => "0".clone_into(word),
            "new.json" => *word = place.folder.path().join("home/config/config.json").display().to_string(),
            _ => {}
        }
    }
    // Other tests use the usual port.
    if filled == ["serve"] {
        filled.extend(["--port".to_owned(), "0".to_owned()]);
    }
    if filled.starts_with(&["config".to_owned(), "edit".to_owned()]) {
        filled.push("--yes".to_owned());
    }
    Some(filled)
}

/// The exit codes that are valid on any computer.
#[cfg(unix)]
fn expected(words: &[String]) -> &'static [i32] {
    match words[0].as_str() {
        // Systemd may not be there, and nothing is installed.
        "service" => &[0, 1, 15, 18, 20],
        // There may be no display.
        "screen" => &[0, 18, 20, 22],
        // It shows what this computer lacks.
        "doctor" | "self-test" | "try" => &[0, 1],
        "status" => &[0, 18],
        // Examples before have changed the scope.
        "policy" => &[0, 1],
        _ => &[0],
    }
}

/// Runs a command that continues until Ctrl-C.
#[cfg(unix)]
fn run_until_interrupted(place: &Installation, words: &[&str]) {
    let mut child = place.command(words).spawn().expect("the binary runs");
    let mut line = String::new();
    BufReader::new(child.stdout.take().expect("piped")).read_line(&mut line).expect("readable");
    assert!(!line.is_empty(), "{words:?} says nothing");
    let process = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(process, rustix::process::Signal::INT).expect("it runs");
    assert!(child.wait().expect("it ends").success(), "{words:?}");
}

// Examples start programs of Unix, and those that continue are ended by a signal.
#[cfg(unix)]
#[test]
fn every_command_has_examples_and_they_run() {
    let place = installation();
    let mut missing = Vec::new();
    let all = commands();
    for command in &all {
        let is_group = all.iter().any(|other| other.len() > command.len() && other.starts_with(command));
        let lines = examples(&help(&place, command).out);
        if lines.is_empty() && !is_group {
            missing.push(command.join(" "));
        }
        // Those of `client` have a test of their own, with clients.
        if command[0] == "client" {
            continue;
        }
        for line in lines {
            let words = words(&line);
            let Some(words) = filled(&place, &words) else { continue };
            let shown: Vec<&str> = words.iter().map(String::as_str).collect();
            if ["serve", "watch"].contains(&shown[0]) {
                run_until_interrupted(&place, &shown);
                continue;
            }
            let mut command = place.command(&shown);
            command.env("EDITOR", "true").env_remove("VISUAL").env("HOME", place.folder.path().join("user"));
            if shown[0] == "here" || shown == ["try"] {
                command.current_dir(place.folder.path().join("app"));
            }
            let output = command.output();
            let ran = CommandOutput::from(output.expect("the binary runs"));
            assert!(expected(&words).contains(&ran.exit), "{line}: {} {}{}", ran.exit, ran.out, ran.err);
        }
    }
    assert!(missing.is_empty(), "no examples: {}", missing.join(", "));
}

#[test]
fn a_misspelt_word_is_answered_with_the_nearest() {
    let place = Installation::set_up();
    assert_eq!(place.run(&["token", "create", "laptop"]).exit, 0);
    for (words, near) in [
        (&["statsu"][..], "status"),
        (&["scope", "lits"], "list"),
        (&["history", "--limt", "3"], "--limit"),
        (&["setup", "--presett", "coding"], "--preset"),
        (&["setup", "project", "--preset", "codign"], "coding"),
        (&["scope", "show", "projcet"], "project"),
        (&["scope", "allow", "project", "fs:raed"], "fs:read"),
        (&["scope", "remove", "projekt"], "project"),
        (&["token", "revoke", "latpop"], "laptop"),
        (&["token", "create", "x", "--scope", "projet"], "project"),
        (&["token", "create", "x", "--capability", "fs:raed"], "fs:read"),
        (&["tools", "--token", "laptpo"], "laptop"),
        (&["mcp", "--caller", "laptpo"], "laptop"),
        (&["call", "file.raed"], "file.read"),
        (&["policy", "explain", "file.raed"], "file.read"),
        (&["policy", "explain", "ls", "--scope", "projcet"], "project"),
        (&["history", "--scope", "projcet"], "project"),
        (&["completions", "bsh"], "bash"),
    ] {
        let ran = place.run(words);
        assert!(
            ran.err.contains(near) && (ran.err.contains("Did you mean") || ran.err.contains("similar")),
            "{words:?}: {}",
            ran.err
        );
        let json = place.run(&[words, &["--json"]].concat());
        assert_eq!(json.exit, ran.exit, "{words:?}");
        if ran.exit != 0 && words[0] != "mcp" {
            let error = &json.json()["error"];
            assert!(error["hints"].to_string().contains(near), "{words:?}: {error}");
        }
    }
}
