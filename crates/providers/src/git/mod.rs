//! Git: finding the repository of a path, and a Git that runs nothing which the repository names.
//!
//! Decides nothing about rights, and shows nothing that is outside the scope.

mod check;
mod commits;
mod difference;
mod drivers;
mod neutral;
mod parse;
mod record;
mod repository;
mod revision;
mod runner;
mod status;
mod worktrees;

pub use check::{OngoingOperation, busy};
pub use commits::{Commit, LogRequest, Person, head, log, resolve, touches_scope};
pub use difference::{
    ChangedFile, Counts, DiffRange, Patch, changed_files, conflict_markers, patch, sections,
};
pub use parse::{Fields, Hash, iso_time, lossy};
pub use record::{Identity, StagedTree, end_merge, hooks, identity, merge_heads, record, staged_tree};
pub use repository::{Repository, RepositoryPath};
pub use revision::Revision;
pub use runner::{Git, GitCall, GitContext, GitOutput, Reach, word};
pub use status::{Branch, Change, Conflict, Status, StatusEntry, UntrackedMode, status, whole};
pub use worktrees::{
    CheckOut, WorkTree, add, branch_exists, filtered, ignored, in_scope, is_on_a_branch, opened_elsewhere,
    remove, shows_as_new, submodules, work_trees,
};
