//! Earlier contents of files, so that a change can be taken back.
//!
//! Kept in Bailiwick's state folder, which no scope and no command reaches. Contents of files of a usual size are kept
//! with a record of the change; folders, links and larger files are kept whole, moved there where the file system is
//! the same. Bounded by age and size. What was only read is kept in memory for a while, see `seen`. What cannot be kept
//! stops the change, unless the client does without undo.

mod authors;
mod chunks;
mod pieces;
mod record;
mod read_contents;
mod store;
mod tree;

pub use authors::Authors;
pub use read_contents::{MAX_SEEN_BYTES, ReadContents};
pub use record::{ChangeSource, FileFacts, Location, Record, Relocation, StoredFile};
pub use store::{Before, Deposit, FileChange, FoundRecord, VersionStore};
pub use tree::{TreeContents, TreeDraft, TreeSummary};
