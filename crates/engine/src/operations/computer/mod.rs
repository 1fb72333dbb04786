//! `computer.*`: facts about the computer and the service.

mod info;

use crate::registry::{Entry, Family};

/// The family's table.
pub static FAMILY: Family = Family {
    name: "computer",
    summary: "Facts about this computer, the service, and what the caller may do.",
    operations: &OPERATIONS,
};

static OPERATIONS: [Entry; 1] = [Entry::asynchronous::<info::Op>()];
