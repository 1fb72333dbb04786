//! `clipboard.*`: what programs have copied, for scopes of the computer that grant it.

mod clear;
mod get;
mod refusal;
mod set;

use crate::registry::{Entry, Family};

/// The family's table.
pub static FAMILY: Family =
    Family { name: "clipboard", summary: "Read, set and clear the clipboard.", operations: &OPERATIONS };

static OPERATIONS: [Entry; 3] =
    [Entry::blocking::<get::Op>(), Entry::blocking::<set::Op>(), Entry::blocking::<clear::Op>()];
