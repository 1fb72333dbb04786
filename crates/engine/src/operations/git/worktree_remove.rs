//! `git.worktree_remove`: a working tree goes, with all that is in it.

use std::ffi::OsStr;
use std::path::Path;

use crate::programs::{CommandChanges, CommandCoverage};
use crate::registry::prelude::*;
use bailiwick_contract::{ErrorCode, RawPath};
use bailiwick_platform::names::OsStrExt;
use bailiwick_policy::{InputPath, PermittedPath, WritablePath};
use bailiwick_providers::git::{
    Change, Git, OngoingOperation, UntrackedMode, WorkTree, busy, ignored, is_on_a_branch, remove, status,
    submodules, work_trees,
};
use bailiwick_providers::search::OutputBudget;

use super::open::{open, open_work_tree};

/// How many names a refusal tells.
const SHOWN_NAMES: usize = 10;

/// The operation.
pub struct Op;

/// Which one.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Input {
    /// The top of the working tree.
    pub path: RawPath,
}

/// How far it goes.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct Options {
    /// Remove it though something in it is nowhere else; default false.
    pub force: bool,
}

/// What is gone.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// The top of the working tree.
    pub path: String,
    /// Its branch, which stays; `null` if it was on none.
    pub branch: Option<String>,
    /// The commit that was checked out.
    pub commit: Option<String>,
    /// What was nowhere else and is lost, in the order of paths, as much as fits.
    pub lost: Vec<LostPath>,
    /// How much that is.
    pub counts: Counts,
    /// What was in progress there and is lost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub in_progress: Option<OngoingOperation>,
    /// Whether the commit is on no branch, so that it will be lost in time. Its hash still finds it for a while.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub commit_on_no_branch: bool,
    /// What was removed, where `policy.undo` is `commands`: history.undo brings the files back, not what Git knew of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changes: Option<CommandChanges>,
    /// Whether `lost` was cut.
    pub truncated: bool,
    /// `true` if nothing was removed, since `options.dryRun` was set.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub dry_run: bool,
}

/// How many files are lost; a folder that stands for everything in it counts once.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Counts {
    /// Changes that were not committed.
    pub changed: usize,
    /// Files that Git does not know.
    pub untracked: usize,
    /// Files that are ignored. They go without `force`.
    pub ignored: usize,
    /// Other repositories in it.
    pub submodules: usize,
}

/// Why something is nowhere else.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum LossReason {
    /// It was changed and not committed.
    Changed,
    /// Git does not know it.
    Untracked,
    /// It is ignored.
    Ignored,
    /// It is another repository.
    Submodule,
}

/// One path that is lost.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct LostPath {
    /// The path.
    pub path: String,
    /// Why.
    pub why: LossReason,
}

impl Operation for Op {
    const SPEC: OperationSpec = OperationSpec {
        name: "git.worktree_remove",
        summary: "Remove a working tree",
        details: "Refuses where uncommitted changes, new files, submodules or commits on no branch would be lost, \
                  unless `force` is set. Ignored files go with it. Its branch stays. `dryRun` shows what \
                  would be lost. Where `policy.undo` is `commands`, history.undo brings its files back; elsewhere nothing does. The main working tree, and one that is locked, is not removed.",
        capabilities: &[&[Capability::GitWrite], &[Capability::FsWrite]],
        effect: Effect::Destroys,
        target: TargetRule::PathOrRoot(Access::Read),
        scope: ScopeNeed::FOLDER,
        options: &[CommonOption::DryRun],
        timeout_seconds: 300,
        threads: Threads::Async,
        audited_fields: &["path", "force", "dryRun"],
        example: r#"{"op":"git.worktree_remove","input":{"path":"trees/fix-typo"}}"#,
        ..OperationSpec::USUAL
    };
    type Input = Input;
    type Options = Options;
    type Output = Output;
    const JUDGED: JudgedFields<Input> = JudgedFields::paths(|input| {
        vec![InputPath { field: "input.path", path: input.path.clone(), access: Access::Write }]
    });
}

