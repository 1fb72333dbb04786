//! `screen.*`: what the displays show, for scopes of the computer that say so.

mod capture;
mod capture_process;
mod capture_window;
mod captures;
mod ground;
mod list;
mod ocr;
mod place;
mod read_capture;
mod record;
mod refusal;
mod taking;

use crate::registry::{Entry, Family};

pub(super) use list::{WindowRows, area, shown_title, window_rows};
pub use place::PointOutput;
pub(super) use place::of_point;
pub(super) use read_capture::judge as judge_capture;
pub use refusal::{unavailable, withheld};

/// The family's table.
pub static FAMILY: Family = Family {
    name: "screen",
    summary: "List displays and windows, take pictures of them, record them, and read and find what is there.",
    operations: &OPERATIONS,
};

static OPERATIONS: [Entry; 9] = [
    Entry::blocking::<list::Op>(),
    Entry::blocking::<capture::Op>(),
    Entry::blocking::<capture_window::Op>(),
    Entry::blocking::<capture_process::Op>(),
    Entry::asynchronous::<ocr::Op>(),
    Entry::asynchronous::<ground::Op>(),
    Entry::asynchronous::<record::Op>(),
    Entry::blocking::<captures::Op>(),
    Entry::blocking::<read_capture::Op>(),
];
