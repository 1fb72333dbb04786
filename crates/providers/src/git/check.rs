//! What a repository is in the middle of, as its own files say.

use serde::Serialize;

use bailiwick_contract::Failure;
use bailiwick_platform::fs::RelPath;

use super::Repository;

/// An operation of Git that was begun and is not done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum OngoingOperation {
    /// A merge.
    Merge,
    /// A rebase.
    Rebase,
    /// Applying patches.
    ApplyMailbox,
    /// A cherry-pick.
    CherryPick,
    /// A revert.
    Revert,
    /// A bisection.
    Bisect,
}

/// Returns what the repository is in the middle of.
///
/// # Errors
/// `not_found` if Git's own folder is gone.
pub fn busy(repository: &Repository) -> Result<Option<OngoingOperation>, Failure> {
    let own = repository.own()?;
    let signs = [
        ("rebase-merge", OngoingOperation::Rebase),
        ("rebase-apply/applying", OngoingOperation::ApplyMailbox),
        ("rebase-apply", OngoingOperation::Rebase),
        ("MERGE_HEAD", OngoingOperation::Merge),
        ("CHERRY_PICK_HEAD", OngoingOperation::CherryPick),
        ("REVERT_HEAD", OngoingOperation::Revert),
        ("BISECT_LOG", OngoingOperation::Bisect),
    ];
    let found = signs
        .into_iter()
        .find(|(name, _)| RelPath::parse(name.as_bytes()).is_ok_and(|path| own.stat(&path).is_ok()));
    Ok(found.map(|(_, busy)| busy))
}
