//! `menu.*`: the menu bars of windows, for scopes of the computer that grant elements.

mod list;
mod select;

use crate::registry::{Entry, Family};

pub(super) use list::refused;

/// The family's table.
pub static FAMILY: Family = Family {
    name: "menu",
    summary: "List the menus of a window, and choose from them without opening them.",
    operations: &OPERATIONS,
};

static OPERATIONS: [Entry; 2] = [Entry::blocking::<list::Op>(), Entry::blocking::<select::Op>()];
