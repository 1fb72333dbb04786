//! Commands that texts, comments and documents name: each is one of today's, by the name that help shows.

use clap::Command;
use regex::Regex;

use bailiwick::adapters::cli::definition;

use crate::source::{files, repository, rust_files, shown_path};

/// Commands that help does not list, and that have no other name.
const UNLISTED: &[&str] = &["try", "screen", "mcpb"];

/// Flags that help has no line left for, and that a page explains.
const UNLISTED_FLAGS: &[&str] = &["input-banner", "preview", "secret-commands", "secrets", "visible-input"];

/// Texts that are no command.
const NO_COMMANDS: &[&str] = &[
    // What a history's hashes begin with.
    "bailiwick history 1",
];

/// Examples of what help does not list, and the older name at work.
const OLDER_NAMES: [&str; 2] = ["src/adapters/cli/examples.rs", "tests/transcripts/setup-here.txt"];

/// Finds a command below another one by its name of today.
fn below(command: &Command, word: &str) -> Result<Option<Command>, String> {
    match command.find_subcommand(word) {
        None => Ok(None),
        Some(found) if found.get_name() != word => Err(format!("`{word}` is `{}` now", found.get_name())),
        Some(found) if found.is_hide_set() && !UNLISTED.contains(&word) => {
            Err(format!("`{word}` is not shown any more"))
        }
        Some(found) => Ok(Some(found.clone())),
    }
}

/// Whether a word is a placeholder that a reader or the program fills in.
fn is_placeholder(word: &str) -> bool {
    word.starts_with(|it: char| it.is_uppercase() || "{[<…|'\"".contains(it)) || word.contains('|')
}

/// Checks the words behind `bailiwick`.
fn check(root: &Command, words: &[&str]) -> Result<(), String> {
    // `help TOPIC` prints a page, and is no command of the definition.
    if words.first() == Some(&"help") {
        return Ok(());
    }
    let mut command = root.clone();
    let mut rest = words;
    while let Some((word, behind)) = rest.split_first() {
        if word.starts_with('-') || !command.has_subcommands() {
            break;
        }
        match below(&command, word)? {
            Some(found) => command = found,
            None if is_placeholder(word) => return Ok(()),
            None => return Err(format!("there is no `{word}`")),
        }
        rest = behind;
    }
    // Those that read their own words take the fields of an operation.
    if command.get_arguments().all(|it| it.get_id() != "help") {
        return Ok(());
    }
    for word in rest {
        if let Some(flag) = word.strip_prefix("--") {
            let flag = flag.split(['=', '…', ']']).next().unwrap_or_default();
            let mut known = command.get_arguments().chain(root.get_arguments());
            let is_shared = ["verbose", "color", "help", "version", ""].contains(&flag);
            let names = |it: &clap::Arg| {
                let aliases = it.get_visible_aliases().unwrap_or_default();
                let is_listed = !it.is_hide_set() || UNLISTED_FLAGS.contains(&flag);
                is_listed && (it.get_long() == Some(flag) || aliases.contains(&flag))
            };
            if !is_shared && !known.any(names) {
                return Err(format!("`{}` has no `--{flag}`", command.get_name()));
            }
        }
        let values = command.get_positionals().flat_map(clap::Arg::get_possible_values).collect::<Vec<_>>();
        if let Some(value) = values.iter().find(|it| it.get_name() != *word && it.matches(word, false)) {
            return Err(format!("`{word}` is `{}` now", value.get_name()));
        }
    }
    Ok(())
}

#[test]
fn every_command_that_is_named_is_one_of_today() {
    let mut texts: Vec<(String, String)> =
        ["src", "crates"].iter().flat_map(|folder| rust_files(folder)).map(|it| (it.path, it.text)).collect();
    let folders = ["docs", "schemas", "tests/operations", "tests/transcripts"];
    let pages = folders.iter().flat_map(|folder| files(folder));
    for page in pages.chain(["README.md", "SECURITY.md"].map(|it| repository().join(it))) {
        if page.extension().is_some_and(|it| ["md", "json", "txt"].iter().any(|end| it == *end)) {
            texts.push((shown_path(&page), std::fs::read_to_string(&page).expect("UTF-8")));
        }
    }
    let continued = Regex::new(r"\\\n\s*").expect("a pattern");
    let quoted = Regex::new(r"`bailiwick ([^`]+)`").expect("a pattern");
    let bare = Regex::new(r"\bbailiwick ([a-z][a-z-]*)(?: ([a-z][a-z-]*))?").expect("a pattern");
    let root = definition();
    let (mut count, mut problems) = (0, Vec::new());
    for (path, text) in &texts {
        let text = NO_COMMANDS.iter().fold(text.clone(), |text, no| text.replace(no, ""));
        let text = continued.replace_all(&text, "");
        for named in quoted.captures_iter(&text) {
            let words: Vec<&str> = named[1].split_whitespace().collect();
            count += 1;
            if let Err(problem) = check(&root, &words) {
                problems.push(format!("{path}: `bailiwick {}`: {problem}", &named[1]));
            }
        }
        for named in bare.captures_iter(&text).filter(|_| !OLDER_NAMES.contains(&path.as_str())) {
            let words = [named.get(1), named.get(2)].map(|it| it.map_or("", |it| it.as_str()));
            let found = below(&root, words[0]);
            let found = found.and_then(|it| it.map_or(Ok(None), |command| below(&command, words[1])));
            if let Err(problem) = found {
                problems.push(format!("{path}: bailiwick {} {}: {problem}", words[0], words[1]));
            }
        }
    }
    assert!(count > 500, "only {count} commands were found");
    problems.dedup();
    assert!(problems.is_empty(), "{} places:\n{}", problems.len(), problems.join("\n"));
}
