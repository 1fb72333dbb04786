//! `git.stage`: put changes into the index, to be committed.

use std::ffi::OsStr;

use crate::registry::prelude::*;
use bailiwick_contract::ErrorCode;
use bailiwick_platform::names::OsStrExt;
use bailiwick_providers::file::is_temporary;
use bailiwick_providers::git::{
    Change, Fields, Git, GitCall, RepositoryPath, StatusEntry, UntrackedMode, conflict_markers, lossy,
    status, whole,
};
use bailiwick_providers::search::OutputBudget;

use super::chosen::{IndexChange, Input, change_index, name, pathspecs, place, without_any};
use super::open::open;

/// The operation.
pub struct Op;

/// What was staged.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// The paths, in their order, as many as fit.
    pub staged: Vec<IndexChange>,
    /// How many paths in all.
    pub count: usize,
    /// Paths that were left alone because their content is closed in this scope.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub closed: Vec<String>,
    /// Whether `staged` was cut.
    pub truncated: bool,
    /// `true` if nothing was done, since `options.dryRun` was set.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub dry_run: bool,
}

impl Operation for Op {
    const SPEC: OperationSpec = OperationSpec {
        name: "git.stage",
        summary: "Stage changes for the next commit",
        details: "Stages new, changed and deleted files in the scope, each path taken literally. Sensitive and \
                  ignored files are never staged. A file that goes through a filter program (Git LFS) is refused, \
                  because no program of the repository is run. Conflict markers in a changed file are warned of.",
        capabilities: &[&[Capability::GitWrite]],
        effect: Effect::Writes,
        target: TargetRule::PathOrRoot(Access::Read),
        scope: ScopeNeed::FOLDER,
        options: &[CommonOption::DryRun],
        threads: Threads::Async,
        audited_fields: &["paths", "all", "dryRun"],
        example: r#"{"op":"git.stage","input":{"paths":["README.md"]}}"#,
        ..OperationSpec::USUAL
    };
    type Input = Input;
    type Options = NoFields;
    type Output = Output;
    const JUDGED: JudgedFields<Input> = JudgedFields::paths(|input| input.input_paths());
}

impl RunAsync for Op {
    async fn run(cx: &Context, permit: &Permit, input: &Input, _: &NoFields) -> Result<Output, Failure> {
        input.check()?;
        let git = open(cx, permit).await?;
        let specs = pathspecs(&git, permit, input.all)?;
        let found = status(&git, &specs, UntrackedMode::All).await?.entries;
        let idle = without_any(permit, &found);
        let (mut chosen, mut closed) = (Vec::new(), Vec::<&RepositoryPath>::new());
        for entry in &found {
            if entry.work_tree.is_none() && entry.conflict.is_none() {
                continue;
            }
            let is_own = entry.work_tree == Some(Change::Untracked)
                && entry.seen.rel.components().any(|name| is_temporary(OsStr::from_bytes(name)));
            if is_own {
                cx.warn(format!(
                    "`{}` is a temporary file of Bailiwick's and was left alone",
                    entry.seen.shown
                ));
            } else if entry.folder {
                cx.warn(format!("`{}` is a repository of its own and was left alone", entry.seen.shown));
            } else if entry.seen.closed.is_some() {
                closed.push(&entry.seen);
            } else {
                chosen.push(entry);
            }
        }
        if chosen.is_empty() {
            return Err(nothing(&git, &idle, &closed));
        }
        if !idle.is_empty() {
            cx.warn(format!("nothing to stage in {}: unchanged, ignored, or not there", idle.join(", ")));
        }
        if !closed.is_empty() {
            cx.warn(format!("{} closed files were left alone", closed.len()));
        }
        refuse_filtered(&git, &chosen).await?;
        for (marked, line) in conflict_markers(&git, &specs).await? {
            let entry = chosen.iter().find(|entry| name(&git, entry) == Some(&marked));
            if let Some(entry) = entry {
                cx.warn(format!(
                    "`{}` has conflict markers, the first at line {line}: resolve them and stage it again before \
                     you commit",
                    entry.seen.shown
                ));
            }
        }
        let dry_run = permit.common().dry_run;
        if !dry_run {
            change_index(&git, ["add", "-A"], names(&git, &chosen)).await?;
        }
        let mut room = OutputBudget::new(permit.limits().max_output_bytes);
        let done =
            chosen.iter().map(|entry| IndexChange { path: entry.seen.shown.clone(), change: change(entry) });
        let staged: Vec<IndexChange> = done.take_while(|done| room.take(done)).collect();
        cx.summarize(format!(
            "{} paths{}",
            chosen.len(),
            if dry_run { " would be staged" } else { " staged" }
        ));
        let closed = closed.into_iter().map(|seen| seen.shown.clone()).collect();
        Ok(Output { truncated: staged.len() < chosen.len(), count: chosen.len(), staged, closed, dry_run })
    }
}

fn nothing(git: &Git, idle: &[String], closed: &[&RepositoryPath]) -> Failure {
    if let Some(first) = closed.first() {
        let shown = &first.shown;
        return Failure::denied("sensitive", format!("only closed files changed there, such as `{shown}`"))
            .hint(git.repository.opening_hint(first));
    }
    let place = place(idle);
    Failure::new(ErrorCode::NotFound, format!("nothing to stage {place}: unchanged, ignored, or not there"))
        .hint("git.status shows what changed.")
}

fn names(git: &Git, chosen: &[&StatusEntry]) -> Vec<u8> {
    let mut names = Vec::new();
    for entry in chosen {
        if let Some(name) = name(git, entry) {
            names.extend_from_slice(name);
            names.push(0);
        }
    }
    names
}

/// Returns how a change will are in the index.
fn change(entry: &StatusEntry) -> Change {
    match entry.work_tree {
        Some(Change::Untracked) => Change::Added,
        Some(change) => change,
        None => Change::Modified,
    }
}

/// Refuses files whose content a program would have to convert.
async fn refuse_filtered(git: &Git, chosen: &[&StatusEntry]) -> Result<(), Failure> {
    let present: Vec<&StatusEntry> =
        chosen.iter().copied().filter(|entry| entry.work_tree != Some(Change::Deleted)).collect();
    let asked = GitCall::to_read(["check-attr", "--stdin", "-z", "filter"]).stdin(names(git, &present));
    let text = whole(git.run(asked).await?)?;
    let fields: Vec<&[u8]> = Fields::new(&text).collect();
    let mut filtered = fields.chunks_exact(3).filter(|row| !matches!(row[2], b"unspecified" | b"unset"));
    let Some(first) = filtered.next() else { return Ok(()) };
    let path = git.repository.seen_from_start(first[0]).map(|seen| seen.shown).unwrap_or_default();
    let (count, driver) = (1 + filtered.count(), lossy(first[2]));
    Err(Failure::denied(
        "git-filter",
        format!("{count} of the files go through a filter program, such as `{path}` through `{driver}`, and none is run"),
    )
    .detail("path", path)
    .detail("filter", driver)
    .hint("Leave them out. For the user: stage them yourself, or let the scope run `git add`."))
}
