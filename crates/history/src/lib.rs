//! The history: every operation and its outcome, redacted, hash-chained, on disk before the answer.
//!
//! The only module that knows SQLite. Nothing here changes or removes a row but retention.
//!
//! # On disk
//! `database.rs` lists the files, `migrations/` is the schema: `events` holds one row for each moment of
//! a request (`received` before an effect, `finished` before the answer). Its `hash` is SHA-256 over the
//! hash of the row before and every column (`row.rs`). All processes of an installation append to the
//! one chain: the head is read inside the writing transaction.

#![forbid(unsafe_code)]
#![expect(clippy::disallowed_methods, reason = "the store and its neighbours are Bailiwick's own files")]

mod anchor;
mod aside;
mod board;
mod database;
mod event;
mod groups;
mod log_sync;
mod query;
mod readers;
mod redact;
mod retention;
mod row;
mod rows;
mod store;
mod tail;
mod verify;
mod writer;

pub use aside::{AsideStore, stores_aside};
pub use database::{StoreError, writing_problem};
pub use event::{EventDraft, Phase};
#[cfg(test)]
mod tests;

pub use groups::{Group, GroupBy, Groups};
pub use query::{Entry, Filter, Page, State, query};
pub use redact::{HANDLE, HandleProblem, NotedSecrets, Redactor, ResolvedText, ScopeSecrets};
pub use store::{HistoryError, HistoryHandle, HistoryReadError, HistorySettings, RowSync};
pub use tail::Tail;
pub use verify::{Problem, VerifyReport, verify};
