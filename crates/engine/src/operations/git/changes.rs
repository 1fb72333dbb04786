//! `git.changes`: what changed since a revision, or since the last commit, with counts and without content.

use std::collections::BTreeSet;

use crate::registry::prelude::*;
use bailiwick_contract::path::{decode_name, encode_name};
use bailiwick_providers::git::{
    Branch, Change, Counts, DiffRange, Git, LogRequest, Revision, UntrackedMode, changed_files, log, resolve,
    status,
};
use bailiwick_providers::search::OutputBudget;

use super::open::{open, top};
use super::patch_page::FileEntry;

/// How many of the commits since are counted.
const MAX_COMMITS: usize = 10_000;
/// How many of them are shown.
const SHOWN_COMMITS: usize = 20;

/// The operation.
pub struct Op;

/// Since when.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct Input {
    /// The older state: a branch, tag or hash, or such a name with `~2` or `^` behind it; default `HEAD`.
    pub since: Option<String>,
}

/// What to leave out.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct Options {
    /// Files that Git does not know: `normal` (default) names a new folder instead of what is in it, `all` names
    /// every file, `none` leaves them out.
    pub untracked: UntrackedMode,
}

/// What changed.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// The top of the working tree; `null` if it is above the scope's folder, which then sees its own part only.
    pub repository: Option<String>,
    /// Where `HEAD` is.
    pub branch: Branch,
    /// The hash of the older state; `null` where there is no commit yet.
    pub since: Option<String>,
    /// How much differs between it and the working tree in all, beyond this page too; new files are not counted.
    pub counts: Counts,
    /// How many new files or folders Git does not know.
    pub untracked: usize,
    /// How many files are staged.
    pub staged: usize,
    /// What differs, new files included, in the order of paths.
    pub files: Vec<ChangedEntry>,
    /// The commits between the older state and `HEAD`, newest first, if `since` was given; at most 20.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub commits: Vec<CommitLine>,
    /// How many commits those are in all, at most 10,000.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit_count: Option<usize>,
    /// Whether more files are left; see `nextCursor`.
    pub truncated: bool,
    /// Continues where the list was cut: send it as `options.cursor` with the same request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// One file that changed.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ChangedEntry {
    /// What changed.
    #[serde(flatten)]
    pub file: FileEntry,
    /// Whether the change, or a part of it, is staged.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub staged: bool,
}

/// One commit in short.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CommitLine {
    /// Its hash.
    pub hash: String,
    /// Who wrote it.
    pub author: String,
    /// The first paragraph of its message.
    pub subject: String,
}

impl Operation for Op {
    const SPEC: OperationSpec = OperationSpec {
        name: "git.changes",
        summary: "Show which files changed since a revision or the last commit",
        details: "Compares the working tree, staged or not, new files included, with `since`: each file with how it \
                  changed and how many lines, without content. git.diff has the content.",
        capabilities: &[&[Capability::GitRead, Capability::FsRead]],
        effect: Effect::ReadOnly,
        target: TargetRule::PathOrRoot(Access::Read),
        scope: ScopeNeed::FOLDER,
        options: &[CommonOption::Cursor],
        threads: Threads::Async,
        audited_fields: &["since", "untracked"],
        example: r#"{"op":"git.changes","input":{"since":"main"}}"#,
        ..OperationSpec::USUAL
    };
    type Input = Input;
    type Options = Options;
    type Output = Output;
    const JUDGED: JudgedFields<Input> = JudgedFields::NONE;
}

