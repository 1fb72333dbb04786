//! Files that are made out of types; for tests alone.

#![expect(clippy::disallowed_methods, reason = "the files of the repository are no scope's")]

use std::collections::BTreeSet;
use std::path::Path;
use std::{env, fs};

/// Folders of `schemas` that are compared separately from it.
const COMPARED_ALONE: &[&str] = &["schemas/cli", "schemas/operations"];

/// Compares files that are made, each by its path from the repository's root and its text, with those that are committed.
/// Where `UPDATE=1` is set, writes them, and removes what else is in `folders`.
///
/// # Panics
/// A file is not committed as it is made, or one of the folders has a file or a folder that is not made.
pub fn assert_committed(made: &[(String, String)], folders: &[&str], command: &str) {
    let update = env::var("UPDATE").is_ok_and(|value| value == "1");
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut problems = Vec::new();
    for (name, text) in made {
        let path = repository.join(name);
        if fs::read_to_string(&path).is_ok_and(|committed| committed == *text) {
            continue;
        }
        if update {
            fs::create_dir_all(path.parent().expect("a file has a folder")).expect("a folder can be made");
            fs::write(&path, text).expect("a file can be written");
        } else {
            problems.push(format!("{name} is out of date"));
        }
    }
    let names: BTreeSet<&str> = made.iter().map(|(name, _)| name.as_str()).collect();
    for folder in folders {
        for entry in fs::read_dir(repository.join(folder)).expect("the folder can be read") {
            let entry = entry.expect("the folder can be read");
            let name = format!("{folder}/{}", entry.file_name().display());
            if names.contains(name.as_str()) || COMPARED_ALONE.contains(&name.as_str()) {
                continue;
            }
            let path = entry.path();
            if update {
                let removed = if path.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
                removed.expect("a leftover can be removed");
            } else {
                problems.push(format!("{name} is not made by anything"));
            }
        }
    }
    assert!(problems.is_empty(), "UPDATE=1 {command}, and read the diff:\n{}", problems.join("\n"));
}
