//! A text in which what its grammar does not know is blank: macros in declarations, branches of `#if` that open what
//! another branch closes. Every byte keeps its place, so that what is found is found in the text itself.

mod branches;
mod c;
mod complete;
mod text;
mod tokens;

pub(super) use complete::completed;
pub(super) use text::{has_within, is_within, masked, without_bodies};
