//! `file.delete`: remove a file, a link or a folder.

use crate::registry::prelude::*;
use bailiwick_platform::fs::FileKind;
use bailiwick_providers::file::{FileLocation, Locks, Removal, remove};

use crate::changes::Undo;

/// The operation.
pub struct Op;

/// How much to remove.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct Options {
    /// Remove a folder with everything in it; default false.
    pub recursive: bool,
    /// Do it also where it cannot be undone, and keep nothing for undo; default false.
    pub without_undo: bool,
}

/// What was removed.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// The path that is gone.
    pub path: String,
    /// What it was.
    pub kind: FileKind,
    /// How many files went.
    pub files: u64,
    /// How many folders went.
    pub folders: u64,
    /// How many symbolic links went; never what they lead to.
    pub links: u64,
    /// How many bytes the files had.
    pub bytes: u64,
    /// Takes this change back: send it as `input.undoId` of file.restore.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undo_id: Option<String>,
    /// `true` if nothing was done, since `options.dryRun` was set.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub dry_run: bool,
}

impl Operation for Op {
    const SPEC: OperationSpec = OperationSpec {
        name: "file.delete",
        summary: "Remove a file or folder",
        details: "A symbolic link is removed itself, never what it leads to. Every entry of a folder is judged \
                  first: if one is closed, or belongs to Git's own files, nothing is removed. What is removed is \
                  kept for file.restore, up to 512 MiB; what is larger goes only with `withoutUndo`.",
        capabilities: &[&[Capability::FsWrite]],
        effect: Effect::Destroys,
        target: TargetRule::Path(Access::Write),
        scope: ScopeNeed::FOLDER,
        options: &[CommonOption::DryRun],
        timeout_seconds: 120,
        audited_fields: &["recursive", "withoutUndo"],
        example: r#"{"op":"file.delete","target":"old.md"}"#,
        ..OperationSpec::USUAL
    };
    type Input = NoFields;
    type Options = Options;
    type Output = Output;
    const JUDGED: JudgedFields<NoFields> = JudgedFields::NONE;
}

impl RunBlocking for Op {
    fn run(cx: &Context, permit: &Permit, _: &NoFields, options: &Options) -> Result<Output, Failure> {
        let place = FileLocation::of(permit.writable_path())?;
        let dry_run = permit.common().dry_run;
        let removal = Removal { recursive: options.recursive, dry_run };
        let mut undo = Undo::new(cx, permit, options.without_undo);
        let removed = remove(
            &place,
            removal,
            &mut |going| undo.removed(&place, going),
            &Locks::below(&cx.service.dirs.state),
            &cx.cancel,
        );
        let (removed, undo_id) = undo.settle(removed)?;
        let counts = removed.counts;
        removed.warning.into_iter().for_each(|warning| cx.warn(warning));
        cx.summarize(format!("{} files, {} folders, {} bytes", counts.files, counts.folders, counts.bytes));
        Ok(Output {
            path: place.path.shown(),
            kind: removed.stat.kind,
            files: counts.files,
            folders: counts.folders,
            links: counts.links,
            bytes: counts.bytes,
            undo_id,
            dry_run,
        })
    }
}
