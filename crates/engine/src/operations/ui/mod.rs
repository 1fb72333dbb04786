//! `ui.*`: the elements of windows, for scopes of the computer that say so.

mod acting;
mod action;
mod condition;
mod content;
mod context;
mod element_at;
mod expand;
mod fill;
mod find;
mod focus;
mod get_value;
mod inspect;
mod judging;
mod press;
mod read;
mod refusal;
mod scroll;
mod scroll_to;
mod scrolling;
mod see;
mod select;
mod set_value;
mod step;
mod r#type;
mod verify;
mod wait;

use crate::registry::{Entry, Family};

pub(super) use acting::{
    ACTION, Action, ActionOutput, CurrentElement, ElementName, LOOK, act, enabled, find, look_for,
    may_be_done, owner, resolved, scene_of, scene_of_target, snapshot_of, undecided, usable,
};
pub(super) use content::{Setting, set_one, text_of};
pub(super) use judging::{closed_processes, judge_prompt, judge_window};
pub(super) use press::press;
pub(super) use refusal::{
    candidates, failed, none_named, of_program, prompt, several_named, terminal, unread,
};
pub(super) use see::{READING, USUAL, fit_lines, listed, room, target_scene, target_window};

/// The family's table.
pub static FAMILY: Family = Family {
    name: "ui",
    summary: "Read the elements of windows, and use them without the pointer.",
    operations: &OPERATIONS,
};

static OPERATIONS: [Entry; 20] = [
    Entry::blocking::<see::Op>(),
    Entry::blocking::<context::Op>(),
    Entry::blocking::<find::Op>(),
    Entry::blocking::<read::Op>(),
    Entry::blocking::<get_value::Op>(),
    Entry::blocking::<inspect::Op>(),
    Entry::blocking::<element_at::Op>(),
    Entry::blocking::<verify::Op>(),
    Entry::asynchronous::<wait::Op>(),
    Entry::blocking::<press::Op>(),
    Entry::blocking::<action::Op>(),
    Entry::blocking::<focus::Op>(),
    Entry::blocking::<scroll_to::Op>(),
    Entry::blocking::<scroll::Op>(),
    Entry::blocking::<select::Op>(),
    Entry::blocking::<expand::Op>(),
    Entry::blocking::<set_value::Op>(),
    Entry::blocking::<fill::Op>(),
    Entry::blocking::<r#type::Op>(),
    Entry::blocking::<step::Op>(),
];
