//! `batch.*`: several requests as one change.

mod run;
mod steps;

use crate::registry::{Entry, Family};

pub use run::undo_request;

/// The family's table.
pub static FAMILY: Family = Family {
    name: "batch",
    summary: "Several requests as one change, taken back as a whole if one fails.",
    operations: &OPERATIONS,
};

static OPERATIONS: [Entry; 1] = [Entry::asynchronous::<run::Op>()];
