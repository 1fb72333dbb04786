//! What has changed since a snapshot.

use schemars::JsonSchema;
use serde::Serialize;

use crate::search::SkipCounts;
use bailiwick_platform::fs::RelPath;

/// How a file changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ChangeKind {
    /// It is new.
    Added,
    /// Its content or mode is another.
    Modified,
    /// It is gone.
    Deleted,
    /// It has another name, and the same content.
    Renamed,
}

/// One file that changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FileChange {
    /// The path.
    pub path: String,
    /// The path before, of what was renamed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// How it changed.
    pub change: ChangeKind,
    /// Lines added; left out where they are not counted: binary, closed and large files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub insertions: Option<u64>,
    /// Lines removed; left out where they are not counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deletions: Option<u64>,
    /// Whether it is no text.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub binary: bool,
    /// Whether its content is closed in this scope; then nothing of it was checked.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub closed: bool,
    /// Whether its permissions are others.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub mode_changed: bool,
    /// The path beneath the scope's root.
    #[serde(skip)]
    pub rel: RelPath,
}

/// What has changed. All of it is true; that there is no more is true unless `truncated`.
#[derive(Debug, Clone, Default)]
pub struct Changes {
    /// The files, in the order of their paths.
    pub files: Vec<FileChange>,
    /// Lines added, in all files that were counted.
    pub insertions: u64,
    /// Lines removed, in all files that were counted.
    pub deletions: u64,
    /// How many of the files are text, as far as can be told, whose lines could not be counted.
    pub uncounted: u64,
    /// Whether there were too many files, or too little time, to look at all.
    pub truncated: bool,
    /// What was left out by reason, when the changes were looked for.
    pub skipped: SkipCounts,
}
