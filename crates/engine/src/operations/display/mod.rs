//! `display.*`: private displays of a folder scope, which show nothing of the user's own.

mod create;
mod get;
mod list;
mod release;
mod status;

use crate::registry::{Entry, Family};

pub(super) use status::owner;

/// The family's table.
pub static FAMILY: Family = Family {
    name: "display",
    summary: "Make private displays of a scope, apart from the user's own, and end them.",
    operations: &OPERATIONS,
};

static OPERATIONS: [Entry; 4] = [
    Entry::asynchronous::<create::Op>(),
    Entry::blocking::<list::Op>(),
    Entry::blocking::<get::Op>(),
    Entry::asynchronous::<release::Op>(),
];
