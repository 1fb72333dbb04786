//! Which clients are served over stdio at the moment: the process of each has a lock, and a note beside it.
//!
//! A note counts only while its lock is held, which ends with the process, however that ends.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use bailiwick_contract::{id, time};
use bailiwick_platform::dirs::Dirs;
use bailiwick_platform::fs::{FileLock, Secrecy, read_own_file, replace_private_file};

/// The largest note.
const LIMIT_BYTES: u64 = 4_096;
/// What the names of notes and locks begin with.
const PREFIX: &str = "stdio-";

/// What is known about a client that is served over stdio.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StdioClient {
    /// What the client calls itself; absent until it has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
    /// The token whose rights it has; absent for those of the user.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
    /// The process that serves it.
    pub process_id: u32,
    /// Since when, in RFC 3339.
    pub since: String,
}

/// The note of this process. Dropping it removes it.
#[derive(Debug)]
pub struct StdioSession {
    note: PathBuf,
    lock_file: PathBuf,
    client: Mutex<StdioClient>,
    // Let go of when the files are gone.
    _lock: FileLock,
}

impl StdioSession {
    /// Leaves the note of this process; `None` where that cannot be done, which keeps nobody from being served.
    pub fn begin(dirs: &Dirs, token: Option<&str>) -> Option<Self> {
        let (folder, name) = (&dirs.runtime, format!("{PREFIX}{}", id::new_id()));
        let lock_name = format!("{name}.lock");
        let lock = FileLock::try_take(folder, &lock_name).ok()??;
        let client = StdioClient {
            client: None,
            token: token.map(str::to_owned),
            process_id: std::process::id(),
            since: time::rfc3339(time::now_ms()),
        };
        let session = Self {
            note: folder.join(format!("{name}.json")),
            lock_file: folder.join(lock_name),
            client: Mutex::new(client.clone()),
            _lock: lock,
        };
        session.write(&client).ok()?;
        Some(session)
    }

    /// Notes what the client calls itself, the first time.
    pub fn name_client(&self, name: &str) {
        let Ok(mut client) = self.client.lock() else { return };
        if client.client.is_none() {
            client.client = Some(name.to_owned());
            // Nothing depends on the note but what `status` prints.
            let _ = self.write(&client);
        }
    }

    fn write(&self, client: &StdioClient) -> io::Result<()> {
        replace_private_file(&self.note, &serde_json::to_vec(client)?)
    }
}

impl Drop for StdioSession {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.note);
        let _ = fs::remove_file(&self.lock_file);
    }
}

/// Returns the clients that are served over stdio now, and removes the notes of processes that were killed.
pub fn stdio_clients(dirs: &Dirs) -> Vec<StdioClient> {
    let folder = &dirs.runtime;
    let names = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let is_note = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        name.starts_with(PREFIX) && name.ends_with(".json")
    };
    let mut notes: Vec<PathBuf> = names.filter(is_note).collect();
    notes.sort();
    notes.into_iter().filter_map(|note| live(folder, &note)).collect()
}

fn live(folder: &Path, note: &Path) -> Option<StdioClient> {
    let lock_name = format!("{}.lock", note.file_stem()?.to_str()?);
    if FileLock::try_take(folder, &lock_name).ok()?.is_some() {
        let _ = fs::remove_file(note);
        let _ = fs::remove_file(folder.join(lock_name));
        return None;
    }
    let (text, _) = read_own_file(note, Secrecy::Secret, LIMIT_BYTES).ok()?;
    serde_json::from_slice(&text).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_counts_while_its_process_has_the_lock() {
        let root = std::env::temp_dir().join(format!("bailiwick-stdio-{}", id::new_id()));
        let dirs = Dirs::below(root.clone());
        assert_eq!(stdio_clients(&dirs), []);
        let session = StdioSession::begin(&dirs, Some("laptop")).expect("the folder can be written");
        session.name_client("editor 1.0");
        session.name_client("another");
        let listed = stdio_clients(&dirs);
        assert_eq!(listed.len(), 1);
        assert_eq!(listed[0].client.as_deref(), Some("editor 1.0"));
        assert_eq!((listed[0].token.as_deref(), listed[0].process_id), (Some("laptop"), std::process::id()));
        // As after a kill: the note is there, and nobody has the lock.
        let left = dirs.runtime.join("stdio-01JD0000000000000000000000.json");
        fs::copy(&session.note, &left).expect("copied");
        assert_eq!(stdio_clients(&dirs), listed);
        assert!(!left.exists());
        drop(session);
        assert_eq!(stdio_clients(&dirs), []);
        assert_eq!(fs::read_dir(&dirs.runtime).expect("it is there").count(), 0);
        bailiwick_platform::fs::remove_tree(&root).expect("it was made above");
    }
}
