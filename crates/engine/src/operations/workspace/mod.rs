//! `workspace.*`: the workspaces of displays, for scopes that grant windows.

mod list;
mod move_window;
mod number;
mod switch;

use crate::registry::{Entry, Family};

/// The family's table.
pub static FAMILY: Family = Family {
    name: "workspace",
    summary: "List workspaces, switch to one, and move windows between them.",
    operations: &OPERATIONS,
};

static OPERATIONS: [Entry; 3] =
    [Entry::blocking::<list::Op>(), Entry::blocking::<switch::Op>(), Entry::blocking::<move_window::Op>()];
