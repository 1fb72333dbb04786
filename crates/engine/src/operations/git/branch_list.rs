//! `git.branch_list`: the branches, and how each stands to the one that it follows.

use crate::registry::prelude::*;
use bailiwick_providers::git::{GitCall, iso_time, lossy, whole};
use bailiwick_providers::search::OutputBudget;

use super::open::{open, top};

/// What is printed of a branch.
const FORMAT: &str = "--format=%(refname)%00%(objectname)%00%(HEAD)%00%(upstream:short)%00%(upstream:track,nobracket)%00%(committerdate:iso-strict)%00%(contents:subject)";

/// The operation.
pub struct Op;

/// Which branches.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct Options {
    /// Give the known branches of remotes too; default false.
    pub remotes: bool,
}

/// The branches.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// The top of the working tree; `null` if it is above the scope's folder.
    pub repository: Option<String>,
    /// The branches, by name.
    pub branches: Vec<BranchEntry>,
    /// How many in all, beyond this page too.
    pub total: usize,
    /// Whether more is left; see `nextCursor`.
    pub truncated: bool,
    /// Continues where the list was cut: send it as `options.cursor`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// One branch.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BranchEntry {
    /// Its name; `origin/NAME` for one of a remote.
    pub name: String,
    /// The commit that it is at.
    pub commit: String,
    /// Whether it is checked out here.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub current: bool,
    /// Whether it is one of a remote.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub remote: bool,
    /// The branch that it follows.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub upstream: String,
    /// Its state to that: `ahead 1, behind 2`, `gone`; left out if they are at one commit.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub track: String,
    /// When its commit was recorded.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub committed_at: String,
    /// The first paragraph of its commit's message; left out in a scope that is a part of the repository.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub subject: String,
}

impl Operation for Op {
    const SPEC: OperationSpec = OperationSpec {
        name: "git.branch_list",
        summary: "List branches with what they follow",
        capabilities: &[&[Capability::GitRead, Capability::FsRead]],
        effect: Effect::ReadOnly,
        target: TargetRule::PathOrRoot(Access::Read),
        scope: ScopeNeed::FOLDER,
        options: &[CommonOption::Cursor],
        threads: Threads::Async,
        audited_fields: &["remotes"],
        example: r#"{"op":"git.branch_list"}"#,
        ..OperationSpec::USUAL
    };
    type Input = NoFields;
    type Options = Options;
    type Output = Output;
    const JUDGED: JudgedFields<NoFields> = JudgedFields::NONE;
}

impl RunAsync for Op {
    async fn run(cx: &Context, permit: &Permit, _: &NoFields, options: &Options) -> Result<Output, Failure> {
        let first = permit.common().cursor.as_deref().map(position).transpose()?.unwrap_or(0);
        let git = open(cx, permit).await?;
        let mut words = vec!["for-each-ref", FORMAT, "refs/heads"];
        if options.remotes {
            words.push("refs/remotes");
        }
        let text = whole(git.run(GitCall::to_read(words)).await?)?;
        let is_whole = git.repository.is_whole();
        let rows = text.split(|byte| *byte == b'\n').filter(|row| !row.is_empty());
        let found: Vec<BranchEntry> = rows.filter_map(|row| entry(row, is_whole)).collect();
        let mut output = Output {
            repository: top(&git),
            branches: Vec::new(),
            total: found.len(),
            truncated: false,
            next_cursor: None,
        };
        let mut room = OutputBudget::new(permit.limits().max_output_bytes);
        for branch in found.into_iter().skip(first) {
            if !room.take(&branch) {
                output.truncated = true;
                output.next_cursor = Some(format!("gr1.{}", first + output.branches.len()));
                break;
            }
            output.branches.push(branch);
        }
        cx.summarize(format!("{} of {} branches", output.branches.len(), output.total));
        Ok(output)
    }
}

fn position(cursor: &str) -> Result<usize, Failure> {
    cursor.strip_prefix("gr1.").and_then(|count| count.parse().ok()).ok_or_else(|| {
        Failure::invalid("options.cursor", "`options.cursor` is not a cursor of git.branch_list")
            .hint("Send the `nextCursor` of an earlier git.branch_list.")
    })
}

fn entry(row: &[u8], is_whole: bool) -> Option<BranchEntry> {
    let fields: Vec<String> = row.split(|byte| *byte == 0).map(lossy).collect();
    let [name, commit, head, upstream, track, committed_at, subject] =
        <[String; 7]>::try_from(fields).ok()?;
    let (name, remote) = match (name.strip_prefix("refs/heads/"), name.strip_prefix("refs/remotes/")) {
        (Some(name), _) => (name.to_owned(), false),
        (None, Some(name)) if !name.ends_with("/HEAD") => (name.to_owned(), true),
        (None, _) => return None,
    };
    Some(BranchEntry {
        name,
        commit,
        current: head == "*",
        remote,
        upstream,
        track,
        committed_at: if is_whole { iso_time(committed_at.as_bytes()) } else { String::new() },
        subject: if is_whole { subject } else { String::new() },
    })
}
