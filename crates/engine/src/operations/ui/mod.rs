//! `ui.*`: the elements of windows, for scopes of the computer that say so.

mod acting;
mod content;
mod fill;
mod get_value;
mod press;
mod refusal;
mod see;
mod set_value;
mod wait;

use crate::registry::{Entry, Family};

pub(super) use acting::{ElementName, find};
pub(super) use refusal::{failed, terminal, unread};

/// The family's table.
pub static FAMILY: Family = Family {
    name: "ui",
    summary: "Read the elements of windows, and use them without the pointer.",
    operations: &OPERATIONS,
};

static OPERATIONS: [Entry; 6] = [
    Entry::blocking::<see::Op>(),
    Entry::blocking::<get_value::Op>(),
    Entry::asynchronous::<wait::Op>(),
    Entry::blocking::<press::Op>(),
    Entry::blocking::<set_value::Op>(),
    Entry::blocking::<fill::Op>(),
];
