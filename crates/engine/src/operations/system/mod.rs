//! `system.*`: battery, time, brightness and volume of the computer.

mod device;
mod set_brightness;
mod set_volume;
mod state;

use crate::registry::{Entry, Family};

/// The family's table.
pub static FAMILY: Family = Family {
    name: "system",
    summary: "Read battery, time, brightness and volume of the computer, and set the last two.",
    operations: &OPERATIONS,
};

static OPERATIONS: [Entry; 3] = [
    Entry::blocking::<state::Op>(),
    Entry::blocking::<set_brightness::Op>(),
    Entry::blocking::<set_volume::Op>(),
];
