//! `git.diff`: what differs between two states, as a patch.

use crate::registry::prelude::*;
use bailiwick_providers::git::{Counts, DiffRange, Git, Hash, Revision, head, resolve};

use super::open::{open, top};
use super::patch_page::{self, FileEntry, PatchStyle, check_context};

/// The operation.
pub struct Op;

/// Which states are compared; without any field the working tree with what is staged.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct Input {
    /// Compare what is staged with `from` (default `HEAD`), instead of the working tree; default false.
    pub staged: bool,
    /// The older state: a branch, tag or hash, or such a name with `~2` or `^` behind it.
    pub from: Option<String>,
    /// The newer state; needs `from`. Left out it is the working tree, or what is staged.
    pub to: Option<String>,
}

/// How it is shown.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct Options {
    /// Lines around each change; default 3, at most 100.
    #[schemars(range(max = 100))]
    pub context: u32,
    /// Give only the files with their counts; default false.
    pub stat_only: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { context: 3, stat_only: false }
    }
}

/// What differs.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// The top of the working tree; `null` if it is above the scope's folder, which then sees its own part only.
    pub repository: Option<String>,
    /// The older state: a hash, `index`, or `nothing` where there is no commit yet.
    pub from: String,
    /// The newer state: a hash, `index` or `workTree`.
    pub to: String,
    /// How much differs in all, beyond this page too.
    pub counts: Counts,
    /// The files of this page, in the order of paths.
    pub files: Vec<FileEntry>,
    /// Their differences as a unified patch, with paths from the scope's folder; empty with `statOnly`.
    pub patch: String,
    /// Whether more is left; see `nextCursor`.
    pub truncated: bool,
    /// Continues where it was cut: send it as `options.cursor` with the same request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

impl Operation for Op {
    const SPEC: OperationSpec = OperationSpec {
        name: "git.diff",
        summary: "Show what differs: working tree, staged, or two revisions",
        details: "Shows what is in the scope, and of that what `target` names. Sensitive files are named and \
                  counted, their hunks are left out. New files that are not staged are not in it: git.changes lists \
                  them. No external diff, text conversion or filter of the repository is run.",
        capabilities: &[&[Capability::GitRead, Capability::FsRead]],
        effect: Effect::ReadOnly,
        target: TargetRule::PathOrRoot(Access::Read),
        scope: ScopeNeed::FOLDER,
        options: &[CommonOption::Cursor],
        threads: Threads::Async,
        audited_fields: &["staged", "from", "to", "context", "statOnly"],
        example: r#"{"op":"git.diff","input":{"staged":true}}"#,
        ..OperationSpec::USUAL
    };
    type Input = Input;
    type Options = Options;
    type Output = Output;
    const JUDGED: JudgedFields<Input> = JudgedFields::NONE;
}

impl RunAsync for Op {
    async fn run(cx: &Context, permit: &Permit, input: &Input, options: &Options) -> Result<Output, Failure> {
        check_context(options.context)?;
        let asked = DiffRequest::of(input)?;
        let git = open(cx, permit).await?;
        let (between, from, to) = asked.resolve(&git).await?;
        let showing = PatchStyle {
            context: (!options.stat_only).then_some(options.context),
            room: permit.limits().max_output_bytes,
        };
        let page = patch_page::show(cx, permit, &git, &between, showing).await?;
        Ok(Output {
            repository: top(&git),
            from,
            to,
            counts: page.counts,
            files: page.files,
            patch: page.patch,
            truncated: page.next_cursor.is_some(),
            next_cursor: page.next_cursor,
        })
    }
}

/// What is asked for, read but not yet found.
struct DiffRequest {
    staged: bool,
    from: Option<Revision>,
    to: Option<Revision>,
}

impl DiffRequest {
    fn of(input: &Input) -> Result<Self, Failure> {
        let read = |field: &str, text: &Option<String>| {
            let text = text.as_deref().filter(|text| !text.is_empty());
            text.map(|text| Revision::parse(field, text)).transpose()
        };
        let (from, to) = (read("input.from", &input.from)?, read("input.to", &input.to)?);
        if to.is_some() && (input.staged || from.is_none()) {
            return Err(Failure::invalid("input.to", "`input.to` goes with `from`, and not with `staged`")
                .hint("Name both ends, or leave `to` out."));
        }
        Ok(Self { staged: input.staged, from, to })
    }

    async fn resolve(self, git: &Git) -> Result<(DiffRange, String, String), Failure> {
        let (index, tree) = ("index".to_owned(), "workTree".to_owned());
        let from: Option<Hash> = match &self.from {
            Some(from) => Some(resolve(git, "input.from", from).await?),
            None if self.staged => head(git).await?,
            None => None,
        };
        let to = match &self.to {
            Some(to) => Some(resolve(git, "input.to", to).await?),
            None => None,
        };
        Ok(match (from, to) {
            (Some(from), Some(to)) => (DiffRange::Commits(from.clone(), to.clone()), from, to),
            (from, _) if self.staged => {
                (DiffRange::CommitAndIndex(from.clone()), from.unwrap_or_else(|| "nothing".to_owned()), index)
            }
            (Some(from), None) => (DiffRange::CommitAndWorkTree(from.clone()), from, tree),
            (None, _) => (DiffRange::IndexAndWorkTree, index, tree),
        })
    }
}
