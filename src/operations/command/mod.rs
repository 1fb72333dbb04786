//! `command.*`: running programs that the scope allows, held as it wants.

mod execute;
mod run;

use crate::registry::{Entry, Family};

pub(super) use execute::{CommandOutput, Encoding, Execution, execute, input_bytes};

/// The family's table.
pub static FAMILY: Family = Family {
    name: "command",
    summary: "Run programs that the scope allows, in a sandbox, and give what they print.",
    operations: &OPERATIONS,
};

static OPERATIONS: [Entry; 1] = [Entry::of::<run::Op>()];
