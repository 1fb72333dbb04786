//! `git.*`: the repository that the scope's folder is, or lies in.

mod open;
mod status;

use crate::registry::{Entry, Family};

/// The family's table.
pub static FAMILY: Family = Family {
    name: "git",
    summary: "See and record changes in a Git repository. Nothing that a repository names is run.",
    operations: &OPERATIONS,
};

static OPERATIONS: [Entry; 1] = [Entry::of::<status::Op>()];
