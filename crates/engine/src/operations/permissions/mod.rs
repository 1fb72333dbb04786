//! `permissions.*`: what can be done on a desktop.

mod status;

use crate::registry::{Entry, Family};

/// The family's table.
pub static FAMILY: Family = Family {
    name: "permissions",
    summary: "Show what can be done on a desktop, and what is missing.",
    operations: &OPERATIONS,
};

static OPERATIONS: [Entry; 1] = [Entry::blocking::<status::Op>()];
