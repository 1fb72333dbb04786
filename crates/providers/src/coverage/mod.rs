//! What commands change in the folders of a scope, kept so that it can be taken back.
//!
//! ```text
//! CoverageStore   the state of the folders as it was last seen, with the contents of files: a cache
//! Snapshot        that state before a command, or after it
//! Difference      what a command changed, and what of that cannot be taken back
//! TreeRecord      a difference with the contents that it replaced, in the store of versions
//! Restoration     brings the folders from one state back to the other
//! PreviewedChanges  a difference between the folders and the preview of a command, which a Restoration takes over
//! ```
//!
//! Reads and writes by handle only, follows no link, opens nothing but regular files and folders. What Git runs is never
//! written (`rules`). Knows nothing of commands and of who runs them.

mod apply;
mod codec;
mod compare;
mod node;
mod previewed;
mod record;
mod restore;
mod rules;
mod store;
mod walk;
#[cfg(test)]
mod warm_tests;

pub use compare::{Difference, TreeChange};
pub use node::{Content, Node};
pub use previewed::{PreviewedChanges, PreviewedChangesDraft, closing_rule};
pub use record::{TreeRecord, keep_difference};
pub use restore::{ChangeState, Restoration, RestoreRoot, RestoreStep};
pub use store::{CoverageStore, CoveredRoot, LookError, Snapshot};
