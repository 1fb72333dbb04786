//! `git.*`: the repository that the scope's folder is, or is in.

mod blame;
mod branch_list;
mod changes;
mod chosen;
mod commit;
mod diff;
mod log;
mod open;
mod patch_page;
mod show;
mod stage;
mod status;
mod unstage;
mod worktree_create;
mod worktree_list;
mod worktree_remove;

use crate::registry::{Entry, Family};

pub(super) use open::open;
pub(super) use status::Counts;

/// The family's table.
pub static FAMILY: Family = Family {
    name: "git",
    summary: "See and record changes in a Git repository. Nothing that a repository names is run.",
    operations: &OPERATIONS,
};

static OPERATIONS: [Entry; 13] = [
    Entry::of::<status::Op>(),
    Entry::of::<changes::Op>(),
    Entry::of::<diff::Op>(),
    Entry::of::<log::Op>(),
    Entry::of::<show::Op>(),
    Entry::of::<stage::Op>(),
    Entry::of::<unstage::Op>(),
    Entry::of::<commit::Op>(),
    Entry::of::<blame::Op>(),
    Entry::of::<branch_list::Op>(),
    Entry::of::<worktree_list::Op>(),
    Entry::of::<worktree_create::Op>(),
    Entry::of::<worktree_remove::Op>(),
];
