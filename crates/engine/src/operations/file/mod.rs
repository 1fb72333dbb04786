//! `file.*`: files and folders inside the scope's roots.

mod copy;
mod create;
mod delete;
mod find;
mod history;
mod kept;
mod list;
mod mkdir;
mod r#move;
mod patch;
mod patch_plan;
mod patch_run;
mod read;
mod read_many;
mod restore;
mod restore_whole;
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
    Entry::of::<list::Op>(),
    Entry::of::<tree::Op>(),
    Entry::tried_at_once::<read::Op>(),
    Entry::of::<read_many::Op>(),
    Entry::of::<write::Op>(),
    Entry::of::<create::Op>(),
    Entry::of::<patch::Op>(),
    Entry::of::<r#move::Op>(),
    Entry::of::<copy::Op>(),
    Entry::of::<mkdir::Op>(),
    Entry::of::<delete::Op>(),
    Entry::of::<find::Op>(),
    Entry::of::<search::Op>(),
    Entry::of::<history::Op>(),
    Entry::of::<restore::Op>(),
];
