//! `batch.*`: several requests as one change.

mod journal;
mod run;
mod steps;

use crate::registry::{Entry, Family};

pub use journal::{FoundBatches, Journal, UnfinishedBatch, find_batches, folder, left_journals};
pub use run::{may_pass, undo_request};

/// The family's table.
pub static FAMILY: Family = Family {
    name: "batch",
    summary: "Several requests as one change, taken back as a whole if one fails.",
    operations: &OPERATIONS,
};

static OPERATIONS: [Entry; 1] = [Entry::asynchronous::<run::Op>()];
