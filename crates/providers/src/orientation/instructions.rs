//! What a project tells agents: the files made for them, from the scope's folder down to the target.
//!
//! Their words are the repository's, not the user's: they are given as text, and nothing here follows them.

use std::ffi::OsStr;

use bailiwick_platform::names::OsStrExt;

use bailiwick_contract::{Cancel, Failure};
use bailiwick_platform::fs::FileId;
use bailiwick_policy::PermittedPath;

use super::excerpt::{add_pieces, clean, clip};
use super::source::{Source, below};

/// How much of one is read.
const MAX_FILE_BYTES: u64 = 64 << 10;
/// How much of one is given at most, in characters.
const MAX_HEAD_CHARS: usize = 6_000;
/// How many files are given.
const MAX_FILES: usize = 24;
/// How many imports of one file are named.
const MAX_IMPORTS: usize = 20;
/// The files that are made for agents.
const FILES: &[&str] = &[
    "AGENTS.md",
    "AGENTS.override.md",
    "CLAUDE.md",
    ".claude/CLAUDE.md",
    "CLAUDE.local.md",
    "GEMINI.md",
    ".github/copilot-instructions.md",
    ".cursorrules",
    ".windsurfrules",
    ".clinerules",
];
/// Folders of rules, and the ending of their files.
const FOLDERS: &[(&str, &str)] =
    &[(".cursor/rules", ".mdc"), (".github/instructions", ".instructions.md"), (".clinerules", ".md")];

/// A file that is made for agents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstructionFile {
    /// Its path, as results name it.
    pub path: String,
    /// How large it is.
    pub bytes: u64,
    /// Another file of the list that it is a link to.
    pub same_as: Option<String>,
    /// The files that it imports by `@`, as paths of the scope where they lead there, else as written.
    pub imports: Vec<String>,
    /// Its beginning, in pieces that make up the text.
    pub pieces: Vec<String>,
}

/// The files that are made for agents.
#[derive(Debug, Default)]
pub struct Instructions {
    /// Those that hold for the target, the nearest last.
    pub list: Vec<InstructionFile>,
    /// What could not be read, in words.
    pub notes: Vec<String>,
}

/// Finds the files that hold for a target: in each folder from the scope's own down to it.
///
/// # Errors
/// `cancelled`, `timeout`.
pub fn find_instructions(target: &PermittedPath, cancel: &Cancel) -> Result<Instructions, Failure> {
    let mut folders = vec![target.clone()];
    while let Some(above) = folders.last().and_then(PermittedPath::parent) {
        folders.push(above);
    }
    let mut found = Instructions::default();
    let mut known: Vec<(FileId, String)> = Vec::new();
    for folder in folders.iter().rev() {
        cancel.check()?;
        for path in candidates(folder) {
            if found.list.len() == MAX_FILES {
                return Ok(found);
            }
            // One that is closed is not named.
            let Some(place) = below(folder, &path) else { continue };
            match Source::read(&place, MAX_FILE_BYTES) {
                Ok(Some(source)) => {
                    let same_as = known.iter().find(|(id, _)| *id == source.id).map(|(_, path)| path.clone());
                    known.push((source.id, source.shown.clone()));
                    found.list.push(file(&place, source, same_as));
                }
                Ok(None) => {}
                Err(failure) => found.notes.push(clip(&failure.message, 200)),
            }
        }
    }
    Ok(found)
}

/// How many entries of a folder of rules are checked.
const MAX_RULES: usize = 10_000;

/// Returns the names that a folder has of such files.
fn candidates(folder: &PermittedPath) -> Vec<Vec<u8>> {
    let names = |place: &PermittedPath| {
        let opened = place.open_dir().ok().and_then(|(dir, _)| dir.entries(MAX_RULES).ok());
        opened.unwrap_or_default().into_iter().map(|entry| entry.name)
    };
    let here = folder.open_dir().ok();
    let has = |path: &str| {
        let first = path.split('/').next().unwrap_or_default();
        here.as_ref().is_some_and(|(dir, _)| dir.stat(OsStr::new(first)).is_ok())
    };
    let mut paths: Vec<Vec<u8>> =
        FILES.iter().filter(|path| has(path)).map(|path| path.as_bytes().to_vec()).collect();
    for (inner, ending) in FOLDERS.iter().filter(|(inner, _)| has(inner)) {
        let Some(place) = below(folder, inner.as_bytes()) else { continue };
        let rules = names(&place).filter(|name| name.as_bytes().ends_with(ending.as_bytes()));
        let mut rules: Vec<Vec<u8>> =
            rules.map(|name| [inner.as_bytes(), b"/", name.as_bytes()].concat()).collect();
        rules.sort_unstable();
        paths.append(&mut rules);
    }
    // A name that is a folder for one tool is a file for another.
    paths.retain(|path| {
        let place = below(folder, path);
        place.is_some_and(|place| place.open_dir().is_err())
    });
    paths
}

fn file(place: &PermittedPath, source: Source, same_as: Option<String>) -> InstructionFile {
    let mut pieces = Vec::new();
    let mut left = MAX_HEAD_CHARS;
    if same_as.is_none() {
        for line in source.text.lines().map(clean).filter(|line| !line.is_empty()) {
            let characters = line.chars().count();
            if characters > left {
                break;
            }
            left -= characters;
            add_pieces(&mut pieces, &line);
        }
    }
    let imports = if same_as.is_some() { Vec::new() } else { imports(place, &source.text) };
    InstructionFile { path: source.shown, bytes: source.bytes, same_as, imports, pieces }
}

/// Names the files that a text imports: words `@path` outside of code.
fn imports(place: &PermittedPath, text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut code = false;
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            code = !code;
        }
        if code {
            continue;
        }
        // Every second part is between backquotes.
        for part in line.split('`').step_by(2) {
            for word in part.split_whitespace().filter_map(import) {
                let inside = place.rel().parent().and_then(|folder| folder.join(word.as_bytes()).ok());
                let shown = match inside {
                    Some(rel) if !word.starts_with(['/', '~']) => place.show(&rel),
                    _ => clip(word, 120),
                };
                if found.len() < MAX_IMPORTS && !found.contains(&shown) {
                    found.push(shown);
                }
            }
        }
    }
    found
}

/// Reads a word as an import: `@` and a path that ends in a name with an ending, or begins as paths do.
fn import(word: &str) -> Option<&str> {
    let path = word.strip_prefix('@')?.trim_end_matches(['.', ',', ';', ':', ')']);
    let begins = ["./", "../", "~/", "/"].iter().any(|start| path.starts_with(start));
    let name = path.rsplit('/').next().unwrap_or_default();
    let ends = name.rsplit_once('.').is_some_and(|(stem, end)| !stem.is_empty() && !end.is_empty());
    let fits = path.chars().all(|c| !c.is_control() && !"<>\"'*|".contains(c)) && path.len() <= 500;
    (fits && !path.contains('@') && (begins || ends) && !name.is_empty()).then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn imports_are_told_from_people_and_packages() {
        for (word, path) in [
            ("@docs/style.md", Some("docs/style.md")),
            ("@README.md.", Some("README.md")),
            ("@~/.notes/me.md", Some("~/.notes/me.md")),
            ("@../shared/rules", Some("../shared/rules")),
            ("@ada", None),
            ("@types/node", None),
            ("ada@example.com", None),
            ("@", None),
        ] {
            assert_eq!(import(word), path, "{word}");
        }
    }
}
