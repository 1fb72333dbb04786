//! What clients that connect from elsewhere have got through, for `connect` to show while it waits for one.
//!
//! Nothing is kept of it but while somebody watches: the file is there then, and each service appends to it. It is small,
//! private, and has no part in any decision.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::PathBuf;

use http::{Method, StatusCode};
use serde::{Deserialize, Serialize};

use bailiwick_platform::dirs::Dirs;
use bailiwick_platform::fs::{FileLock, create_private_dir, replace_private_file};

/// The largest file: who floods the routes hides what comes later from `connect`, and fills nothing.
const MAX_BYTES: u64 = 64 << 10;

/// A step of a client, in the order in which it makes them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ClientStep {
    /// It has read how to log in.
    Metadata,
    /// It has registered, or was refused. Clients whose id is known do not need it.
    Registration,
    /// Its page for the owner was opened.
    Page,
    /// The owner has agreed, or not.
    Consent,
    /// It has got its token.
    Token,
    /// It has asked for the tools.
    ToolsList,
    /// It has called one.
    Call,
}

impl ClientStep {
    /// Returns the step that a request without a token is.
    pub fn of_request(method: &Method, path: &str) -> Option<Self> {
        match (method, path) {
            (&Method::GET, path) if path.starts_with("/.well-known/oauth-") => Some(Self::Metadata),
            (&Method::POST, "/oauth/register") => Some(Self::Registration),
            (&Method::GET, "/oauth/authorize") => Some(Self::Page),
            (&Method::POST, "/oauth/authorize") => Some(Self::Consent),
            (&Method::POST, "/oauth/token") => Some(Self::Token),
            _ => None,
        }
    }

    /// Returns the step that an MCP message is.
    pub fn of_message(message: &[u8]) -> Option<Self> {
        #[derive(Deserialize)]
        struct Message<'m> {
            #[serde(borrow)]
            method: std::borrow::Cow<'m, str>,
        }
        let message: Message<'_> = serde_json::from_slice(message).ok()?;
        match message.method.as_ref() {
            "tools/list" => Some(Self::ToolsList),
            "tools/call" => Some(Self::Call),
            _ => None,
        }
    }
}

/// A step that was made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StepRecord {
    /// The step.
    pub step: ClientStep,
    /// The status of its answer.
    pub status: u16,
    /// Whose it was, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub caller: Option<String>,
}

impl StepRecord {
    /// Returns whether the step was passed. A page that is shown again was not.
    pub fn is_passed(&self) -> bool {
        match self.step {
            ClientStep::Consent => self.status == StatusCode::SEE_OTHER.as_u16(),
            _ => self.status < 400,
        }
    }
}

/// Where steps are written down while somebody watches.
#[derive(Debug, Clone)]
pub struct StepLog {
    path: PathBuf,
}

impl StepLog {
    /// Names the file of an installation.
    pub fn new(dirs: &Dirs) -> Self {
        Self { path: path(dirs) }
    }

    /// Returns whether somebody watches.
    #[expect(clippy::disallowed_methods, reason = "it is a file of Bailiwick's own")]
    pub fn is_watched(&self) -> bool {
        fs::symlink_metadata(&self.path).is_ok_and(|facts| facts.is_file() && facts.len() < MAX_BYTES)
    }

    /// Writes a step down. Nothing depends on it but what `connect` shows.
    #[expect(clippy::disallowed_methods, reason = "it is a file of Bailiwick's own")]
    pub fn record(&self, record: &StepRecord) {
        let mut line = serde_json::to_vec(record).expect("a step has a JSON form");
        line.push(b'\n');
        let file = OpenOptions::new().append(true).open(&self.path);
        // One write of a short line arrives whole.
        let _ = file.and_then(|mut file| file.write_all(&line));
    }
}

/// Reads the steps as they are made, until it is dropped.
pub struct StepWatch {
    file: File,
    path: PathBuf,
    /// The beginning of a line that has not ended.
    pending: Vec<u8>,
    _lock: FileLock,
}

impl StepWatch {
    /// Begins to watch. `None` while another one watches.
    ///
    /// # Errors
    /// Those of the file system.
    #[expect(clippy::disallowed_methods, reason = "it is a file of Bailiwick's own")]
    pub fn begin(dirs: &Dirs) -> io::Result<Option<Self>> {
        create_private_dir(&dirs.runtime)?;
        let Some(lock) = FileLock::try_take(&dirs.runtime, "connect.lock")? else { return Ok(None) };
        let path = path(dirs);
        replace_private_file(&path, b"")?;
        let mut file = File::open(&path)?;
        file.seek(SeekFrom::Start(0))?;
        Ok(Some(Self { file, path, pending: Vec::new(), _lock: lock }))
    }

    /// Returns what was made since the last question.
    pub fn records(&mut self) -> Vec<StepRecord> {
        // What cannot be read now is there at the next question.
        let _ = self.file.read_to_end(&mut self.pending);
        let mut records = Vec::new();
        while let Some(end) = memchr::memchr(b'\n', &self.pending) {
            let line: Vec<u8> = self.pending.drain(..=end).collect();
            records.extend(serde_json::from_slice::<StepRecord>(&line).ok());
        }
        records
    }
}

impl Drop for StepWatch {
    #[expect(clippy::disallowed_methods, reason = "it is a file of Bailiwick's own")]
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

fn path(dirs: &Dirs) -> PathBuf {
    dirs.runtime.join("connect.jsonl")
}

#[cfg(test)]
mod tests {
    use bailiwick_platform::fs::{Secrecy, read_own_file};

    use super::*;

    #[test]
    fn steps_are_kept_only_while_somebody_watches_and_only_so_many() {
        let home = std::env::temp_dir().join(format!("bailiwick-steps-{}", bailiwick_contract::id::new_id()));
        let dirs = Dirs::below(home.clone());
        let log = StepLog::new(&dirs);
        let made = StepRecord { step: ClientStep::Token, status: 200, caller: None };
        log.record(&made);
        assert!(!log.is_watched());
        let mut watch = StepWatch::begin(&dirs).expect("writable").expect("free");
        assert!(StepWatch::begin(&dirs).expect("readable").is_none(), "another one watches");
        assert!(log.is_watched() && watch.records().is_empty());
        log.record(&made);
        assert_eq!((watch.records(), watch.records()), (vec![made.clone()], Vec::new()));
        while log.is_watched() {
            log.record(&made);
        }
        let (content, _) =
            read_own_file(&path(&dirs), Secrecy::Secret, 2 * MAX_BYTES).expect("it is within its bound");
        assert!((content.len() as u64) < MAX_BYTES + 100);
        drop(watch);
        assert!(!log.is_watched());
        bailiwick_platform::fs::remove_tree(&home).expect("removed");
    }

    #[test]
    fn requests_and_messages_are_steps() {
        let of = |method: &Method, path: &str| ClientStep::of_request(method, path);
        assert_eq!(of(&Method::GET, "/.well-known/oauth-protected-resource/mcp"), Some(ClientStep::Metadata));
        assert_eq!(of(&Method::POST, "/oauth/token"), Some(ClientStep::Token));
        assert_eq!(of(&Method::POST, "/mcp"), None);
        assert_eq!(ClientStep::of_message(br#"{"method":"tools/call","params":{}}"#), Some(ClientStep::Call));
        assert_eq!(ClientStep::of_message(br#"{"method":"ping"}"#), None);
        assert_eq!(ClientStep::of_message(b"tools/call"), None);
    }
}
