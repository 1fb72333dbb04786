//! Which sizes a process's terminal has had: a small file beside its output, so that any service can tell.

use std::path::Path;

use serde::{Deserialize, Serialize};

use bailiwick_platform::fs::{OwnFileError, Secrecy, read_own_file, replace_private_file};
use bailiwick_platform::launch::kept::TerminalSize;

/// The file in a process's folder.
const FILE: &str = "sizes";
/// How many changes are kept; of more the oldest are forgotten.
const MAX_CHANGES: usize = 128;
/// The largest file that is read.
const MAX_BYTES: u64 = 32 << 10;

/// A change of size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SizeChange {
    /// The position in the output before which the old size held.
    pub position: u64,
    /// The size before.
    pub old: TerminalSize,
    /// The size from there on.
    pub new: TerminalSize,
}

/// Reads the changes, in order, one for each position. What cannot be read counts as none: the last size is known without them.
pub fn size_changes(folder: &Path) -> Vec<SizeChange> {
    let Ok((text, _)) = read_own_file(&folder.join(FILE), Secrecy::Secret, MAX_BYTES) else {
        return Vec::new();
    };
    let mut changes: Vec<SizeChange> = serde_json::from_slice(&text).unwrap_or_default();
    changes.sort_by_key(|change| change.position);
    changes.dedup_by(|later, earlier| {
        let same = later.position == earlier.position;
        if same {
            earlier.new = later.new;
        }
        same
    });
    changes
}

/// Adds a change.
///
/// # Errors
/// Those of the file system.
pub fn add_size_change(folder: &Path, change: SizeChange) -> std::io::Result<()> {
    let path = folder.join(FILE);
    match read_own_file(&path, Secrecy::Secret, MAX_BYTES) {
        Ok(_) | Err(OwnFileError::NotFound) => {}
        Err(error) => return Err(std::io::Error::other(error.to_string())),
    }
    let mut changes = size_changes(folder);
    changes.push(change);
    let excess = changes.len().saturating_sub(MAX_CHANGES);
    changes.drain(..excess);
    replace_private_file(&path, &serde_json::to_vec(&changes).map_err(std::io::Error::from)?)
}
