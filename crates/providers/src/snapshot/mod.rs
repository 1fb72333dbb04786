//! The state of a folder before something ran in it, and what has changed since.
//!
//! Reads through the scope's door alone: by handle, no link followed, nothing of what is ignored, and of closed files
//! only whether they changed. Writes nothing in the scope, and knows nothing of Git.
//!
//! ```text
//! Snapshot   the facts of every file, and the earlier contents as far as there is room
//! Contents   where those contents lie: one private file without a name
//! Changes    what differs now, with lines added and removed
//! ```

mod changes;
mod compare;
mod contents;
mod judge;
mod lines;
mod renames;
mod take;

pub use changes::{ChangeKind, Changes, FileChange};
pub use take::{Snapshot, SnapshotLimits};
