//! What is remembered of a change.

use serde::{Deserialize, Serialize};

use super::tree::TreeSummary;

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
    /// The id of the request that made it; empty in records of earlier versions, as the next one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub operation_id: String,
    /// Whose request it was: a token's id, or `local`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub caller: String,
    /// The id of the batch that the request is a step of, if it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batch: Option<String>,
    /// The undo ids of the changes that it takes back, if it is an undo.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub takes_back: Vec<String>,
    /// Whether it takes back what was not finished or has failed, rather than what someone asked to have undone.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_rollback: bool,
    /// Its files; of what a command changed the first ones, so that they are found by their paths.
    pub files: Vec<StoredFile>,
    /// How things that are kept whole are put back, in order. Where there are any, the files are not put back one by one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub relocations: Vec<Relocation>,
    /// What a command changed in the folders of the scope, which is kept beside the record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tree: Option<TreeSummary>,
}

/// The request that makes a change.
#[derive(Debug, Clone, Copy)]
pub struct ChangeSource<'a> {
    /// The scope in which it is made.
    pub scope: &'a str,
    /// The name of its operation.
    pub op: &'a str,
    /// The id of the request.
    pub operation_id: &'a str,
    /// Whose request it is: a token's id, or `local`.
    pub caller: &'a str,
    /// The id of the batch that the request is a step of, if it is one.
    pub batch: Option<&'a str>,
    /// The undo ids of the changes that it takes back, if it is an undo.
    pub takes_back: &'a [String],
    /// Whether it takes back what was not finished or has failed.
    pub is_rollback: bool,
}

/// A file as it was.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredFile {
    /// The path that it has since.
    pub path: String,
    /// The path that it had, if that was another.
    pub moved_from: Option<String>,
    /// The SHA-256 of its content; `None` if there was no file, or if it is kept whole.
    pub sha256: Option<String>,
    /// The size of that content.
    pub bytes: u64,
    /// Its permission bits.
    pub mode: u32,
    /// The version that it has since; `None` if it is gone.
    pub version_after: Option<String>,
    /// What else belongs to it.
    #[serde(default, skip_serializing_if = "FileFacts::is_empty")]
    pub facts: FileFacts,
    /// How many folders above it were made with it, which go with it if they are empty then.
    #[serde(default, skip_serializing_if = "is_none")]
    pub made_folders: usize,
    /// Whether a folder, a link or a large file was there, which is kept whole.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub whole: bool,
    /// Where the pieces of its content begin: among those of a tree if a command changed it, else behind the record.
    /// `None` in records of earlier versions, which have the contents as they were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<u64>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
const fn is_none(count: &usize) -> bool {
    *count == 0
}

/// What belongs to a file beside its content and its permission bits.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileFacts {
    /// When its content was changed last, in nanoseconds since the epoch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub modified_ns: Option<i64>,
    /// Its extended attributes, lists of rights included: names and values.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attributes: Vec<(Vec<u8>, Vec<u8>)>,
}

impl FileFacts {
    fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// One step of putting back what is kept whole.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Relocation {
    /// Where the thing is.
    pub from: Location,
    /// Where it goes.
    pub to: Location,
    /// The version that it must have.
    pub version: String,
}

/// Where something is that is kept whole.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Location {
    /// At a path of the scope.
    Path(String),
    /// With the record, under a number.
    Kept(usize),
}

impl Location {
    /// Returns the number of what is kept with the record.
    pub const fn kept(&self) -> Option<usize> {
        match self {
            Self::Path(_) => None,
            Self::Kept(number) => Some(*number),
        }
    }
}
