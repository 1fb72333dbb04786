//! `process.*`: programs that keep running after the call that started them.

mod digested;
mod list;
mod read;
mod resize;
mod secret;
mod start;
mod stop;
mod wait;
mod wait_conditions;
mod write;

use crate::registry::{Entry, Family};

pub(super) use start::Op as StartOp;

/// The family's table.
pub static FAMILY: Family = Family {
    name: "process",
    summary: "Start programs that keep running, read what they print, wait for them, write to them, end them.",
    operations: &OPERATIONS,
};

static OPERATIONS: [Entry; 7] = [
    Entry::asynchronous::<start::Op>(),
    Entry::blocking::<read::Op>(),
    Entry::asynchronous::<write::Op>(),
    Entry::asynchronous::<resize::Op>(),
    Entry::asynchronous_with_needs::<wait::Op>(),
    Entry::asynchronous::<stop::Op>(),
    Entry::blocking::<list::Op>(),
];
