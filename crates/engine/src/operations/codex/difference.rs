//! What a run of Codex changed in its folder: seen on disk, whatever Codex itself says.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;
use tokio::sync::watch;

use crate::registry::Context;
use bailiwick_contract::{Cancel, ErrorCode, Failure};
use bailiwick_policy::Permit;
use bailiwick_providers::codex::Record;
use bailiwick_providers::process::Process;
use bailiwick_providers::snapshot::{Changes, FileChange, Snapshot, SnapshotLimits};

/// How long comparing may take after a run.
pub const COMPARING: Duration = Duration::from_secs(3);
/// How long it may take where nobody waits.
const COMPARING_APART: Duration = Duration::from_secs(30);
/// The most files that are listed.
const MAX_FILES: usize = 500;

/// The processes whose difference is being found by this service.
static UNDER_WAY: LazyLock<Mutex<HashMap<String, watch::Receiver<bool>>>> = LazyLock::new(Mutex::default);

/// What changed in the working folder between beginning and end.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Difference {
    /// How many files changed.
    pub changed_files: usize,
    /// Lines added, in files whose lines were counted.
    pub insertions: u64,
    /// Lines removed, in files whose lines were counted.
    pub deletions: u64,
    /// The files.
    pub files: Vec<FileChange>,
    /// `true` if not all files could be checked, or not all are listed.
    pub truncated: bool,
}

impl From<Changes> for Difference {
    fn from(changes: Changes) -> Self {
        let Changes { mut files, insertions, deletions, truncated, .. } = changes;
        let changed_files = files.len();
        files.truncate(MAX_FILES);
        Self {
            changed_files,
            insertions,
            deletions,
            truncated: truncated || files.len() < changed_files,
            files,
        }
    }
}

/// Takes the state of the folder before a run.
///
/// # Errors
/// Those of a file for the folder; `cancelled` and `timeout`.
pub async fn before(cx: &Context, permit: &Permit) -> Result<Snapshot, Failure> {
    let (folder, state, cancel) = (permit.path().clone(), cx.service.dirs.state.clone(), cx.cancel.clone());
    cx.progress.say("looking at the folder before Codex works in it");
    let taken = tokio::task::spawn_blocking(move || {
        Snapshot::take(&folder, &state, SnapshotLimits::default(), &cancel)
    });
    taken.await.map_err(|error| {
        Failure::new(ErrorCode::ExecutionFailed, format!("the folder could not be read: {error}"))
    })?
}

/// Compares the folder with its state before.
///
/// # Errors
/// As [`before`].
pub async fn since(snapshot: Arc<Snapshot>, time: Duration) -> Result<Difference, Failure> {
    let compared = tokio::task::spawn_blocking(move || snapshot.compare(&Cancel::after(time)));
    let changes = compared.await.map_err(|error| {
        Failure::new(ErrorCode::ExecutionFailed, format!("the folder could not be compared: {error}"))
    })??;
    Ok(Difference::from(changes))
}

/// Finds out what a started Codex changed when it ends, and notes it with its process.
pub fn note_at_the_end(process: Arc<Process>, snapshot: Snapshot) {
    let (done, receiver) = watch::channel(false);
    let id = process.facts.id.clone();
    under_way().insert(id.clone(), receiver);
    tokio::spawn(async move {
        let mut changes = process.changes();
        let _ = changes.wait_for(|change| change.ended).await;
        let difference = since(Arc::new(snapshot), COMPARING_APART).await;
        let folder = process.folder().to_owned();
        let noted = tokio::task::spawn_blocking(move || {
            let mut record = Record::read(&folder)?;
            record.difference = serde_json::to_value(difference.ok()?).ok();
            // The folder may be gone by now; then nobody can ask any more.
            record.write(&folder).ok()
        });
        let _: Result<Option<()>, _> = noted.await;
        let _ = done.send(true);
        under_way().remove(&id);
    });
}

/// Waits until what an ended process changed is noted, if that is under way here.
pub async fn noted(id: &str, time: Duration) {
    let receiver = under_way().get(id).cloned();
    if let Some(mut receiver) = receiver {
        let _ = tokio::time::timeout(time, receiver.wait_for(|done| *done)).await;
    }
}

fn under_way() -> std::sync::MutexGuard<'static, HashMap<String, watch::Receiver<bool>>> {
    UNDER_WAY.lock().unwrap_or_else(PoisonError::into_inner)
}
