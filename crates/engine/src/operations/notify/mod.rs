//! `notify.*`: messages to the user.

mod limit;
mod send;

use crate::registry::{Entry, Family};

/// The family's table.
pub static FAMILY: Family =
    Family { name: "notify", summary: "Show the user a message on the desktop.", operations: &OPERATIONS };

static OPERATIONS: [Entry; 1] = [Entry::blocking::<send::Op>()];
