//! `history.*`: what was done in a scope.

use crate::registry::Family;

/// The family's table.
pub static FAMILY: Family =
    Family { name: "history", summary: "See what was done in a scope, and what failed.", operations: &[] };
