//! `file.*`: files and folders inside the scope's roots.

mod find;
mod read;
mod read_many;
mod search;
mod stat;

use crate::registry::{Entry, Family};

/// The family's table.
pub static FAMILY: Family = Family {
    name: "file",
    summary: "Read, search and change files inside the scope's folders.",
    operations: &OPERATIONS,
};

static OPERATIONS: [Entry; 5] = [
    Entry::of::<stat::Op>(),
    Entry::of::<read::Op>(),
    Entry::of::<read_many::Op>(),
    Entry::of::<find::Op>(),
    Entry::of::<search::Op>(),
];
