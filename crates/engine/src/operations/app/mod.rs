//! `app.*`: programs with windows on private displays.

mod launch;

use crate::registry::{Entry, Family};

/// The family's table.
pub static FAMILY: Family = Family {
    name: "app",
    summary: "Start programs with windows on private displays.",
    operations: &OPERATIONS,
};

static OPERATIONS: [Entry; 1] = [Entry::asynchronous::<launch::Op>()];
