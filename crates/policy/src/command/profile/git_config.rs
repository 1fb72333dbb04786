//! Which settings of `git config` are harmless.

use super::super::reading::{Certainty, Reading, Word};

/// Sections of which no setting names a program or a file.
const HARMLESS: &[&str] =
    &["user", "author", "committer", "color", "push", "fetch", "branch", "advice", "status", "log", "column"];
/// Single settings that are harmless, in lower case.
const SETTINGS: &[&str] = &[
    "pull.rebase",
    "pull.ff",
    "init.defaultbranch",
    "core.autocrlf",
    "core.eol",
    "core.safecrlf",
    "core.filemode",
    "core.ignorecase",
    "core.quotepath",
    "core.whitespace",
    "core.abbrev",
    "diff.renames",
    "diff.algorithm",
    "diff.context",
    "diff.colormoved",
    "merge.conflictstyle",
    "merge.ff",
    "rebase.autostash",
    "rebase.autosquash",
    "rerere.enabled",
    "commit.verbose",
    "tag.sort",
    "help.autocorrect",
];
/// Words and options that only read.
const READS: &[&str] = &[
    "--get",
    "--get-all",
    "--get-regexp",
    "--get-urlmatch",
    "--get-color",
    "--get-colorbool",
    "--list",
    "-l",
];
/// Options that write.
const WRITES: &[&str] =
    &["--add", "--replace-all", "--unset", "--unset-all", "--rename-section", "--remove-section", "--append"];

/// Returns whether a `git config` writes a setting that is not known to be harmless.
pub fn writes_more_than_harmless(reading: &Reading<'_>) -> bool {
    if !reading.has_sub(&["config"]) {
        return false;
    }
    let words: Vec<&Word<'_>> =
        reading.words.iter().skip_while(|word| word.text != "config").skip(1).collect();
    let has = |names: &[&str]| reading.options.iter().any(|found| names.iter().any(|name| found.is(name)));
    let mut writes = has(WRITES);
    match words.first() {
        Some(word) if word.sure == Certainty::Word => match word.text {
            "get" | "list" => return writes,
            "edit" => return true,
            "set" | "unset" | "rename-section" | "remove-section" => writes = true,
            _ => {}
        },
        Some(_) | None => {}
    }
    if !writes && (has(READS) || words.len() <= 1) {
        return false;
    }
    // Any word up to the first that surely is the setting can be it.
    let mut settings = words.iter().filter(|word| word.text.contains('.'));
    let mut last = false;
    let mut found = false;
    let harmless = settings.all(|word| {
        let counts = !last;
        last |= word.sure == Certainty::Word;
        found = true;
        !counts || is_harmless(word.text)
    });
    !(found && harmless)
}

fn is_harmless(key: &str) -> bool {
    let key = key.to_ascii_lowercase();
    let section = key.split('.').next().unwrap_or_default();
    HARMLESS.contains(&section) || SETTINGS.contains(&key.as_str())
}
