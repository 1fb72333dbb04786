//! `file.move`: give a file or folder another name.

use crate::registry::prelude::*;
use bailiwick_contract::RawPath;
use bailiwick_platform::fs::FileKind;
use bailiwick_policy::{InputPath, PermittedPath};
use bailiwick_providers::file::{
    FileLocation, IfExists, Locks, ReplacedContent, Slot, Transfer, TransferResult, rename,
};
use bailiwick_providers::versions::{FileChange, Location, Relocation, StoredFile};

use crate::changes::{self, Journal, Undo};

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
    /// Do it also where it cannot be undone, and keep nothing for undo; default false.
    pub without_undo: bool,
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
    /// Takes the move or copy back: send it as `input.undoId` of file.restore.
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
                  belongs to Git's own files, nothing is moved. Works within one file system. What is replaced is \
                  kept for file.restore, up to 512 MiB.",
        capabilities: &[&[Capability::FsWrite]],
        effect: Effect::Destroys,
        target: TargetRule::Path(Access::Write),
        scope: ScopeNeed::FOLDER,
        options: &[CommonOption::DryRun],
        audited_fields: &["to", "ifExists", "withoutUndo"],
        example: r#"{"op":"file.move","target":"old.md","input":{"to":"new.md"}}"#,
        ..OperationSpec::USUAL
    };
    type Input = Input;
    type Options = Options;
    type Output = Output;
    const JUDGED: JudgedFields<Input> = JudgedFields::paths(|input| destination(&input.to));
}

impl RunBlocking for Op {
    fn run(cx: &Context, permit: &Permit, _: &Input, options: &Options) -> Result<Output, Failure> {
        let (from, to) = (FileLocation::of(permit.writable_path())?, new_place(permit)?);
        let transfer = Transfer { if_exists: options.if_exists, dry_run: permit.common().dry_run };
        let mut undo = Undo::new(cx, permit, options.without_undo);
        let is_over_folder = options.if_exists == IfExists::Replace
            && to.stat()?.is_some_and(|stat| stat.kind == FileKind::Dir);
        let (mut journal, mut before) = (None, None);
        // The two trade names before the old one goes where it is kept. A batch has a journal of its own.
        if is_over_folder && undo.is_wanted() && !transfer.dry_run && cx.request.batch.is_none() {
            before = from.stat()?;
            let scope = permit.needed_scope()?.id();
            let begun = Journal::begin(&cx.service.dirs.state, &cx.request.id, scope, &cx.caller);
            journal = Some(begun.map_err(|error| changes::cannot_keep(&error))?);
        }
        let moved = rename(
            &from,
            &to,
            transfer,
            &mut |change| keep(&mut undo, cx, (&from, &to), change),
            &Locks::below(&cx.service.dirs.state),
            &cx.cancel,
        );
        let settled = undo.settle(moved);
        let is_back = || from.stat().is_ok_and(|stat| stat.map(|it| it.id) == before.map(|it| it.id));
        if let Some(journal) = journal
            && (settled.is_ok() || is_back())
        {
            journal.end();
        }
        let (moved, undo_id) = settled?;
        Ok(Output { undo_id, ..output(cx, &from.path, &to, &moved, transfer.dry_run) })
    }
}

/// Keeps what a move replaces, and from where it came.
fn keep(
    undo: &mut Undo<'_>,
    cx: &Context,
    (from, to): (&FileLocation, &FileLocation),
    change: &ReplacedContent<'_>,
) -> Result<Option<Slot>, Failure> {
    let (Some(new), true) = (change.new, undo.is_wanted()) else { return Ok(None) };
    let (old_path, path) = (from.path.shown(), to.path.shown());
    let before = if new.is_plain() { changes::read(from, &cx.cancel) } else { None };
    let back = Relocation {
        from: Location::Path(path.clone()),
        to: Location::Path(old_path.clone()),
        version: new.version.clone(),
    };
    let moved = |path| StoredFile {
        path,
        moved_from: Some(old_path.clone()),
        version_after: Some(new.version.clone()),
        ..StoredFile::default()
    };
    let Some(old) = change.old else {
        return match before {
            Some((version, before)) => undo.contents(&[FileChange {
                path,
                moved_from: Some(old_path),
                before: Some(before),
                version_after: Some(version),
                made_folders: 0,
            }]),
            None => undo.moves(vec![moved(path)], vec![back]),
        }
        .map(|()| None);
    };
    if let Some((version, before)) = before
        && old.is_plain()
        && let Some((_, replaced)) = changes::read(to, &cx.cancel)
    {
        // Two files then have other contents: one is gone, and one has the content of the other.
        let file = |path, before, version_after| FileChange {
            path,
            moved_from: None,
            before: Some(before),
            version_after,
            made_folders: 0,
        };
        let gone = file(old_path, before, None);
        let change = file(path, replaced, Some(version));
        return undo.contents(&[gone, change]).map(|()| None);
    }
    let restored = Relocation {
        from: Location::Kept(0),
        to: Location::Path(path.clone()),
        version: old.version.clone(),
    };
    let files = vec![moved(path.clone()), changes::whole_file(path, Some(old), Some(new.version.clone()))];
    undo.whole(old.disk_bytes(), files, vec![back, restored])
}

/// Names the new path, which is judged like a target that is written.
pub fn destination(to: &RawPath) -> Vec<InputPath> {
    vec![InputPath { field: "input.to", path: to.clone(), access: Access::Write }]
}

/// Opens the folder of the new path.
///
/// # Errors
/// Those of the path door.
pub fn new_place(permit: &Permit) -> Result<FileLocation, Failure> {
    let to = permit.writable_paths().first();
    let to = to.ok_or_else(|| Failure::invalid("input.to", "`input.to` is missing"))?;
    FileLocation::of(to).map_err(|failure| failure.detail("field", "input.to"))
}

/// Returns what was moved or copied.
pub fn output(
    cx: &Context,
    from: &PermittedPath,
    to: &FileLocation,
    done: &TransferResult,
    dry_run: bool,
) -> Output {
    let counts = done.counts;
    if counts.others > 0 && done.kind == FileKind::Dir {
        cx.warn(format!("{} pipes, sockets or devices are in the folder.", counts.others));
    }
    cx.summarize(format!("{} files, {} folders, {} bytes", counts.files, counts.folders, counts.bytes));
    Output {
        from: from.shown(),
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
