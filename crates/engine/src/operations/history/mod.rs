//! `history.*`: what was done in a scope. Every view shows the permitted scope and nothing else.

mod connections;
mod failed_replay;
mod get;
mod last;
mod sessions;
mod shown;
mod timeline;

use crate::registry::{Entry, Family};

/// The family's table.
pub static FAMILY: Family = Family {
    name: "history",
    summary: "See what was done in a scope, and what failed.",
    operations: &OPERATIONS,
};

static OPERATIONS: [Entry; 6] = [
    Entry::blocking::<last::Op>(),
    Entry::blocking::<timeline::Op>(),
    Entry::blocking::<sessions::Op>(),
    Entry::blocking::<connections::Op>(),
    Entry::blocking::<failed_replay::Op>(),
    Entry::blocking::<get::Op>(),
];
