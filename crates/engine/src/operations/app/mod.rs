//! `app.*`: applications that have windows, and programs that are started on private displays.

mod activate;
mod changing;
mod frontmost;
mod hide;
mod launch;
mod list;
mod open;
mod quit;
mod relaunch;
mod unhide;

use crate::registry::{Entry, Family};

/// The family's table.
pub static FAMILY: Family = Family {
    name: "app",
    summary: "List apps and act on all their windows; start programs on private displays.",
    operations: &OPERATIONS,
};

static OPERATIONS: [Entry; 9] = [
    Entry::blocking::<list::Op>(),
    Entry::blocking::<frontmost::Op>(),
    Entry::blocking::<activate::Op>(),
    Entry::blocking::<hide::Op>(),
    Entry::blocking::<unhide::Op>(),
    Entry::blocking::<quit::Op>(),
    Entry::asynchronous::<launch::Op>(),
    Entry::asynchronous::<open::Op>(),
    Entry::blocking::<relaunch::Op>(),
];
