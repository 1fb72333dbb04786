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

pub(super) use open::open_until;
pub(super) use status::Counts;

/// The family's table.
pub static FAMILY: Family = Family {
    name: "git",
    summary: "See and record changes in a Git repository. Nothing that a repository names is run.",
    operations: &OPERATIONS,
};

static OPERATIONS: [Entry; 13] = [
    Entry::asynchronous::<status::Op>(),
    Entry::asynchronous::<changes::Op>(),
    Entry::asynchronous::<diff::Op>(),
    Entry::asynchronous::<log::Op>(),
    Entry::asynchronous::<show::Op>(),
    Entry::asynchronous::<stage::Op>(),
    Entry::asynchronous::<unstage::Op>(),
    Entry::asynchronous::<commit::Op>(),
    Entry::asynchronous::<blame::Op>(),
    Entry::asynchronous::<branch_list::Op>(),
    Entry::asynchronous::<worktree_list::Op>(),
    Entry::asynchronous::<worktree_create::Op>(),
    Entry::asynchronous::<worktree_remove::Op>(),
];
