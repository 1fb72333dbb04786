//! What is remembered of a change.

use serde::{Deserialize, Serialize};

/// A change of one file or of several together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// The id by which it is taken back.
    pub undo_id: String,
    /// When, in milliseconds since the epoch.
    pub at_ms: i64,
    /// The scope in which it was made; in no other it can be seen.
    pub scope: String,
    /// The operation that made it.
    pub op: String,
    /// Its files.
    pub files: Vec<Kept>,
}

/// A file as it was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kept {
    /// The path that it has since.
    pub path: String,
    /// The path that it had, if that was another.
    pub moved_from: Option<String>,
    /// The SHA-256 of its content; `None` if there was no file.
    pub sha256: Option<String>,
    /// The size of that content.
    pub bytes: u64,
    /// Its permission bits.
    pub mode: u32,
    /// The version that it has since; `None` if it is gone.
    pub version_after: Option<String>,
}
