//! `code.*`: what source files define, and where names are used.

mod search_symbols;

use crate::registry::{Entry, Family};

/// The family's table.
pub static FAMILY: Family = Family {
    name: "code",
    summary: "Find and read definitions in source files, without a compiler.",
    operations: &OPERATIONS,
};

static OPERATIONS: [Entry; 1] = [Entry::of::<search_symbols::Op>()];
