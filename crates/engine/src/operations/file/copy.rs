//! `file.copy`: make another file or folder of the same content.

use crate::registry::prelude::*;
use bailiwick_providers::file::{CopySource, FileLocation, Locks, ReplacedContent, Slot, Transfer, copy};
use bailiwick_providers::versions::{FileChange, Location, Relocation};

use super::r#move::{Input, Options, Output, destination, new_place, output};
use crate::changes::{self, Undo};

/// The operation.
pub struct Op;

impl Operation for Op {
    const SPEC: OperationSpec = OperationSpec {
        name: "file.copy",
        summary: "Copy a file or folder",
        details: "Keeps mode, time and extended attributes. A symbolic link is copied as a link, never what it \
                  leads to. Every entry of a folder is judged first: if one is closed, or belongs to Git's own \
                  files, nothing is copied. The copy has its new name only when it is complete. What it replaces is \
                  kept for file.restore, up to 512 MiB.",
        capabilities: &[&[Capability::FsWrite]],
        effect: Effect::Destroys,
        target: TargetRule::Path(Access::Read),
        scope: ScopeNeed::FOLDER,
        options: &[CommonOption::DryRun],
        timeout_seconds: 120,
        audited_fields: &["to", "ifExists", "withoutUndo"],
        example: r#"{"op":"file.copy","target":"old.md","input":{"to":"copy.md"}}"#,
        ..OperationSpec::USUAL
    };
    type Input = Input;
    type Options = Options;
    type Output = Output;
    const JUDGED: JudgedFields<Input> = JudgedFields::paths(|input| destination(&input.to));
}

impl RunBlocking for Op {
    fn run(cx: &Context, permit: &Permit, _: &Input, options: &Options) -> Result<Output, Failure> {
        let (from, to) = (CopySource::of(permit.path())?, new_place(permit)?);
        let transfer = Transfer { if_exists: options.if_exists, dry_run: permit.common().dry_run };
        let mut undo = Undo::new(cx, permit, options.without_undo);
        let copied = copy(
            &from,
            &to,
            transfer,
            &mut |change| keep(&mut undo, cx, &to, change),
            &Locks::below(&cx.service.dirs.state),
            &cx.cancel,
        );
        let (mut copied, undo_id) = undo.settle(copied)?;
        copied.warning.take().into_iter().for_each(|warning| cx.warn(warning));
        Ok(Output { undo_id, ..output(cx, &from.path, &to, &copied, transfer.dry_run) })
    }
}

/// Keeps what a copy replaces, or that there was nothing.
fn keep(
    undo: &mut Undo<'_>,
    cx: &Context,
    to: &FileLocation,
    change: &ReplacedContent<'_>,
) -> Result<Option<Slot>, Failure> {
    let (Some(new), true) = (change.new, undo.is_wanted()) else { return Ok(None) };
    let path = to.path.shown();
    let before = match change.old {
        Some(old) if old.is_plain() => changes::read(to, &cx.cancel).map(|(_, before)| before),
        Some(_) | None => None,
    };
    if let Some(version) = change.new_version
        && (before.is_some() || change.old.is_none())
    {
        let version_after = Some(version.to_owned());
        let change = FileChange { path, moved_from: None, before, version_after, made_folders: 0 };
        return undo.contents(&[change]).map(|()| None);
    }
    let away = Relocation {
        from: Location::Path(path.clone()),
        to: Location::Kept(0),
        version: new.version.clone(),
    };
    let file = changes::whole_file(path.clone(), change.old, Some(new.version.clone()));
    let Some(old) = change.old else { return undo.moves(vec![file], vec![away]).map(|()| None) };
    let back = Relocation { from: Location::Kept(0), to: Location::Path(path), version: old.version.clone() };
    undo.whole(old.disk_bytes(), vec![file], vec![away, back])
}
