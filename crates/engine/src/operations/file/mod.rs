//! `file.*`: files and folders inside the scope's roots.

mod copy;
mod create;
mod delete;
mod find;
mod history;
mod list;
mod mkdir;
mod r#move;
mod patch;
mod patch_plan;
mod patch_run;
mod read;
mod read_many;
mod restore;
mod search;
mod stat;
mod syntax_check;
mod tree;
mod write;

use crate::registry::{Entry, Family};

/// The family's table.
pub static FAMILY: Family = Family {
    name: "file",
    summary: "Read, search and change files inside the scope's folders.",
    operations: &OPERATIONS,
};

static OPERATIONS: [Entry; 16] = [
    Entry::tried_at_once::<stat::Op>(),
    Entry::tried_at_once::<list::Op>(),
    Entry::blocking::<tree::Op>(),
    Entry::tried_at_once::<read::Op>(),
    Entry::tried_at_once::<read_many::Op>(),
    Entry::blocking::<write::Op>(),
    Entry::blocking::<create::Op>(),
    Entry::blocking::<patch::Op>(),
    Entry::blocking::<r#move::Op>(),
    Entry::blocking::<copy::Op>(),
    Entry::blocking::<mkdir::Op>(),
    Entry::blocking::<delete::Op>(),
    Entry::blocking::<find::Op>(),
    Entry::blocking::<search::Op>(),
    Entry::blocking::<history::Op>(),
    Entry::blocking::<restore::Op>(),
];
