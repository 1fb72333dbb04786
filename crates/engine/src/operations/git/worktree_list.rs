//! `git.worktree_list`: the working trees of a repository that are in the scope.

use crate::registry::prelude::*;
use bailiwick_providers::git::{Git, WorkTree, in_scope, work_trees};
use bailiwick_providers::search::OutputBudget;

use super::open::open;

/// The operation.
pub struct Op;

/// The working trees.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// Those that are in the scope, the main one first.
    pub worktrees: Vec<WorkTreeEntry>,
    /// How many are outside the scope; nothing is told of them.
    pub outside: usize,
    /// Whether more is left; see `nextCursor`.
    pub truncated: bool,
    /// Continues where the list was cut: send it as `options.cursor`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// One working tree.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorkTreeEntry {
    /// Its top.
    pub path: String,
    /// The branch; `null` if `HEAD` is detached.
    pub branch: Option<String>,
    /// The commit that is checked out; `null` if there is none yet.
    pub commit: Option<String>,
    /// Whether it is the one that the repository was made with, which is not removed.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub main: bool,
    /// Whether it is the one that `target` is in.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub current: bool,
    /// Whether it is a repository without files.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub bare: bool,
    /// Why it may not be removed; an empty text if nobody said why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub locked: Option<String>,
    /// Whether its folder is gone, so that only Git's note of it is left.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub missing: bool,
}

impl Operation for Op {
    const SPEC: OperationSpec = OperationSpec {
        name: "git.worktree_list",
        summary: "List the working trees of a repository",
        capabilities: &[&[Capability::GitRead, Capability::FsRead]],
        effect: Effect::ReadOnly,
        target: TargetRule::PathOrRoot(Access::Read),
        scope: ScopeNeed::FOLDER,
        options: &[CommonOption::Cursor],
        threads: Threads::Async,
        example: r#"{"op":"git.worktree_list"}"#,
        ..OperationSpec::USUAL
    };
    type Input = NoFields;
    type Options = NoFields;
    type Output = Output;
    const JUDGED: JudgedFields<NoFields> = JudgedFields::NONE;
}

impl RunAsync for Op {
    async fn run(cx: &Context, permit: &Permit, _: &NoFields, _: &NoFields) -> Result<Output, Failure> {
        let first = permit.common().cursor.as_deref().map(position).transpose()?.unwrap_or(0);
        let git = open(cx, permit).await?;
        let found = work_trees(&git).await?;
        let shown: Vec<WorkTreeEntry> = found.iter().filter_map(|tree| entry(&git, tree)).collect();
        let (outside, count) = (found.len() - shown.len(), shown.len());
        let mut room = OutputBudget::new(permit.limits().max_output_bytes);
        let page: Vec<WorkTreeEntry> =
            shown.into_iter().skip(first).take_while(|tree| room.take(tree)).collect();
        let end = first + page.len();
        cx.summarize(format!("{} of {count} working trees", page.len()));
        Ok(Output {
            truncated: end < count,
            next_cursor: (end < count).then(|| format!("gw1.{end}")),
            worktrees: page,
            outside,
        })
    }
}

fn position(cursor: &str) -> Result<usize, Failure> {
    cursor.strip_prefix("gw1.").and_then(|count| count.parse().ok()).ok_or_else(|| {
        Failure::invalid("options.cursor", "`options.cursor` is not a cursor of git.worktree_list")
            .hint("Send the `nextCursor` of an earlier git.worktree_list.")
    })
}

fn entry(git: &Git, tree: &WorkTree) -> Option<WorkTreeEntry> {
    let path = in_scope(git.scope(), &tree.path)?;
    Some(WorkTreeEntry {
        path: path.shown(),
        branch: tree.branch.clone(),
        commit: tree.commit.clone(),
        main: tree.is_main,
        current: tree.path == git.repository.work_tree,
        bare: tree.is_bare,
        locked: tree.locked.clone(),
        missing: path.stat().is_err(),
    })
}
