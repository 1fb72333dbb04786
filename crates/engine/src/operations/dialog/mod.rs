//! `dialog.*`: the dialogs that programs open, for scopes of the computer that grant elements.

mod answering;
mod dismiss;
mod file;
mod input;
mod list;
mod press;

use crate::registry::{Entry, Family};

/// The family's table.
pub static FAMILY: Family = Family {
    name: "dialog",
    summary: "List the dialogs of a program, and answer them.",
    operations: &OPERATIONS,
};

static OPERATIONS: [Entry; 5] = [
    Entry::blocking::<list::Op>(),
    Entry::blocking::<press::Op>(),
    Entry::blocking::<input::Op>(),
    Entry::blocking_with_needs::<file::Op>(),
    Entry::blocking::<dismiss::Op>(),
];
