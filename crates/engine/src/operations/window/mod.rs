//! `window.*`: which windows there are, and changes of them, for scopes of the computer that grant it.

mod changing;
mod close;
mod focus;
mod list;
mod maximize;
mod minimize;
mod restore;
mod set_bounds;

use crate::registry::{Entry, Family};

pub(super) use changing::{CHANGE, changed, refused};
pub(super) use close::judge_closing;

/// The family's table.
pub static FAMILY: Family =
    Family { name: "window", summary: "List windows, focus, place and close them.", operations: &OPERATIONS };

static OPERATIONS: [Entry; 7] = [
    Entry::blocking::<list::Op>(),
    Entry::blocking::<focus::Op>(),
    Entry::blocking::<minimize::Op>(),
    Entry::blocking::<maximize::Op>(),
    Entry::blocking::<restore::Op>(),
    Entry::blocking::<close::Op>(),
    Entry::blocking::<set_bounds::Op>(),
];
