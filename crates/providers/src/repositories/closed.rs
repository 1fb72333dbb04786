//! The files that a scope closes to its commands: how many there may be, and what is said of them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use bailiwick_contract::path::encode_name;
use bailiwick_contract::{Failure, StageName};
use bailiwick_platform::fs::{Dir, RelPath};
use bailiwick_policy::{ASK_FILES, CLOSED_FILES, ENVIRONMENT_FILE, PathRules};

use crate::search::IgnoreRules;

/// How many files and folders are hidden from a command at most: each takes a mount, some 40 µs.
const MAX_CLOSED: usize = 512;
/// How many are named in a warning.
const MAX_NAMED: usize = 3;

/// A file, or a folder with all that is in it, that a scope closes to commands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ClosedFile {
    /// Where it is.
    pub path: PathBuf,
    /// Its path beneath the root.
    pub rel: RelPath,
    /// Whether commands find it blank.
    pub reads_blank: bool,
}

/// Returns whether commands find a closed file blank, instead of one that they cannot read: what loads variables from
/// it continues without them. Not where `git add -A` would add the blank file: Git adds no file that it cannot read.
pub(super) fn reads_blank(root: &Dir, file: &RelPath, is_in_repository: bool, rules: &PathRules) -> bool {
    rule_for(file, rules) == Some(ENVIRONMENT_FILE)
        && (!is_in_repository || IgnoreRules::is_ignored_by_git(root, file))
}

/// Refuses a command where more files are closed than can be hidden from it.
///
/// # Errors
/// `permission_denied` with the folder that most of them are in.
pub(super) fn check_count(closed: &[ClosedFile], rules: &PathRules) -> Result<(), Failure> {
    if closed.len() <= MAX_CLOSED {
        return Ok(());
    }
    let folder = crowded_folder(closed);
    let shown =
        if folder.is_root() { "the scope's folder".to_owned() } else { format!("`{}`", show(&folder)) };
    let command = rules.opening_command([show(&folder.child("**".as_ref())).as_str()]);
    Err(Failure::denied(
        "too-many-closed-files",
        format!(
            "nothing was run: {} files are closed to commands, and no more than {MAX_CLOSED} can be hidden from one; \
             most of them are in {shown}",
            closed.len()
        ),
    )
    .at_stage(StageName::Command)
    .hint(format!("For the user: if no secrets are in {shown}, `{command}` opens it.")))
}

/// Returns the smallest folder without which few enough are left, or else the one with the most.
fn crowded_folder(closed: &[ClosedFile]) -> RelPath {
    let mut folder = RelPath::root();
    loop {
        let mut counts: BTreeMap<RelPath, usize> = BTreeMap::new();
        let depth = folder.components().count();
        for file in closed.iter().filter(|file| file.rel.starts_with(&folder)) {
            let names: Vec<&[u8]> = file.rel.components().take(depth + 1).collect();
            // A file of the folder itself is in no smaller one.
            if names.len() == depth + 1
                && file.rel.components().nth(depth + 1).is_some()
                && let Ok(child) = RelPath::parse(&names.join(&b'/'))
            {
                *counts.entry(child).or_default() += 1;
            }
        }
        match counts.into_iter().max_by_key(|(_, count)| *count) {
            Some((child, count)) if folder.is_root() || closed.len() - count <= MAX_CLOSED => folder = child,
            _ => return folder,
        }
    }
}

/// Returns what is said where a command fails that cannot read files below its working folder.
pub(super) fn warning(closed: &[ClosedFile], cwd: &Path, rules: &PathRules) -> Option<String> {
    let below: Vec<&ClosedFile> = closed.iter().filter(|file| file.path.starts_with(cwd)).collect();
    let names: Vec<String> = below.iter().take(MAX_NAMED).map(|file| show(&file.rel)).collect();
    let shown: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    let more = match below.len().saturating_sub(MAX_NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let mut text = match names.len() {
        0 => return None,
        _ => format!("commands of this scope cannot read {}{more}, closed in this scope.", shown.join(", ")),
    };
    let can_open =
        |file: &&&ClosedFile| !matches!(rule_for(&file.rel, rules), Some(CLOSED_FILES | ASK_FILES));
    let to_open: Vec<String> =
        below.iter().take(MAX_NAMED).filter(can_open).map(|file| show(&file.rel)).collect();
    if !to_open.is_empty() {
        let command = rules.opening_command(to_open.iter().map(String::as_str));
        text.push_str(&format!(" For the user: if the command needs them, `{command}`."));
    }
    Some(text)
}

fn rule_for(path: &RelPath, rules: &PathRules) -> Option<&'static str> {
    rules.rule_for_commands(&path.parent()?, path.file_name()?)
}

fn show(path: &RelPath) -> String {
    encode_name(path.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn closed(paths: impl IntoIterator<Item = String>) -> Vec<ClosedFile> {
        let file = |path: String| ClosedFile {
            path: Path::new("/app").join(&path),
            rel: RelPath::parse(path.as_bytes()).expect("a good path"),
            reads_blank: false,
        };
        paths.into_iter().map(file).collect()
    }

    #[test]
    fn the_folder_that_is_named_is_the_smallest_that_helps() {
        let certificates = (0..600).map(|number| format!("target/debug/build/a/certs/{number}.pem"));
        let others = (0..100).map(|number| format!("apps/{number}/.env"));
        let all: Vec<ClosedFile> = closed(certificates.chain(others));
        assert_eq!(crowded_folder(&all).as_bytes(), b"target/debug/build/a/certs");
        let spread = closed((0..700).map(|number| format!("apps/{number}/.env")));
        assert_eq!(crowded_folder(&spread).as_bytes(), b"apps");
        let split = closed((0..700).map(|number| format!("{}/{number}.pem", number % 2)));
        assert_eq!(crowded_folder(&split).as_bytes(), b"1");
        let flat = closed((0..700).map(|number| format!("{number}.pem")));
        assert!(crowded_folder(&flat).is_root());
    }
}
