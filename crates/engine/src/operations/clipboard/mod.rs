//! `clipboard.*`: what programs have copied, for scopes of the computer that grant it.

mod clear;
mod content;
mod get;
mod paste;
mod refusal;
mod restore;
mod save;
mod set;

use crate::registry::{Entry, Family};

/// The family's table.
pub static FAMILY: Family = Family {
    name: "clipboard",
    summary: "Read, set and clear the clipboard, paste, and give back what was there.",
    operations: &OPERATIONS,
};

static OPERATIONS: [Entry; 6] = [
    Entry::blocking::<get::Op>(),
    Entry::blocking::<set::Op>(),
    Entry::blocking::<clear::Op>(),
    Entry::blocking::<save::Op>(),
    Entry::blocking::<restore::Op>(),
    Entry::blocking::<paste::Op>(),
];