impl RunAsync for Op {
    async fn run(cx: &Context, permit: &Permit, input: &Input, options: &Options) -> Result<Output, Failure> {
        let since = input.since.as_deref().filter(|text| !text.is_empty());
        let since = since.map(|text| Revision::parse("input.since", text)).transpose()?;
        let after = permit.common().cursor.as_deref().map(position).transpose()?;
        let git = open(cx, permit).await?;
        let paths: Vec<_> = git.repository.pathspec().into_iter().collect();
        let status = status(&git, &paths, options.untracked).await?;
        let older = match &since {
            Some(since) => Some(resolve(&git, "input.since", since).await?),
            None => status.branch.commit.clone(),
        };
        let between = match &older {
            Some(older) => DiffRange::CommitAndWorkTree(older.clone()),
            None => DiffRange::CommitAndIndex(None),
        };
        let changed = changed_files(&git, &between, &paths).await?;
        let staged: BTreeSet<_> = status
            .entries
            .iter()
            .filter(|entry| entry.index.is_some())
            .map(|entry| &entry.seen.rel)
            .collect();
        let mut list: Vec<_> = changed
            .iter()
            .map(|file| {
                let entry =
                    ChangedEntry { file: FileEntry::of(file), staged: staged.contains(&file.seen.rel) };
                (&file.seen.rel, entry)
            })
            .collect();
        let unknown = status.entries.iter().filter(|entry| entry.work_tree == Some(Change::Untracked));
        let known: BTreeSet<_> = changed.iter().map(|file| &file.seen.rel).collect();
        let mut untracked = 0;
        for entry in unknown {
            untracked += 1;
            // Taken out of the index but still there: it is in the list already.
            if !known.contains(&entry.seen.rel) {
                list.push((&entry.seen.rel, ChangedEntry { file: new_file(entry), staged: false }));
            }
        }
        list.sort_by_key(|(rel, _)| *rel);
        let commits = match (&since, &older, &status.branch.commit) {
            (Some(_), Some(older), Some(head)) => Some(between_commits(&git, older, head, &paths).await?),
            _ => None,
        };
        let mut output = Output {
            repository: top(&git),
            since: older.clone(),
            counts: Counts::of(&changed),
            untracked,
            staged: staged.len(),
            files: Vec::new(),
            commit_count: commits.as_ref().map(Vec::len),
            commits: commits.unwrap_or_default().into_iter().take(SHOWN_COMMITS).collect(),
            truncated: false,
            next_cursor: None,
            branch: status.branch.clone(),
        };
        let mut room = OutputBudget::new(permit.limits().max_output_bytes);
        for commit in &output.commits {
            room.take(commit);
        }
        let first =
            after.map_or(0, |after| list.partition_point(|(rel, _)| rel.as_bytes() <= after.as_slice()));
        let mut last = None;
        for (rel, entry) in list.into_iter().skip(first) {
            if !room.take(&entry) && last.is_some() {
                output.truncated = true;
                output.next_cursor = last.map(|last: &[u8]| format!("gh1.{}", encode_name(last)));
                break;
            }
            output.files.push(entry);
            last = Some(rel.as_bytes());
        }
        let Counts { files, insertions, deletions } = output.counts;
        cx.summarize(format!("{files} files, +{insertions} -{deletions}, {untracked} new"));
        Ok(output)
    }
}

fn position(cursor: &str) -> Result<Vec<u8>, Failure> {
    cursor.strip_prefix("gh1.").map(decode_name).ok_or_else(|| {
        Failure::invalid("options.cursor", "`options.cursor` is not a cursor of git.changes")
            .hint("Send the `nextCursor` of an earlier git.changes of the same request.")
    })
}

fn new_file(entry: &bailiwick_providers::git::StatusEntry) -> FileEntry {
    let mut path = entry.seen.shown.clone();
    if entry.folder && !path.ends_with('/') {
        path.push('/');
    }
    FileEntry {
        path,
        from: None,
        change: Change::Untracked,
        insertions: None,
        deletions: None,
        old_mode: None,
        new_mode: None,
        submodule: false,
        closed: entry.seen.closed.is_some(),
    }
}

async fn between_commits(
    git: &Git,
    older: &str,
    head: &str,
    paths: &[std::ffi::OsString],
) -> Result<Vec<CommitLine>, Failure> {
    let request = LogRequest {
        from: head.to_owned(),
        without: Some(older.to_owned()),
        paths: paths.to_vec(),
        most: MAX_COMMITS,
        ..LogRequest::default()
    };
    let found = log(git, &request).await?;
    let line = |commit: bailiwick_providers::git::Commit| CommitLine {
        hash: commit.hash,
        author: commit.author.name,
        subject: commit.subject,
    };
    Ok(found.into_iter().map(line).collect())
}
