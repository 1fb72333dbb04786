//! The stages, in the order in which they are asked. One file each: a function that takes what it builds on and
//! returns what it found out.

pub(super) mod approval;
pub(super) mod capability;
pub(super) mod command;
pub(super) mod input;
pub(super) mod limits;
pub(super) mod needs;
pub(super) mod operation;
pub(super) mod path;
pub(super) mod scope;
pub(super) mod scope_type;
pub(super) mod screen;
pub(super) mod sensitive;

use bailiwick_contract::StageName;

/// One stage of the policy.
pub struct Stage {
    /// The name in denials, documents and the history.
    pub name: StageName,
    /// The question that it asks.
    pub asks: &'static str,
}

/// Every stage. Names come before rights, and rights before anything that could tell what exists.
pub const STAGES: &[Stage] = &[
    scope::STAGE,
    operation::STAGE,
    capability::STAGE,
    scope_type::STAGE,
    input::STAGE,
    needs::STAGE,
    path::STAGE,
    sensitive::STAGE,
    command::STAGE,
    screen::STAGE,
    limits::STAGE,
    approval::STAGE,
];
