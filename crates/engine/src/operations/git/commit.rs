//! `git.commit`: record what is staged.

use crate::registry::prelude::*;
use bailiwick_contract::ErrorCode;
use bailiwick_providers::git::{
    Counts, DiffRange, Git, Hash, OngoingOperation, Person, StagedTree, busy, changed_files, end_merge, head,
    hooks, identity, merge_heads, record, staged_tree,
};
use bailiwick_providers::search::OutputBudget;

use super::open::open;
use super::patch_page::FileEntry;

/// The longest message.
const MAX_MESSAGE_BYTES: usize = 65_536;
/// How many names of closed files a refusal tells.
const SHOWN_CLOSED: usize = 10;

/// The operation.
pub struct Op;

/// What the commit says.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Input {
    /// The message: a line that says what changes, and after an empty line why.
    pub message: String,
    /// Commit only if `HEAD` is this commit, by its whole hash.
    #[serde(default)]
    pub if_head: Option<String>,
}

/// The commit.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// Its hash; `null` with `dryRun`.
    pub commit: Option<String>,
    /// The hashes of its parents.
    pub parents: Vec<String>,
    /// Who wrote it, by Git's settings.
    pub author: Person,
    /// The first line of its message.
    pub subject: String,
    /// How much it changes.
    pub counts: Counts,
    /// The files that it changes, in the order of paths, as many as fit.
    pub files: Vec<FileEntry>,
    /// Whether `files` was cut.
    pub truncated: bool,
    /// `true` if nothing was committed, since `options.dryRun` was set.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub dry_run: bool,
}

impl Operation for Op {
    const SPEC: OperationSpec = OperationSpec {
        name: "git.commit",
        summary: "Commit what is staged",
        details: "Commits the index, as git.stage made it, by the author that Git's settings name. Refuses if the \
                  index contains changes outside the scope, or of sensitive files. Hooks are not run, and nothing is \
                  signed; a warning names the hooks that are there.",
        capabilities: &[&[Capability::GitWrite]],
        effect: Effect::Writes,
        target: TargetRule::PathOrRoot(Access::Read),
        scope: ScopeNeed::FOLDER,
        options: &[CommonOption::DryRun],
        threads: Threads::Async,
        audited_fields: &["message", "ifHead", "dryRun"],
        example: r#"{"op":"git.commit","input":{"message":"docs: say how to begin"}}"#,
        ..OperationSpec::USUAL
    };
    type Input = Input;
    type Options = NoFields;
    type Output = Output;
    const JUDGED: JudgedFields<Input> = JudgedFields::NONE;
}

impl RunAsync for Op {
    async fn run(cx: &Context, permit: &Permit, input: &Input, _: &NoFields) -> Result<Output, Failure> {
        let message = message(&input.message)?;
        let git = open(cx, permit).await?;
        let parent = head(&git).await?;
        if let Some(wanted) = input.if_head.as_deref().filter(|wanted| !wanted.is_empty())
            && parent.as_deref() != Some(wanted)
        {
            return Err(Failure::new(
                ErrorCode::Conflict,
                "`HEAD` is not the commit that `input.ifHead` names",
            )
            .detail("head", parent)
            .hint("Look at git.log, then send the hash that is right."));
        }
        let merging = in_progress(&git)?;
        let mut parents: Vec<Hash> = parent.iter().cloned().collect();
        if merging {
            parents.extend(merge_heads(&git)?);
        }
        let staged = staged_tree(&git, parent.as_ref()).await?;
        judge(&git, &staged, merging)?;
        let identity = identity(&git).await?;
        let files = match &parent {
            Some(parent) => {
                let between = DiffRange::Commits(parent.clone(), staged.tree.clone());
                changed_files(&git, &between, &[]).await?
            }
            None => changed_files(&git, &DiffRange::CommitAndIndex(None), &[]).await?,
        };
        let dry_run = permit.common().dry_run;
        let commit = if dry_run {
            None
        } else {
            let commit = record(&git, &staged.tree, &parents, &message, &identity).await?;
            if merging && end_merge(&git).await.is_err() {
                cx.warn("the merge was committed, but Git still shows it as in progress");
            }
            Some(commit)
        };
        let hooks = hooks(&git)?;
        if !hooks.is_empty() {
            cx.warn(format!("not run, since hooks are programs of the repository: {}", hooks.join(", ")));
        }
        let mut room = OutputBudget::new(permit.limits().max_output_bytes);
        let shown: Vec<FileEntry> =
            files.iter().map(FileEntry::of).take_while(|file| room.take(file)).collect();
        let subject = message.lines().next().unwrap_or_default().to_owned();
        let counts = Counts::of(&files);
        let short = commit.as_deref().map_or("would commit", |hash| hash.get(..10).unwrap_or(hash));
        cx.summarize(format!(
            "{short}, {} files, +{} -{}",
            counts.files, counts.insertions, counts.deletions
        ));
        Ok(Output {
            commit,
            parents,
            author: identity.author,
            subject,
            counts,
            truncated: shown.len() < files.len(),
            files: shown,
            dry_run,
        })
    }
}

