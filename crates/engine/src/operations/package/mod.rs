//! `package.*`: the scripts that a project already defines.

mod choice;
mod run;
mod scripts;
mod start;

use crate::registry::{Entry, Family};

/// The family's table.
pub static FAMILY: Family = Family {
    name: "package",
    summary: "List, run and start the scripts that a project already defines: npm, cargo, make, just, pyproject.",
    operations: &OPERATIONS,
};

static OPERATIONS: [Entry; 3] =
    [Entry::blocking::<scripts::Op>(), Entry::previewed::<run::Op>(), Entry::asynchronous::<start::Op>()];
