//! `command.*`: running programs that the scope allows, held as it wants.

mod commit;
mod coverage;
mod digested;
mod execute;
mod preview;
mod ready;
mod run;
mod running;
mod start;

use crate::registry::{Entry, Family};

pub use coverage::keep_cut_off;
pub(super) use coverage::{CommandChanges, CommandCoverage, warn_of_process};
pub(super) use execute::{CommandOutput, Encoding, Execution, execute, input_bytes};
pub(super) use preview::preview;
pub(super) use ready::{PlannedCommand, Sandbox, StandardStreams, clean_preview, make_ready, plan_of};
pub use running::has_unfinished;

/// The family's table.
pub static FAMILY: Family = Family {
    name: "command",
    summary: "Run programs that the scope allows, in a sandbox, and give what they print.",
    operations: &OPERATIONS,
};

static OPERATIONS: [Entry; 2] = [Entry::previewed::<run::Op>(), start::row()];
