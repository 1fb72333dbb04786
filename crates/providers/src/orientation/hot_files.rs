//! What the last commits changed most: where a project is worked on.
//!
//! What was counted for a commit stays true, so it is held in memory. Names are judged at each call again.

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use schemars::JsonSchema;
use serde::Serialize;

use crate::git::{Fields, Git, GitCall};
use bailiwick_contract::Failure;
use bailiwick_platform::fs::FileKind;

use super::source::beneath;

/// How many commits are checked.
const COMMITS: usize = 200;
/// A commit that changes more says nothing about where work is done.
const MAX_FILES_OF_COMMIT: usize = 100;
/// How many files are held of one count.
const MAX_HELD_FILES: usize = 200;
/// How many counts are held.
const MAX_HELD: usize = 32;
/// How many files are given.
const MAX_FILES: usize = 40;
/// How much of what Git prints is read.
const MAX_OUTPUT_BYTES: usize = 8 << 20;

/// A file, and how often it was changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct HotFile {
    /// Its path, relative to the scope's folder.
    pub path: String,
    /// How many of the commits changed it.
    pub changes: u32,
}

/// What the last commits changed most.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HotFiles {
    /// How many commits were checked.
    pub commits: u32,
    /// The files that are still there and were changed more than once, the most changed first.
    pub files: Vec<HotFile>,
}

/// Paths from the top of the working tree, with counts; the most changed first.
#[derive(Debug, Default)]
struct PathCounts {
    commits: u32,
    files: Vec<(Vec<u8>, u32)>,
}

/// The repository, the commit, and the part of the tree.
type Key = (PathBuf, String, Option<OsString>);

/// Oldest use first.
static HELD: Mutex<Vec<(Key, Arc<PathCounts>)>> = Mutex::new(Vec::new());

/// Counts what the commits before `head` changed, as far as the scope sees it.
///
/// # Errors
/// Those of a call.
pub async fn hot_files(git: &Git, head: &str) -> Result<HotFiles, Failure> {
    let pathspec = git.repository.pathspec();
    let key = (git.repository.common_dir.clone(), head.to_owned(), pathspec.clone());
    let counted = match held(&key) {
        Some(counted) => counted,
        None => {
            let counted = Arc::new(count(git, head, pathspec).await?);
            hold(key, &counted);
            counted
        }
    };
    let mut files = Vec::new();
    for (path, changes) in &counted.files {
        let Some(seen) = git.repository.seen_from_top(path).filter(|seen| seen.closed.is_none()) else {
            continue;
        };
        let place = beneath(&git.repository.start, &seen.rel);
        let there = place.and_then(|place| place.stat().ok()).is_some_and(|stat| stat.kind == FileKind::File);
        if there {
            files.push(HotFile { path: seen.shown, changes: *changes });
        }
        if files.len() == MAX_FILES {
            break;
        }
    }
    Ok(HotFiles { commits: counted.commits, files })
}

fn held(key: &Key) -> Option<Arc<PathCounts>> {
    let mut all = HELD.lock().unwrap_or_else(PoisonError::into_inner);
    let at = all.iter().position(|(held, _)| held == key)?;
    let used = all.remove(at);
    let counted = Arc::clone(&used.1);
    all.push(used);
    Some(counted)
}

fn hold(key: Key, counted: &Arc<PathCounts>) {
    let mut all = HELD.lock().unwrap_or_else(PoisonError::into_inner);
    if all.len() >= MAX_HELD {
        all.remove(0);
    }
    all.push((key, Arc::clone(counted)));
}

async fn count(git: &Git, head: &str, pathspec: Option<OsString>) -> Result<PathCounts, Failure> {
    let words = ["log", "-z", "--format=%x01", "--name-only", "--no-renames", "--no-merges", "--no-color"];
    let asked = GitCall::to_read(words)
        .word(format!("--max-count={COMMITS}"))
        .word(head)
        .word("--")
        .keep(MAX_OUTPUT_BYTES);
    let asked = match pathspec {
        Some(path) => asked.word(path),
        None => asked,
    };
    // Cut off, it is the newest commits: what is counted of them stays true.
    Ok(read(&git.run(asked).await?.success()?))
}

/// Reads what Git prints: for each commit a mark, a line end, and names that end in NUL.
fn read(text: &[u8]) -> PathCounts {
    let mut commits: Vec<Vec<&[u8]>> = Vec::new();
    for field in Fields::new(text) {
        match (field, commits.last_mut()) {
            (b"\x01", _) => commits.push(Vec::new()),
            (name, Some(commit)) => commit.push(name.strip_prefix(b"\n").unwrap_or(name)),
            (_, None) => {}
        }
    }
    let mut counts: HashMap<&[u8], u32> = HashMap::new();
    for name in commits.iter().filter(|names| names.len() <= MAX_FILES_OF_COMMIT).flatten() {
        *counts.entry(*name).or_default() += 1;
    }
    let mut files: Vec<(Vec<u8>, u32)> =
        counts.into_iter().map(|(name, changes)| (name.to_vec(), changes)).collect();
    files.sort_unstable_by(|(a, left), (b, right)| right.cmp(left).then_with(|| a.cmp(b)));
    // What was changed once is where nobody works.
    files.retain(|(_, changes)| *changes > 1);
    files.truncate(MAX_HELD_FILES);
    PathCounts { commits: u32::try_from(commits.len()).unwrap_or(u32::MAX), files }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_counted_by_commit() {
        let counted = read(b"\x01\0\na b\0c\0\x01\0\x01\0\na b\0");
        assert_eq!(counted.commits, 3);
        assert_eq!(counted.files, [(b"a b".to_vec(), 2)]);
    }
}
