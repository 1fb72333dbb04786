//! `tray.*`: the icons of status areas, for scopes that grant elements.

pub(super) mod finding;
mod list;
mod select;

use crate::registry::{Entry, Family};

/// The family's table.
pub static FAMILY: Family = Family {
    name: "tray",
    summary: "List status icons and their menus, and use them without the pointer.",
    operations: &OPERATIONS,
};

static OPERATIONS: [Entry; 2] = [Entry::blocking::<list::Op>(), Entry::blocking::<select::Op>()];
