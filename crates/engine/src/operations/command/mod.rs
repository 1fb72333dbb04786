//! `command.*`: running programs that the scope allows, held as it wants.

mod run;
mod start;

use crate::registry::{Entry, Family};

/// The family's table.
pub static FAMILY: Family = Family {
    name: "command",
    summary: "Run programs that the scope allows, in a sandbox, and give what they print.",
    operations: &OPERATIONS,
};

static OPERATIONS: [Entry; 2] = [Entry::previewed::<run::Op>(), start::row()];
