//! What operations that change files have in common: keeping what they replace, taking changes back, the journals of what is
//! not finished, and who has read what.

mod journal;
mod keep;
mod reads;
mod restore;
mod restore_tree;
mod restore_whole;

pub use journal::{FoundBatches, Journal, UnfinishedBatch, find_batches, folder, left_journals, may_pass};
pub use keep::{Undo, before, cannot_keep, read, scope_key, whole_file};
pub use reads::{
    basis, content_of_version, has_read, has_written, note, refuse_unknown, see, warn_of_changes,
};
pub use restore::{
    NOTHING_KEPT, RestoreOutput, RestoredFile, UNDO_IDS, in_journal, is_in_effect, not_kept, release,
    restore_changes, restore_changes_after, restore_version, unreadable,
};
pub use restore_tree::{apply_whole, check_origin, is_half_done};
