//! What taking changes back did, as `undo` prints it with `--json`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `undo`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UndoOutput {
    /// Always true.
    pub ok: bool,
    /// The scope.
    pub scope: String,
    /// Whether it was done: not with `--dry-run`, nor after a no.
    pub written: bool,
    /// The id of the undo, which takes it back; null where it was not done.
    pub operation_id: Option<String>,
    /// The changes, the newest first.
    pub changes: Vec<UndoneChangeOutput>,
    /// What becomes of each file, or became.
    pub files: Vec<UndoneFileOutput>,
    /// How many further files there are; 0 where these are all.
    pub more_files: u64,
    /// What else there is to know.
    pub warnings: Vec<String>,
}

/// A change that is taken back.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UndoneChangeOutput {
    /// The operation that made it.
    pub op: String,
    /// When it was made (RFC 3339).
    pub at: String,
    /// The id of the request that made it.
    pub operation_id: String,
    /// Whose request it was; null where the history has no row of it.
    #[serde(default)]
    pub caller: Option<String>,
    /// What the client called itself.
    #[serde(default)]
    pub client: Option<String>,
}

/// A file that is put back.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UndoneFileOutput {
    /// The path that it has then.
    pub path: String,
    /// The path that it had until then, if that was another.
    #[serde(default)]
    pub moved_from: Option<String>,
    /// The version until then; null if there was no file.
    pub version_before: Option<String>,
    /// The version then; null if the file goes.
    pub version: Option<String>,
    /// What changes, of text and as far as there is room.
    #[serde(default)]
    pub diff: Option<String>,
}
