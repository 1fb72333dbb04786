//! Earlier contents of files, so that a change can be taken back.
//!
//! Kept in Bailiwick's state folder, which no scope reaches: contents by their SHA-256, and a record of each
//! change. Bounded by age and size. What was only read is held in memory for a while, see `seen`. A store that fails never stops a change; there is then no undo for it.

mod prune;
mod record;
mod seen;
mod store;

pub use record::{Kept, Record};
pub use seen::{MAX_SEEN_BYTES, Seen};
pub use store::{Before, FileChange, VersionStore};
