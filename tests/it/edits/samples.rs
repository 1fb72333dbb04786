//! Hunks that commits have brought, each with the file before it: of this repository's history, or of another's that
//! `BAILIWICK_HISTORY` names, a work tree or Git's folder.

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::source::repository;
use crate::system::git_of_the_person;

/// The longest file that is taken, in lines.
const MAX_LINES: usize = 4_000;
/// The longest hunk that is taken, in lines.
const MAX_HUNK: usize = 200;

/// How many lines too far down a wrong number points.
pub const WRONG_BY: usize = 37;

/// A line of a hunk: its mark, and what is behind it with its line end.
pub type Line = (char, String);

#[derive(Debug, Clone)]
pub struct RealHunk {
    /// The first line of it in the old file, counted from 0.
    pub start: usize,
    pub lines: Vec<Line>,
}

/// A hunk and the file that it was made for.
#[derive(Debug, Clone)]
pub struct Sample {
    pub name: String,
    pub file: Vec<String>,
    pub hunk: RealHunk,
    /// All hunks of the file in the same commit, this one among them.
    pub all: Vec<RealHunk>,
}

impl RealHunk {
    pub fn side(&self, without: char) -> Vec<String> {
        self.lines.iter().filter(|(mark, _)| *mark != without).map(|(_, line)| line.clone()).collect()
    }

    pub fn old(&self) -> Vec<String> {
        self.side('+')
    }

    /// Puts it into a file, at a line.
    pub fn put(&self, file: &[String], at: usize) -> Vec<String> {
        [&file[..at], &self.side('-'), &file[at + self.old().len()..]].concat()
    }

    /// Leaves out all but so many lines of context.
    pub fn with_context(&self, most: usize) -> Self {
        let first = self.lines.iter().take_while(|(mark, _)| *mark == ' ').count();
        let last = self.lines.iter().rev().take_while(|(mark, _)| *mark == ' ').count();
        let (skip, end) = (first.saturating_sub(most), self.lines.len() - last.saturating_sub(most));
        Self { start: self.start + skip, lines: self.lines[skip..end].to_vec() }
    }

    pub fn map(&self, with: impl Fn(&str) -> String) -> Self {
        let lines = self.lines.iter().map(|(mark, line)| (*mark, with(line)));
        Self { start: self.start, lines: lines.collect() }
    }

    /// The line that changes first.
    pub fn first_change(&self) -> usize {
        self.start + self.lines.iter().take_while(|(mark, _)| *mark == ' ').count()
    }

    pub fn body(&self) -> String {
        self.lines.iter().map(|(mark, line)| format!("{mark}{line}")).collect()
    }

    /// Says it as a part of a unified diff, behind numbers of some kind.
    pub fn unified(&self, numbers: &str) -> String {
        let count = |without| self.side(without).len();
        let at = |line: usize| format!("@@ -{line},{} +{line},{} @@", count('+'), count('-'));
        let start = self.start + 1;
        let header = match numbers {
            "right" => at(start),
            "wrong" => at(start + WRONG_BY),
            "counts" => format!("@@ -{start},{} +{start},{} @@", count('+').saturating_sub(1).max(1), 1),
            "one" => at(1),
            "one, one" => "@@ -1,1 +1,1 @@".to_owned(),
            _ => "@@".to_owned(),
        };
        format!("{header}\n{}", self.body())
    }
}

/// Says hunks as a unified diff, with numbers of some kind.
pub fn unified(hunks: &[RealHunk], numbers: &str) -> String {
    let parts = hunks.iter().map(|hunk| hunk.unified(numbers));
    format!("--- a/file\n+++ b/file\n{}", parts.collect::<String>())
}

/// Says hunks as a context patch, with something after the signs.
pub fn context(hunks: &[RealHunk], header: &str) -> String {
    let parts = hunks.iter().map(|hunk| format!("@@{header}\n{}", hunk.body()));
    format!("*** Begin Patch\n*** Update File: file\n{}*** End Patch\n", parts.collect::<String>())
}

/// Returns the repository whose history is asked for, and whether it is another than this one.
pub fn history() -> (PathBuf, bool) {
    match std::env::var_os("BAILIWICK_HISTORY") {
        Some(path) => (PathBuf::from(path), true),
        None => (repository().to_owned(), false),
    }
}

/// Prepares a call of Git in the repository.
pub fn git(arguments: &[&str]) -> Command {
    let mut command = git_of_the_person();
    let (folder, _) = history();
    if folder.join("HEAD").is_file() && folder.join("objects").is_dir() {
        command.arg("--git-dir").arg(&folder);
    } else {
        command.current_dir(&folder);
    }
    let plain =
        ["core.quotePath=false", "diff.noprefix=false", "diff.mnemonicPrefix=false", "safe.directory=*"];
    for setting in plain {
        command.args(["-c", setting]);
    }
    command.args(arguments);
    command
}

