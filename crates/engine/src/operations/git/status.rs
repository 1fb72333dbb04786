//! `git.status`: what is staged, changed, in conflict and new.

use crate::registry::prelude::*;
use bailiwick_contract::path::{decode_name, encode_name};
use bailiwick_providers::git::{
    Branch, Change, Conflict, OngoingOperation, Status, StatusEntry, UntrackedMode, busy, status,
};
use bailiwick_providers::search::OutputBudget;

use super::open::{open, top};

/// The operation.
pub struct Op;

/// What to show.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct Options {
    /// Files that Git does not know: `normal` (default) names a new folder instead of what is in it, `all` names
    /// every file, `none` leaves them out, which is fastest.
    pub untracked: UntrackedMode,
}

/// The state of the working tree.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// The top of the working tree; `null` if it is above the scope's folder, which then sees its own part only.
    pub repository: Option<String>,
    /// Where `HEAD` is.
    pub branch: Branch,
    /// What was begun and is not done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub in_progress: Option<OngoingOperation>,
    /// How many there are in all, beyond this page too.
    pub counts: Counts,
    /// What is not as it was committed, in the order of paths.
    pub entries: Vec<Entry>,
    /// The same, as `git status --short --branch` prints it.
    pub text: String,
    /// Whether more is left; see `nextCursor`.
    pub truncated: bool,
    /// Continues where the list was cut: send it as `options.cursor`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// How many paths.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct Counts {
    /// Paths whose index differs from `HEAD`.
    pub staged: usize,
    /// Paths whose content differs from the index.
    pub unstaged: usize,
    /// Paths that Git does not know.
    pub untracked: usize,
    /// Paths in conflict.
    pub conflicted: usize,
}

/// One path.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Entry {
    /// The path; a `/` at the end marks a folder that stands for everything in it.
    pub path: String,
    /// Its earlier name, if it was renamed or copied.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// How the index differs from `HEAD`: what is staged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index: Option<Change>,
    /// How the working tree differs from the index.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub work_tree: Option<Change>,
    /// The conflict, if it is in one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conflict: Option<Conflict>,
    /// Whether it is another repository in this one.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub submodule: bool,
    /// Whether its content is closed: it is shown by name only.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub closed: bool,
}

impl Operation for Op {
    const SPEC: OperationSpec = OperationSpec {
        name: "git.status",
        summary: "Show what is staged, changed, in conflict and new",
        details: "Shows the part of the repository that is in the scope, and of that what `target` names. Changes \
                  inside submodules are not looked for. Nothing that the repository's configuration names is run: \
                  no filter, hook or monitor.",
        capabilities: &[&[Capability::GitRead, Capability::FsRead]],
        effect: Effect::ReadOnly,
        target: TargetRule::PathOrRoot(Access::Read),
        scope: ScopeNeed::FOLDER,
        options: &[CommonOption::Cursor],
        threads: Threads::Async,
        audited_fields: &["untracked"],
        example: r#"{"op":"git.status"}"#,
        ..OperationSpec::USUAL
    };
    type Input = NoFields;
    type Options = Options;
    type Output = Output;
    const JUDGED: JudgedFields<NoFields> = JudgedFields::NONE;
}

impl RunAsync for Op {
    async fn run(cx: &Context, permit: &Permit, _: &NoFields, options: &Options) -> Result<Output, Failure> {
        let after = permit.common().cursor.as_deref().map(position).transpose()?;
        let git = open(cx, permit).await?;
        let paths: Vec<_> = git.repository.pathspec().into_iter().collect();
        let found = status(&git, &paths, options.untracked).await?;
        let output = Output {
            repository: top(&git),
            in_progress: busy(&git.repository)?,
            ..page(found, after.as_ref(), permit.limits().max_output_bytes)
        };
        cx.summarize(output.describe());
        Ok(output)
    }
}

/// A place in the list: the path, and whether what Git knows of it is passed already.
type Position = (Vec<u8>, bool);

fn position(cursor: &str) -> Result<Position, Failure> {
    let known = cursor.strip_prefix("gs1.k.").map(|path| (decode_name(path), false));
    known.or_else(|| cursor.strip_prefix("gs1.u.").map(|path| (decode_name(path), true))).ok_or_else(|| {
        Failure::invalid("options.cursor", "`options.cursor` is not a cursor of git.status")
            .hint("Send the `nextCursor` of an earlier git.status of the same target.")
    })
}

