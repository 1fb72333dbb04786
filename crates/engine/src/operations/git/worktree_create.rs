//! `git.worktree_create`: one more working tree, in a new folder of the scope.

use crate::registry::prelude::*;
use bailiwick_contract::{ErrorCode, FOR_USER, RawPath, SCOPE};
use bailiwick_policy::{InputPath, WritablePath};
use bailiwick_providers::file::remove_empty_folders;
use bailiwick_providers::git::{
    CheckOut, Git, Hash, Revision, add, branch_exists, filtered, opened_elsewhere, resolve, shows_as_new,
};

use super::open::{open, open_work_tree};

/// The operation.
pub struct Op;

/// Where, and what is checked out.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Input {
    /// The folder: one that is not there yet, or is empty.
    pub path: RawPath,
    /// The branch: one that is there and checked out nowhere else, or a new one. Without it the commit is checked
    /// out on no branch.
    #[serde(default)]
    pub branch: Option<String>,
    /// The commit where a new branch begins, or that is checked out; default `HEAD`. Not with a branch that is there.
    #[serde(default)]
    pub from: Option<String>,
}

/// The working tree.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// Its top.
    pub path: String,
    /// The branch; `null` if none was asked for.
    pub branch: Option<String>,
    /// Whether the branch is new.
    pub new_branch: bool,
    /// The commit that is checked out.
    pub commit: String,
    /// `true` if nothing was made, since `options.dryRun` was set.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub dry_run: bool,
}

impl Operation for Op {
    const SPEC: OperationSpec = OperationSpec {
        name: "git.worktree_create",
        summary: "Add a working tree in a new folder of the scope",
        details: "Checks out all of a commit, by a new branch or one that is there. No hook and no filter is run: \
                  what goes through a filter program (Git LFS) is written as it is stored. Submodules stay empty.",
        capabilities: &[&[Capability::GitWrite], &[Capability::FsWrite]],
        effect: Effect::Writes,
        target: TargetRule::PathOrRoot(Access::Read),
        scope: ScopeNeed::FOLDER,
        options: &[CommonOption::DryRun],
        timeout_seconds: 300,
        threads: Threads::Async,
        audited_fields: &["path", "branch", "from", "dryRun"],
        example: r#"{"op":"git.worktree_create","input":{"path":"trees/fix-typo","branch":"fix-typo"}}"#,
        ..OperationSpec::USUAL
    };
    type Input = Input;
    type Options = NoFields;
    type Output = Output;
    const JUDGED: JudgedFields<Input> = JudgedFields::paths(|input| {
        vec![InputPath { field: "input.path", path: input.path.clone(), access: Access::Write }]
    });
}

impl RunAsync for Op {
    async fn run(cx: &Context, permit: &Permit, input: &Input, _: &NoFields) -> Result<Output, Failure> {
        let place = permit.writable_paths().first().cloned();
        let place = place.ok_or_else(|| Failure::invalid("input.path", "`input.path` is needed"))?;
        let from = input.from.as_deref().map(|name| Revision::parse("input.from", name)).transpose()?;
        let git = open(cx, permit).await?;
        if !git.repository.is_whole() {
            return Err(Failure::denied(
                "repository",
                "the scope sees a part of the repository, and a working tree would hold all of it",
            )
            .hint("For the user: open the top of the repository: `bailiwick scope add FOLDER`."));
        }
        let (what, commit) = what(&git, input.branch.as_deref(), from.as_ref()).await?;
        look_at(&place)?;
        let opened = opened_elsewhere(&git, &commit, &place).await?;
        if opened > 0 {
            return Err(Failure::denied(
                "closed-files",
                format!(
                    "`{}` would open {opened} of the files that are closed where the repository has them",
                    place.shown()
                ),
            )
            .hint(format!(
                "{FOR_USER}`bailiwick scope deny {SCOPE} --files '**/NAME'` closes them in every folder."
            )));
        }
        let dry_run = permit.common().dry_run;
        if !dry_run {
            make(cx, permit, &git, &place, &what).await?;
        }
        cx.summarize(if dry_run { "would be made".to_owned() } else { format!("made at {commit}") });
        Ok(Output {
            path: place.shown(),
            branch: input.branch.clone(),
            new_branch: matches!(what, CheckOut::NewBranch(..)),
            commit,
            dry_run,
        })
    }
}

/// Finds what is to be checked out, and its commit.
async fn what(git: &Git, branch: Option<&str>, from: Option<&Revision>) -> Result<(CheckOut, Hash), Failure> {
    let Some(branch) = branch else {
        let commit = resolve(git, "input.from", from.unwrap_or(&Revision::head())).await?;
        return Ok((CheckOut::Commit(commit.clone()), commit));
    };
    if !branch_exists(git, "input.branch", branch).await? {
        let commit = resolve(git, "input.from", from.unwrap_or(&Revision::head())).await?;
        return Ok((CheckOut::NewBranch(branch.to_owned(), commit.clone()), commit));
    }
    if from.is_some() {
        return Err(Failure::new(ErrorCode::Conflict, format!("the branch `{branch}` is there already"))
            .detail("field", "input.branch")
            .hint("Leave out `input.from` to check the branch out, or name another branch."));
    }
    let commit = resolve(git, "input.branch", &Revision::parse("input.branch", branch)?).await?;
    Ok((CheckOut::Branch(branch.to_owned()), commit))
}

/// Looks whether the place is free: nothing, or an empty folder.
fn look_at(place: &WritablePath) -> Result<(), Failure> {
    let taken = |what: &str| {
        Failure::new(ErrorCode::Conflict, format!("`{}` {what}", place.shown()))
            .detail("field", "input.path")
            .hint("Choose a folder that is not there yet.")
    };
    match place.open_dir_itself() {
        Ok(dir) => match dir.entries(1) {
            Ok(entries) if entries.is_empty() => Ok(()),
            _ => Err(taken("is there already, and is not empty")),
        },
        Err(failure) if failure.code == ErrorCode::NotFound => Ok(()),
        Err(failure) if failure.code == ErrorCode::PermissionDenied => Err(failure),
        Err(_) => Err(taken("is no folder")),
    }
}

async fn make(
    cx: &Context,
    permit: &Permit,
    git: &Git,
    place: &WritablePath,
    what: &CheckOut,
) -> Result<(), Failure> {
    let (_, place, made_folders) = place.open_or_make_dir()?;
    let folder = place.on_disk()?;
    if let Err(failure) = add(git, &folder, what).await {
        // Git takes back what it wrote.
        remove_empty_folders(Some(place), made_folders);
        return Err(failure);
    }
    let new = open_work_tree(cx, permit, &place).await?;
    let filtered = filtered(&new).await?;
    if filtered > 0 {
        cx.warn(format!(
            "{filtered} of the files go through a filter program, and were written as they are stored"
        ));
    }
    if shows_as_new(git, &folder).await? {
        let shown = new.repository.start.shown();
        cx.warn(format!(
            "`{shown}` is in another working tree, where git.status shows it as new: `.gitignore` can name it"
        ));
    }
    Ok(())
}