/// Returns what Git prints, if it is well.
pub fn printed(arguments: &[&str], input: &[u8]) -> Option<Vec<u8>> {
    let mut child =
        git(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().ok()?;
    let mut stdin = child.stdin.take()?;
    let input = input.to_owned();
    let writer = std::thread::spawn(move || stdin.write_all(&input));
    let output = child.wait_with_output().ok()?;
    writer.join().ok()?.ok()?;
    output.status.success().then_some(output.stdout)
}

/// The changes of one file: the blob before, its name, and its hunks.
type FileChange = (String, String, Vec<RealHunk>);

/// Reads what `git log -p` and `git diff` print.
fn changes(printed: &str) -> Vec<FileChange> {
    let mut files: Vec<FileChange> = Vec::new();
    let mut blob = String::new();
    // How many lines of the hunk are still to come, of both sides.
    let mut left = (0_usize, 0_usize);
    for line in printed.split_inclusive('\n') {
        let mark = line.chars().next();
        if let (Some(mark @ (' ' | '-' | '+')), Some(hunk), true) =
            (mark, files.last_mut().and_then(|(.., hunks)| hunks.last_mut()), left != (0, 0))
        {
            left.0 = left.0.saturating_sub(usize::from(mark != '+'));
            left.1 = left.1.saturating_sub(usize::from(mark != '-'));
            hunk.lines.push((mark, line[1..].to_owned()));
        } else if let Some(rest) = line.strip_prefix("index ") {
            blob = rest.split("..").next().unwrap_or_default().to_owned();
        } else if let Some(name) = line.strip_prefix("--- a/") {
            files.push((blob.clone(), name.trim().to_owned(), Vec::new()));
        } else if let Some(rest) = line.strip_prefix("@@ -") {
            let (old, new) = rest.split_once(" +").unwrap_or((rest, ""));
            let count = |side: &str| {
                let side = side.split(' ').next().unwrap_or_default();
                side.split_once(',').map_or(1, |(_, count)| count.parse().unwrap_or(0))
            };
            left = (count(old), count(new));
            let start: usize = old.split(',').next().and_then(|it| it.parse().ok()).unwrap_or(0);
            if let Some((.., hunks)) = files.last_mut() {
                hunks.push(RealHunk { start: start.saturating_sub(1), lines: Vec::new() });
            }
        } else if let (Some('\\'), Some(hunk)) =
            (mark, files.last_mut().and_then(|(.., hunks)| hunks.last_mut()))
        {
            hunk.lines.push(('\\', line[1..].to_owned()));
        }
    }
    // What Git and we call a line must be the same, and a last line without an end has forms of its own.
    files.retain(|(.., hunks)| {
        hunks.iter().flat_map(|hunk| &hunk.lines).all(|(mark, line)| *mark != '\\' && !line.contains('\r'))
            && hunks.iter().all(|hunk| hunk.lines.len() <= MAX_HUNK)
    });
    files
}

/// The options of Git by which changes are printed in the form that is read here.
const FORM: [&str; 5] = ["-U3", "--full-index", "--no-color", "--no-ext-diff", "--no-renames"];

/// Returns the hunks between two blobs.
pub fn between(old: &str, new: &str) -> Option<Vec<RealHunk>> {
    let words = [&["diff"][..], &FORM, &[old, new]].concat();
    let text = String::from_utf8(printed(&words, b"")?).ok()?;
    // Blobs have no names: `--- a/HASH`.
    let (.., hunks) = changes(&text).pop()?;
    Some(hunks)
}

/// Returns the blobs of these names, as far as they are there and text.
pub fn blobs(names: &[String]) -> Vec<Option<String>> {
    let wanted: String = names.iter().map(|name| format!("{name}\n")).collect();
    let Some(printed) = printed(&["cat-file", "--batch"], wanted.as_bytes()) else { return Vec::new() };
    let mut rest = &printed[..];
    let mut found = Vec::with_capacity(names.len());
    while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
        let head = String::from_utf8_lossy(&rest[..end]).into_owned();
        rest = &rest[end + 1..];
        // One that is missing is one line without a content.
        let size = head.split(' ').nth(2).and_then(|size| size.parse::<usize>().ok());
        found.push(size.and_then(|size| {
            let content = rest.get(..size)?;
            rest = rest.get(size + 1..).unwrap_or_default();
            String::from_utf8(content.to_owned()).ok()
        }));
    }
    found
}

/// Reads the hunks that commits have brought, each with its file before; every so many of them.
pub fn samples(one_of: usize) -> Vec<Sample> {
    let log =
        [&["log", "--no-merges", "--diff-filter=M", "-p", "--format=", "-n", "20000"][..], &FORM].concat();
    let Some(log) = printed(&log, b"") else { return Vec::new() };
    let mut number = 0;
    let mut chosen: Vec<(FileChange, Vec<usize>)> = Vec::new();
    for change in changes(&String::from_utf8_lossy(&log)) {
        let mut here = Vec::new();
        for at in 0..change.2.len() {
            number += 1;
            if number % one_of == 0 {
                here.push(at);
            }
        }
        if !here.is_empty() {
            chosen.push((change, here));
        }
    }
    let names: Vec<String> = chosen.iter().map(|((blob, ..), _)| blob.clone()).collect();
    let mut samples = Vec::new();
    for (((_, name, hunks), here), content) in chosen.into_iter().zip(blobs(&names)) {
        let Some(content) = content.filter(|it| it.ends_with('\n') && !it.contains('\r')) else { continue };
        let file: Vec<String> = content.split_inclusive('\n').map(str::to_owned).collect();
        let fits = |hunk: &RealHunk| {
            let old = hunk.old();
            !old.is_empty() && file.get(hunk.start..hunk.start + old.len()).is_some_and(|lines| lines == old)
        };
        if file.len() > MAX_LINES || !hunks.iter().all(fits) {
            continue;
        }
        samples.extend(here.into_iter().map(|at| Sample {
            name: name.clone(),
            file: file.clone(),
            hunk: hunks[at].clone(),
            all: hunks.clone(),
        }));
    }
    samples
}