fn place(entry: &StatusEntry) -> (&[u8], bool) {
    (entry.seen.rel.as_bytes(), entry.work_tree == Some(Change::Untracked))
}

fn page(found: Status, after: Option<&Position>, max_output_bytes: usize) -> Output {
    let counts = Counts::of(&found);
    let first = after.map_or(0, |(path, unknown)| {
        found.entries.partition_point(|entry| place(entry) <= (path.as_slice(), *unknown))
    });
    let mut text = heading(&found.branch);
    let mut room = OutputBudget::new(max_output_bytes.saturating_sub(text.len()));
    let (mut entries, mut next_cursor): (Vec<Entry>, _) = (Vec::new(), None);
    let mut last: Option<&StatusEntry> = None;
    for found in &found.entries[first..] {
        let entry = Entry::of(found);
        let line = line(&entry);
        if !room.take(&(&entry, &line)) {
            next_cursor = last.map(place).map(|(path, unknown)| {
                format!("gs1.{}.{}", if unknown { 'u' } else { 'k' }, encode_name(path))
            });
            break;
        }
        text.push_str(&line);
        entries.push(entry);
        last = Some(found);
    }
    Output {
        repository: None,
        branch: found.branch,
        in_progress: None,
        counts,
        entries,
        text,
        truncated: next_cursor.is_some(),
        next_cursor,
    }
}

impl Counts {
    /// Counts what is not as it was committed.
    pub fn of(found: &Status) -> Self {
        let mut counts = Self::default();
        for entry in &found.entries {
            counts.staged += usize::from(entry.index.is_some());
            counts.unstaged += usize::from(entry.work_tree.is_some_and(|change| change != Change::Untracked));
            counts.untracked += usize::from(entry.work_tree == Some(Change::Untracked));
            counts.conflicted += usize::from(entry.conflict.is_some());
        }
        counts
    }
}

impl Entry {
    fn of(found: &StatusEntry) -> Self {
        let mut path = found.seen.shown.clone();
        if found.folder && !path.ends_with('/') {
            path.push('/');
        }
        Self {
            path,
            from: found.from.as_ref().map(|from| from.shown.clone()),
            index: found.index,
            work_tree: found.work_tree,
            conflict: found.conflict,
            submodule: found.submodule,
            closed: found.seen.closed.is_some(),
        }
    }
}

fn heading(branch: &Branch) -> String {
    let mut text = match (&branch.name, &branch.commit) {
        (Some(name), Some(_)) => format!("## {name}"),
        (Some(name), None) => format!("## No commits yet on {name}"),
        (None, _) => "## HEAD (no branch)".to_owned(),
    };
    if let Some(upstream) = &branch.upstream {
        text.push_str(&format!("...{upstream}"));
        match (branch.ahead, branch.behind) {
            (Some(0), Some(0)) => {}
            (Some(ahead), Some(0)) => text.push_str(&format!(" [ahead {ahead}]")),
            (Some(0), Some(behind)) => text.push_str(&format!(" [behind {behind}]")),
            (Some(ahead), Some(behind)) => text.push_str(&format!(" [ahead {ahead}, behind {behind}]")),
            _ => text.push_str(" [gone]"),
        }
    }
    text.push('\n');
    text
}

fn line(entry: &Entry) -> String {
    let letters = match entry.conflict {
        Some(conflict) => match conflict {
            Conflict::BothDeleted => "DD",
            Conflict::AddedByUs => "AU",
            Conflict::DeletedByThem => "UD",
            Conflict::AddedByThem => "UA",
            Conflict::DeletedByUs => "DU",
            Conflict::BothAdded => "AA",
            Conflict::BothModified => "UU",
        }
        .to_owned(),
        None if entry.work_tree == Some(Change::Untracked) => "??".to_owned(),
        None => {
            [entry.index, entry.work_tree].iter().map(|change| change.map_or(' ', Change::letter)).collect()
        }
    };
    match &entry.from {
        Some(from) => format!("{letters} {from} -> {}\n", entry.path),
        None => format!("{letters} {}\n", entry.path),
    }
}

impl Output {
    fn describe(&self) -> String {
        let Counts { staged, unstaged, untracked, conflicted } = self.counts;
        format!("{staged} staged, {unstaged} changed, {untracked} new, {conflicted} in conflict")
    }
}
