//! What is known of a started Codex beside its process: written in the folder of the process.
//!
//! A prompt is never in it; of one that is not sensitive there is a redacted beginning.

use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use bailiwick_platform::fs::{Secrecy, read_own_file, replace_private_file};

use super::Mode;

/// The file in the folder of a process.
const FILE: &str = "codex.json";
/// The largest such file that is read.
const LIMIT_BYTES: u64 = 4 << 20;

/// What is known of a started Codex.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Record {
    /// The version of Codex.
    pub version: String,
    /// What its commands may do.
    pub mode: Mode,
    /// Whether its commands may reach the network.
    pub network: bool,
    /// The working folder on disk.
    pub folder: std::path::PathBuf,
    /// The session, once it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// The beginning of the prompt, without secrets; none where it is sensitive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt_preview: Option<String>,
    /// What it changed, once it is over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub difference: Option<Value>,
}

impl Record {
    /// Reads the record of a process; none where the process is no Codex.
    pub fn read(process: &Path) -> Option<Self> {
        let (content, _) = read_own_file(&process.join(FILE), Secrecy::Secret, LIMIT_BYTES).ok()?;
        serde_json::from_slice(&content).ok()
    }

    /// Writes the record of a process.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn write(&self, process: &Path) -> std::io::Result<()> {
        let content = serde_json::to_vec(self).expect("a record has a JSON form");
        replace_private_file(&process.join(FILE), &content)
    }
}
