//! `history.*`: what was done in a scope. Every view shows the permitted scope and nothing else.

mod connections;
mod failed_replay;
mod get;
mod last;
mod sessions;
mod query;
mod timeline;
mod undo;

use crate::registry::{Entry, Family};

/// The family's table.
pub static FAMILY: Family = Family {
    name: "history",
    summary: "See what was done in a scope, and what failed, and take changes back.",
    operations: &OPERATIONS,
};

static OPERATIONS: [Entry; 7] = [
    Entry::blocking::<last::Op>(),
    Entry::blocking::<timeline::Op>(),
    Entry::blocking::<sessions::Op>(),
    Entry::blocking::<connections::Op>(),
    Entry::blocking::<failed_replay::Op>(),
    Entry::blocking::<get::Op>(),
    Entry::blocking::<undo::Op>(),
];
