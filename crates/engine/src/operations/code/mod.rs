//! `code.*`: one's way in a project, what source files define, and where names are used.

mod context;
mod context_cut;
mod context_git;
mod context_ready;
mod outline;
mod read_symbol;
mod references;
mod search_symbols;

use crate::registry::{Entry, Family};

/// The family's table.
pub static FAMILY: Family = Family {
    name: "code",
    summary: "Find your way in a project; find and read definitions in source files, without a compiler.",
    operations: &OPERATIONS,
};

static OPERATIONS: [Entry; 5] = [
    Entry::asynchronous::<context::Op>(),
    Entry::blocking::<outline::Op>(),
    Entry::blocking::<search_symbols::Op>(),
    Entry::blocking::<read_symbol::Op>(),
    Entry::blocking::<references::Op>(),
];
