//! What a patch says, whatever its dialect: files, and in each the hunks that change it.

use bailiwick_contract::Failure;

use super::matching::Shift;
use super::text::body;
use super::{context_patch, unified};

/// What a line of a hunk means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// It is there and stays.
    Context,
    /// It is there and goes.
    Remove,
    /// It comes.
    Add,
}

/// Lines that belong together.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Hunk {
    /// Its lines, each with what ends it.
    pub lines: Vec<(Mark, String)>,
    /// The line, counted from 0, at which the patch says that it begins; a hint, if the numbers of all its hunks fit.
    pub hint: Option<usize>,
    /// The lines after `@@` of a context patch, from the outside in.
    pub headers: Vec<String>,
    /// What stands behind the numbers of a unified diff; it may decide, and need not be there.
    pub heading: String,
    /// Whether it says that it ends with the file.
    pub at_end: bool,
}

impl Hunk {
    /// Gives the lines that must be there.
    pub fn old(&self) -> Vec<&str> {
        let old = self.lines.iter().filter(|(mark, _)| *mark != Mark::Add);
        old.map(|(_, line)| line.as_str()).collect()
    }

    /// Gives the lines that come.
    pub fn added(&self) -> impl Iterator<Item = &str> {
        self.lines.iter().filter(|(mark, _)| *mark == Mark::Add).map(|(_, line)| line.as_str())
    }

    /// Counts the lines of a kind.
    pub(super) fn count(&self, wanted: Mark) -> usize {
        self.lines.iter().filter(|(mark, _)| *mark == wanted).count()
    }

    /// Returns whether the lines that come can be indented as a place is.
    pub(super) fn takes(&self, shift: &Shift) -> bool {
        // Only what has too little indentation cannot have less.
        !matches!(shift, Shift::Shallower(_)) || self.added().all(|line| shift.apply(body(line)).is_some())
    }

    /// Counts the lines of context before the first change and after the last one.
    pub fn context(&self) -> (usize, usize) {
        let is_context = |(mark, _): &&(Mark, String)| *mark == Mark::Context;
        (
            self.lines.iter().take_while(is_context).count(),
            self.lines.iter().rev().take_while(is_context).count(),
        )
    }
}

/// What a patch does to one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilePatch {
    /// The file's path as written; empty if the patch names none.
    pub path: String,
    /// What happens to it.
    pub action: PatchAction,
}

/// What happens to a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PatchAction {
    /// It is changed, and may get another name or mode.
    Update {
        /// The changes.
        hunks: Vec<Hunk>,
        /// The new path.
        move_to: Option<String>,
        /// The new permission bits.
        mode: Option<u32>,
    },
    /// It is new.
    Create {
        /// Its content.
        content: String,
        /// Its permission bits.
        mode: Option<u32>,
    },
    /// It goes; its content must be what the hunk removes, if there is one.
    Delete {
        /// The content that it must have.
        content: Option<String>,
    },
}

/// Reads patch text; its first line tells the dialect.
///
/// # Errors
/// `invalid_request` that names the line of the patch.
pub fn parse_patch(text: &str) -> Result<Vec<FilePatch>, Failure> {
    let mut text = without_fence(text).to_owned();
    if !text.ends_with('\n') {
        // It ends with its last line; what the file's last line lacks, a patch says by a line of its own.
        text.push('\n');
    }
    let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let files = if first.starts_with("***") && !first.starts_with("*** a/") {
        context_patch::parse(&text)?
    } else {
        unified::parse(&text)?
    };
    if files.is_empty() {
        return Err(malformed(
            1,
            "it holds neither a unified diff (`--- a/file`, `+++ b/file`, `@@`) nor `*** Begin Patch`",
        ));
    }
    merged(files)
}

/// Makes the failure of a patch that cannot be read. Lines are counted from 1.
pub(super) fn malformed(line: usize, problem: impl std::fmt::Display) -> Failure {
    Failure::invalid("input.patch", format!("`input.patch` cannot be read: line {line}: {problem}"))
        .detail("rule", "malformed-patch")
        .detail("line", line)
}

/// Takes off the fence of a Markdown block around the whole text.
fn without_fence(text: &str) -> &str {
    let trimmed = text.trim();
    let Some(inner) = trimmed.strip_prefix("```") else { return text };
    let Some(inner) = inner.strip_suffix("```") else { return text };
    inner.split_once('\n').map_or(text, |(_, inner)| inner)
}

/// Puts hunks for the same file together.
fn merged(files: Vec<FilePatch>) -> Result<Vec<FilePatch>, Failure> {
    let mut merged: Vec<FilePatch> = Vec::with_capacity(files.len());
    for file in files {
        let Some(earlier) = merged.iter_mut().find(|earlier| earlier.path == file.path) else {
            merged.push(file);
            continue;
        };
        match (&mut earlier.action, file.action) {
            (
                PatchAction::Update { hunks, move_to: None, mode: None },
                PatchAction::Update { hunks: more, move_to: None, mode: None },
            ) => {
                hunks.extend(more);
                // The numbers of the second part can be of the file as the first part leaves it.
                hunks.iter_mut().for_each(|hunk| hunk.hint = None);
            }
            _ => {
                return Err(Failure::invalid(
                    "input.patch",
                    format!("`input.patch` names `{}` more than once", file.path),
                )
                .detail("rule", "named-twice")
                .hint("Put everything that happens to a file into one part of the patch."));
            }
        }
    }
    Ok(merged)
}