impl RunAsync for Op {
    async fn run(cx: &Context, permit: &Permit, _: &Input, options: &Options) -> Result<Output, Failure> {
        let place = permit.writable_paths().first().cloned();
        let place = place.ok_or_else(|| Failure::invalid("input.path", "`input.path` is needed"))?;
        // Links on the way lead to the folder that is meant, and were judged.
        let (place, is_there) = match place.open_dir() {
            Ok((_, real)) => (real, true),
            Err(failure) if failure.code == ErrorCode::NotFound => (place, false),
            Err(failure) => return Err(failure),
        };
        let git = open(cx, permit).await?;
        let tree = find(&git, &place).await?;
        let mut found = match is_there {
            true => look_in(cx, permit, &place, &tree, &git.repository.common_dir).await?,
            false => LossReport::default(),
        };
        if let (Some(commit), None) = (&tree.commit, &tree.branch) {
            found.commit_on_no_branch = !is_on_a_branch(&git, commit).await?;
        }
        if !options.force {
            found.refuse(&place)?;
        }
        let dry_run = permit.common().dry_run;
        let mut changes = None;
        if !dry_run {
            let coverage =
                if is_there { CommandCoverage::of_folders(cx, permit, Vec::new()).await? } else { None };
            remove(&git, &tree).await?;
            if is_there {
                remove_empty(&place)?;
            }
            if let Some(coverage) = coverage {
                changes = coverage.finish(cx).await;
            }
        }
        let mut room = OutputBudget::new(permit.limits().max_output_bytes);
        let count = found.lost.len();
        let lost: Vec<LostPath> = found.lost.into_iter().take_while(|lost| room.take(lost)).collect();
        let is_kept = changes.as_ref().is_some_and(|changes| changes.undo_id.is_some());
        if is_kept {
            cx.warn("history.undo brings the files back, but not the working tree: Git does not know the folder any more.");
        } else if count > 0 && !dry_run {
            cx.warn("What was lost cannot be taken back.");
        }
        cx.summarize(format!("{count} paths {}", if dry_run { "would be lost" } else { "lost" }));
        Ok(Output {
            path: place.shown(),
            branch: tree.branch,
            commit: tree.commit,
            truncated: lost.len() < count,
            lost,
            counts: found.counts,
            in_progress: found.in_progress,
            commit_on_no_branch: found.commit_on_no_branch,
            changes,
            dry_run,
        })
    }
}

/// Finds the working tree at a place, if it is one that may be removed.
async fn find(git: &Git, place: &PermittedPath) -> Result<WorkTree, Failure> {
    let real = place.on_disk()?;
    let shown = place.shown();
    let found = work_trees(git).await?.into_iter().find(|tree| tree.path == real);
    let tree = found.ok_or_else(|| {
        Failure::new(ErrorCode::NotFound, format!("`{shown}` is no working tree of the target's repository"))
            .detail("field", "input.path")
            .hint("git.worktree_list lists them.")
    })?;
    let refuse = |why: &str| Failure::new(ErrorCode::Conflict, format!("`{shown}` {why}"));
    if tree.is_main {
        return Err(refuse("is the main working tree, which holds the repository itself"));
    }
    if tree.path == git.repository.work_tree {
        return Err(refuse("is the working tree that `target` is in")
            .hint("Choose another working tree of the repository by `target`."));
    }
    if let Some(reason) = &tree.locked {
        return Err(refuse("is locked")
            .detail("reason", reason.clone())
            .hint("For the user: `git worktree unlock`, if it is not on a disk that is away for a while."));
    }
    Ok(tree)
}

/// What a working tree has that is nowhere else.
#[derive(Debug, Default)]
struct LossReport {
    lost: Vec<LostPath>,
    counts: Counts,
    in_progress: Option<OngoingOperation>,
    commit_on_no_branch: bool,
}

