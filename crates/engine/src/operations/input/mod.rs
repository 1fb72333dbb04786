//! `input.*`: pointer and keyboard, for scopes of the computer that let clients use them.

mod click;
mod cursor;
mod drag;
mod key;
mod key_hold;
mod keys;
mod making;
mod r#move;
mod point;
mod refusal;
mod scroll;
mod r#type;

use crate::registry::{Entry, Family};

pub(super) use keys::Chord;
pub(super) use making::{INPUT, Options, Seat, app_of, check_foreground, scene_to_judge, steps, window_of};
pub(super) use point::InputTarget;

/// The family's table.
pub static FAMILY: Family =
    Family { name: "input", summary: "Use pointer and keyboard, as the user does.", operations: &OPERATIONS };

static OPERATIONS: [Entry; 8] = [
    Entry::blocking::<r#move::Op>(),
    Entry::blocking::<click::Op>(),
    Entry::blocking::<drag::Op>(),
    Entry::blocking::<scroll::Op>(),
    Entry::blocking::<key::Op>(),
    Entry::blocking::<key_hold::Op>(),
    Entry::blocking::<r#type::Op>(),
    Entry::blocking::<cursor::Op>(),
];
