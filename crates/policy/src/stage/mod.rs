//! The stages, in the order in which they are asked. One file each.

mod approval;
mod capability;
mod command;
mod draft;
mod input;
mod limits;
mod operation;
mod path;
mod scope;
mod scope_type;
mod screen;
mod sensitive;

use bailiwick_contract::Failure;

use super::Case;

pub(super) use draft::{Draft, Verdicts};

/// One stage of the policy.
pub struct Stage {
    /// The name in denials, documents and the history.
    pub name: &'static str,
    /// The question that it asks.
    pub asks: &'static str,
    /// The stages without whose consent it cannot be asked.
    pub builds_on: &'static [&'static str],
    /// Asks it; what it finds out goes into the draft.
    pub(super) check: for<'a> fn(&Case<'a>, &mut Draft<'a>) -> Result<(), Failure>,
    /// Says in words what it decided.
    pub(super) note: fn(&Case<'_>, &Draft<'_>) -> String,
}

/// Every stage. Names come before rights, and rights before anything that could tell what exists.
pub const STAGES: &[Stage] = &[
    scope::STAGE,
    operation::STAGE,
    capability::STAGE,
    scope_type::STAGE,
    input::STAGE,
    path::STAGE,
    sensitive::STAGE,
    command::STAGE,
    screen::STAGE,
    limits::STAGE,
    approval::STAGE,
];
