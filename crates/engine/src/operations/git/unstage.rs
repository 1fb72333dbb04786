//! `git.unstage`: take changes out of the index; the files stay as they are.

use crate::registry::prelude::*;
use bailiwick_contract::ErrorCode;
use bailiwick_providers::git::{Change, StatusEntry, UntrackedMode, status};
use bailiwick_providers::search::OutputBudget;

use super::chosen::{IndexChange, Input, change_index, pathspecs, place, without_any};
use super::open::open;

/// The operation.
pub struct Op;

/// What was unstaged.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// The paths with the change that was staged, in their order, as many as fit.
    pub unstaged: Vec<IndexChange>,
    /// How many paths in all.
    pub count: usize,
    /// Whether `unstaged` was cut.
    pub truncated: bool,
    /// `true` if nothing was done, since `options.dryRun` was set.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub dry_run: bool,
}

impl Operation for Op {
    const SPEC: OperationSpec = OperationSpec {
        name: "git.unstage",
        summary: "Take changes out of the next commit; files stay as they are",
        details: "Makes the index as it is in the last commit, for paths in the scope, each taken literally. The \
                  files themselves are not touched. A file in conflict keeps the versions that Git has of it, and is left alone.",
        capabilities: &[&[Capability::GitWrite]],
        effect: Effect::Writes,
        target: TargetRule::PathOrRoot(Access::Read),
        scope: ScopeNeed::FOLDER,
        options: &[CommonOption::DryRun],
        threads: Threads::Async,
        audited_fields: &["paths", "all", "dryRun"],
        example: r#"{"op":"git.unstage","input":{"all":true}}"#,
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
        let found = status(&git, &specs, UntrackedMode::None).await?.entries;
        let (unresolved, found): (Vec<StatusEntry>, Vec<StatusEntry>) = found
            .into_iter()
            .filter(|entry| entry.index.is_some() || entry.conflict.is_some())
            .partition(|entry| entry.conflict.is_some());
        if let (Some(first), true) = (unresolved.first(), found.is_empty()) {
            return Err(in_conflict(unresolved.len(), first));
        }
        if let Some(first) = unresolved.first() {
            cx.warn(match unresolved.len() {
                1 => format!("`{}` is in conflict and was left alone", first.seen.shown),
                _ => format!("{} and were left alone", shown(unresolved.len(), first)),
            });
        }
        let known = [&found[..], &unresolved[..]].concat();
        let idle = without_any(permit, &known);
        if found.is_empty() {
            return Err(Failure::new(ErrorCode::NotFound, format!("nothing is staged {}", place(&idle)))
                .hint("git.status shows what is staged."));
        }
        if !idle.is_empty() {
            cx.warn(format!("nothing is staged in {}", idle.join(", ")));
        }
        let dry_run = permit.common().dry_run;
        if !dry_run {
            let mut names = Vec::new();
            for entry in &found {
                let from = entry.from.as_ref().filter(|_| entry.index == Some(Change::Renamed));
                let both = [Some(&entry.seen.rel), from.map(|from| &from.rel)];
                for name in both.into_iter().flatten().filter_map(|rel| git.repository.named_from_start(rel))
                {
                    names.extend_from_slice(name);
                    names.push(0);
                }
            }
            change_index(&git, ["reset", "-q"], names).await?;
        }
        let mut room = OutputBudget::new(permit.limits().max_output_bytes);
        let done = found
            .iter()
            .filter_map(|entry| Some(IndexChange { path: entry.seen.shown.clone(), change: entry.index? }));
        let unstaged: Vec<IndexChange> = done.take_while(|done| room.take(done)).collect();
        cx.summarize(format!(
            "{} paths{}",
            found.len(),
            if dry_run { " would be unstaged" } else { " unstaged" }
        ));
        Ok(Output { truncated: unstaged.len() < found.len(), count: found.len(), unstaged, dry_run })
    }
}

fn shown(count: usize, first: &StatusEntry) -> String {
    format!("{count} files are in conflict (such as `{}`)", first.seen.shown)
}

/// Refuses to take a conflict out of the index: the versions of both sides that Git has would go, and a commit could
/// conclude the merge without them.
fn in_conflict(count: usize, first: &StatusEntry) -> Failure {
    let message = match count {
        1 => format!("`{}` is in conflict, so nothing of it is staged", first.seen.shown),
        _ => format!("{}, so nothing of them is staged", shown(count, first)),
    };
    Failure::new(ErrorCode::Conflict, message)
        .detail("rule", "unmerged")
        .detail("path", first.seen.shown.clone())
        .hint("Resolve the conflict in the file, and stage it with git.stage.")
}
