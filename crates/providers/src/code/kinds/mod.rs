//! What the nodes of each grammar are to a walk that looks for definitions: a file for each language.
//!
//! The rules look at one node and its nearest children, never at a whole tree; the walk continues from there.

mod bash;
mod c;
mod c_sharp;
mod node;
mod go;
mod java;
mod javascript;
mod kotlin;
mod php;
mod python;
mod ruby;
mod rules;
mod rust;
mod swift;

pub(super) use c::is_guard;
pub(super) use node::{Candidate, NodeContext, Step};
use rules::child_of_kind;
pub(super) use rules::{has_rules, look};
