//! `file.move`: give a file or folder another name.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::registry::{Context, Operation, no_command};
use bailiwick_contract::{
    Access, Capability, CommandInput, CommonOption, Effect, Failure, OperationSpec, RawPath, ScopeNeed,
    ScopeType, TargetRule, Threads,
};
use bailiwick_platform::fs::FileKind;
use bailiwick_policy::{InputPath, Permit};
use bailiwick_providers::file::{IfExists, Locks, Place, Transfer, Transferred, rename};
use bailiwick_providers::versions::FileChange;

use super::kept;

/// The operation.
pub struct Op;

/// Where it goes.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Input {
    /// The whole new path, the new name included.
    pub to: RawPath,
}

/// How to go about it.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct Options {
    /// What to do if something has the new name: `fail` (default) or `replace`.
    pub if_exists: IfExists,
}

/// What was moved or copied.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// The path as it was.
    pub from: String,
    /// The path as it is now.
    pub to: String,
    /// What it is.
    pub kind: FileKind,
    /// How many files, those in folders included.
    pub files: u64,
    /// How many folders.
    pub folders: u64,
    /// How many symbolic links.
    pub links: u64,
    /// How many bytes the files have.
    pub bytes: u64,
    /// Whether something else had the new name and is gone.
    pub replaced: bool,
    /// Takes the move or copy of a file back: send it as `input.undoId` of file.restore.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undo_id: Option<String>,
    /// `true` if nothing was done, since `options.dryRun` was set.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub dry_run: bool,
}

impl Operation for Op {
    const SPEC: OperationSpec = OperationSpec {
        name: "file.move",
        summary: "Move or rename a file or folder",
        details: "A symbolic link is moved itself. Every entry of a folder is judged first: if one is closed, or \
                  belongs to Git's own files, nothing is moved. Works within one file system.",
        capabilities: &[&[Capability::FsWrite]],
        effect: Effect::Destroys,
        target: TargetRule::Path(Access::Write),
        scope: ScopeNeed::In(&[ScopeType::Folder]),
        platforms: &[],
        options: &[CommonOption::DryRun],
        timeout_seconds: 30,
        threads: Threads::Blocking,
        audited_fields: &["to", "ifExists"],
        example: r#"{"op":"file.move","target":"old.md","input":{"to":"new.md"}}"#,
    };
    type Input = Input;
    type Options = Options;
    type Output = Output;

    fn paths(input: &Input) -> Vec<InputPath> {
        destination(&input.to)
    }

    fn command(input: &Input) -> Option<CommandInput> {
        no_command(input)
    }

    async fn run(cx: &Context, permit: &Permit, _: &Input, options: &Options) -> Result<Output, Failure> {
        let (from, to) = places(permit)?;
        let transfer = Transfer { if_exists: options.if_exists, dry_run: permit.common().dry_run };
        let before = if transfer.dry_run { None } else { kept::read(&from, &cx.cancel) };
        let replaced = if transfer.dry_run { None } else { kept::read(&to, &cx.cancel) };
        let moved = rename(&from, &to, transfer, &Locks::below(&cx.service.dirs.state), &cx.cancel)?;
        let undo_id = before.and_then(|(version, before)| {
            let (path, moved_from) = (to.path.shown(), Some(from.path.shown()));
            let (before, version_after) = (Some(before), Some(version));
            if !moved.replaced {
                return kept::keep(cx, permit, &[FileChange { path, moved_from, before, version_after }]);
            }
            // Two files then have other contents: one is gone, and one has the content of the other.
            let replaced = replaced.map(|(_, replaced)| replaced);
            replaced.as_ref()?;
            let gone = FileChange { path: from.path.shown(), moved_from: None, before, version_after: None };
            kept::keep(
                cx,
                permit,
                &[gone, FileChange { path, moved_from: None, before: replaced, version_after }],
            )
        });
        Ok(Output { undo_id, ..output(cx, &from, &to, &moved, transfer.dry_run) })
    }
}

/// Names the new path, which is judged like a target that is written.
pub fn destination(to: &RawPath) -> Vec<InputPath> {
    vec![InputPath { field: "input.to", path: to.clone(), access: Access::Write }]
}

/// Opens the folders of the old and the new path.
///
/// # Errors
/// Those of the path door.
pub fn places(permit: &Permit) -> Result<(Place, Place), Failure> {
    let to =
        permit.input_paths().first().ok_or_else(|| Failure::invalid("input.to", "`input.to` is missing"))?;
    let from = Place::of(permit.path())?;
    let to = Place::of(to).map_err(|failure| failure.detail("field", "input.to"))?;
    Ok((from, to))
}

/// Tells what was moved or copied.
pub fn output(cx: &Context, from: &Place, to: &Place, done: &Transferred, dry_run: bool) -> Output {
    let counts = done.counts;
    if counts.others > 0 && done.kind == FileKind::Dir {
        cx.warn(format!("{} pipes, sockets or devices are in the folder.", counts.others));
    }
    cx.summarize(format!("{} files, {} folders, {} bytes", counts.files, counts.folders, counts.bytes));
    Output {
        from: from.path.shown(),
        to: to.path.shown(),
        kind: done.kind,
        files: counts.files,
        folders: counts.folders,
        links: counts.links,
        bytes: counts.bytes,
        replaced: done.replaced,
        undo_id: None,
        dry_run,
    }
}