async fn look_in(
    cx: &Context,
    permit: &Permit,
    place: &PermittedPath,
    tree: &WorkTree,
    common_dir: &Path,
) -> Result<LossReport, Failure> {
    // By its own configuration, in which nothing that it names is run either.
    let git = open_work_tree(cx, permit, place).await?;
    let repository = &git.repository;
    if repository.work_tree != tree.path || !repository.is_linked() || repository.common_dir != common_dir {
        return Err(Failure::new(
            ErrorCode::Conflict,
            format!("the `.git` of `{}` does not lead to the target's repository", place.shown()),
        )
        .hint("For the user: `git worktree repair` or `git worktree prune`, whichever is right."));
    }
    let mut found = LossReport { in_progress: busy(&git.repository)?, ..LossReport::default() };
    for entry in status(&git, &[], UntrackedMode::All).await?.entries {
        let is_new = entry.work_tree == Some(Change::Untracked);
        let (count, why) = if is_new {
            (&mut found.counts.untracked, LossReason::Untracked)
        } else {
            (&mut found.counts.changed, LossReason::Changed)
        };
        *count += 1;
        found.lost.push(LostPath { path: entry.seen.shown, why });
    }
    for (names, why) in
        [(ignored(&git).await?, LossReason::Ignored), (submodules(&git).await?, LossReason::Submodule)]
    {
        for name in names {
            if why == LossReason::Submodule && !is_populated(&git, &name) {
                continue;
            }
            let Some(seen) = git.repository.seen_from_start(&name) else { continue };
            *(if why == LossReason::Ignored {
                &mut found.counts.ignored
            } else {
                &mut found.counts.submodules
            }) += 1;
            found.lost.push(LostPath { path: seen.shown, why });
        }
    }
    found.lost.sort();
    Ok(found)
}

fn is_populated(git: &Git, name: &[u8]) -> bool {
    let Ok(own) = git.repository.start.child(OsStr::from_bytes(name)) else { return true };
    // Anything but an empty folder.
    own.open_dir_itself().is_ok_and(|dir| dir.entries(1).map_or(true, |entries| !entries.is_empty()))
}

impl LossReport {
    fn refuse(&self, place: &PermittedPath) -> Result<(), Failure> {
        let Counts { changed, untracked, submodules, .. } = self.counts;
        let mut reasons: Vec<String> = [
            (changed, "uncommitted changes"),
            (untracked, "files that Git does not know"),
            (submodules, "submodules"),
        ]
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{count} {what}"))
        .collect();
        if self.in_progress.is_some() {
            reasons.push("something in progress".to_owned());
        }
        if self.commit_on_no_branch {
            reasons.push("commits on no branch".to_owned());
        }
        if reasons.is_empty() {
            return Ok(());
        }
        let kept = self.lost.iter().filter(|lost| lost.why != LossReason::Ignored);
        let names: Vec<&str> = kept.map(|lost| lost.path.as_str()).take(SHOWN_NAMES).collect();
        Err(Failure::new(
            ErrorCode::Conflict,
            format!("`{}` has what is nowhere else: {}", place.shown(), reasons.join(", ")),
        )
        .detail("rule", "worktree-dirty")
        .detail("paths", names)
        .hint("Commit there first, or set `options.force` to lose it."))
    }
}

/// Removes the top that Git may have left, if it is empty.
fn remove_empty(place: &WritablePath) -> Result<(), Failure> {
    let (parent, name, path) = place.open_parent()?;
    if parent.stat(&name).is_err() {
        return Ok(());
    }
    parent.remove_dir(&name).map_err(|_| {
        Failure::new(
            ErrorCode::ExecutionFailed,
            format!("`{}` is no working tree any more, but not all in it could be removed", path.shown()),
        )
        .hint("Look at what is left with file.list, and remove it by file.delete.")
    })
}
