//! `codex.*`: giving work to the user's Codex, held by the scope's policy.

mod job;
mod difference;
mod list;
mod outcome;
mod read;
mod run;
mod start;
mod stop;
mod report;

use crate::registry::{Entry, Family};

pub(super) use job::around;

/// The family's table.
pub static FAMILY: Family = Family {
    name: "codex",
    summary: "Give work to Codex, the coding agent, in the scope's folder: run it, start it, read what it does, stop it.",
    operations: &OPERATIONS,
};

static OPERATIONS: [Entry; 5] = [
    Entry::asynchronous_with_needs::<run::Op>(),
    Entry::asynchronous_with_needs::<start::Op>(),
    Entry::asynchronous::<read::Op>(),
    Entry::asynchronous::<stop::Op>(),
    Entry::blocking::<list::Op>(),
];