/// Checks a message and ends it in one line feed.
fn message(text: &str) -> Result<String, Failure> {
    let text = text.trim();
    let wrong = |why: &str| Err(Failure::invalid("input.message", format!("`input.message` {why}")));
    if text.is_empty() {
        return wrong("is empty");
    }
    if text.len() > MAX_MESSAGE_BYTES {
        return wrong("has more than 65,536 bytes");
    }
    if text.chars().any(|c| c.is_control() && !matches!(c, '\n' | '\t' | '\r')) {
        return wrong("contains control characters");
    }
    Ok(format!("{}\n", text.replace("\r\n", "\n")))
}

/// Returns whether a merge is to be committed.
fn in_progress(git: &Git) -> Result<bool, Failure> {
    let what = match busy(&git.repository)? {
        None | Some(OngoingOperation::Bisect) => return Ok(false),
        Some(OngoingOperation::Merge) => return Ok(true),
        Some(OngoingOperation::Rebase) => "rebase",
        Some(OngoingOperation::ApplyMailbox) => "am",
        Some(OngoingOperation::CherryPick) => "cherry-pick",
        Some(OngoingOperation::Revert) => "revert",
    };
    Err(Failure::new(
        ErrorCode::Conflict,
        format!("a `git {what}` is in progress, which makes its commits itself"),
    )
    .hint(format!("Finish it by `git {what} --continue`, where the scope runs commands, or end it.")))
}

fn judge(git: &Git, staged: &StagedTree, merging: bool) -> Result<(), Failure> {
    if staged.outside > 0 {
        return Err(Failure::denied(
            "staged-outside",
            format!(
                "the index holds {} changes outside the scope, which a commit would take with it",
                staged.outside
            ),
        )
        .detail("outside", staged.outside)
        .hint(
            "For the user: commit or unstage them, or open the top of the repository: `bailiwick scope add FOLDER`.",
        ));
    }
    if !staged.closed.is_empty() {
        let shown = &staged.closed[..staged.closed.len().min(SHOWN_CLOSED)];
        let names: Vec<&str> = shown.iter().map(|seen| seen.shown.as_str()).collect();
        let failure = Failure::denied(
            "staged-closed",
            format!("the index contains changes of closed files: {}", names.join(", ")),
        )
        .hint("Unstage everything with git.unstage and `all`, then stage what is meant.");
        return Err(shown
            .iter()
            .fold(failure, |failure, seen| failure.hint(git.repository.opening_hint(seen))));
    }
    if staged.is_unchanged && !merging {
        return Err(Failure::new(ErrorCode::Conflict, "nothing is staged, so there is nothing to commit")
            .hint("Stage the changes by git.stage first."));
    }
    Ok(())
}
