//! `process.*`: programs that go on after the call that started them.

mod list;
mod read;
mod shown;
mod terminal;

use crate::registry::{Entry, Family};

/// The family's table.
pub static FAMILY: Family = Family {
    name: "process",
    summary: "Start programs that go on, read what they print, wait for them, write to them, end them.",
    operations: &OPERATIONS,
};

static OPERATIONS: [Entry; 2] = [Entry::of::<read::Op>(), Entry::of::<list::Op>()];
