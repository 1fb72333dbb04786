//! The history: every operation and its outcome, redacted, hash-chained, on disk before the answer.
//!
//! The only module that knows SQLite. Nothing here changes or removes a row but retention.

mod event;
mod store;

pub use event::{EventDraft, Phase};
pub use store::{HistoryError, HistoryHandle, HistorySettings};
