//! What is known of a process before it starts: written once, beside its output.

use std::io::Write;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use bailiwick_config::ProcessLifetime;
use bailiwick_platform::fs::{OwnFileError, Secrecy, new_private_file, read_own_file, replace_private_file};

/// The file of the facts in a process's folder.
const FILE: &str = "facts.json";
/// The largest file of facts that is read.
const LIMIT_BYTES: u64 = 64 << 10;

/// What is fixed about a process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Facts {
    /// The id by which clients name it; its folder has the same name.
    pub id: String,
    /// The scope that it belongs to. To every other it does not exist.
    pub scope: String,
    /// The name of the caller that started it.
    pub caller: String,
    /// The beginning of its command, with the secrets taken out.
    pub preview: String,
    /// What the caller calls it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// When it was started, in milliseconds since the epoch.
    pub started_at_ms: i64,
    /// Its working folder, as clients see it.
    pub folder: String,
    /// Whether it has a terminal.
    pub has_terminal: bool,
    /// How long it lives.
    pub lifetime: ProcessLifetime,
    /// How much of its output is kept, in bytes.
    pub ring_bytes: u64,
    /// Whether a shell reads its command, so that the scope's rules could only advise.
    #[serde(default)]
    pub is_advisory: bool,
    /// Whether it is what a finished `command.run` printed, kept for reading.
    #[serde(default)]
    pub is_run: bool,
    /// Its folder for temporary files, where the sandbox has none of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temporary: Option<PathBuf>,
}

impl Facts {
    /// Reads the facts in a process's folder, which must have the name of their id.
    ///
    /// # Errors
    /// What is wrong with the file.
    pub(super) fn read(folder: &Path) -> Result<Self, String> {
        let (text, _) =
            read_own_file(&folder.join(FILE), Secrecy::Secret, LIMIT_BYTES).map_err(|error| match error {
                OwnFileError::NotFound => "its facts are missing".to_owned(),
                other => format!("its facts cannot be read: {other}"),
            })?;
        let facts: Self = serde_json::from_slice(&text).map_err(|_| "its facts are damaged".to_owned())?;
        match folder.file_name().is_some_and(|name| name == facts.id.as_str()) {
            true => Ok(facts),
            false => Err("its facts are those of another process".to_owned()),
        }
    }

    /// Writes the facts again into a folder that nobody finds yet.
    ///
    /// # Errors
    /// Those of the file system.
    pub(super) fn rewrite(&self, folder: &Path) -> std::io::Result<()> {
        let text = serde_json::to_vec(self).expect("facts have a JSON form");
        replace_private_file(&folder.join(FILE), &text)
    }

    /// Writes the facts into a new folder. Not synced: no process outlives the system that it runs on.
    ///
    /// # Errors
    /// Those of the file system.
    pub(super) fn write(&self, folder: &Path) -> std::io::Result<()> {
        let text = serde_json::to_vec(self).expect("facts have a JSON form");
        new_private_file(&folder.join(FILE))?.write_all(&text)
    }
}
