//! `file.copy`: make another file or folder of the same content.

use crate::registry::{Context, Operation, no_command};
use bailiwick_contract::{
    Access, Capability, CommandInput, CommonOption, Effect, Failure, OperationSpec, ScopeNeed, ScopeType,
    TargetRule, Threads,
};
use bailiwick_platform::fs::FileKind;
use bailiwick_policy::{InputPath, Permit};
use bailiwick_providers::file::{Locks, Place, Transfer, Transferred, copy};
use bailiwick_providers::versions::{Before, FileChange};

use super::kept;
use super::r#move::{Input, Options, Output, destination, output, places};

/// The operation.
pub struct Op;

impl Operation for Op {
    const SPEC: OperationSpec = OperationSpec {
        name: "file.copy",
        summary: "Copy a file or folder",
        details: "Keeps mode, time and extended attributes. A symbolic link is copied as a link, never what it \
                  leads to. Every entry of a folder is judged first: if one is closed, or belongs to Git's own \
                  files, nothing is copied. The copy has its new name only when it is complete.",
        capabilities: &[&[Capability::FsWrite]],
        effect: Effect::Destroys,
        target: TargetRule::Path(Access::Read),
        scope: ScopeNeed::In(&[ScopeType::Folder]),
        platforms: &[],
        options: &[CommonOption::DryRun],
        timeout_seconds: 120,
        threads: Threads::Blocking,
        audited_fields: &["to", "ifExists"],
        example: r#"{"op":"file.copy","target":"old.md","input":{"to":"copy.md"}}"#,
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
        let before = if transfer.dry_run { None } else { kept::read(&to, &cx.cancel) };
        let copied = copy(&from, &to, transfer, &Locks::below(&cx.service.dirs.state), &cx.cancel)?;
        let undo_id = if transfer.dry_run { None } else { undo_id(cx, permit, &to, &copied, before) };
        Ok(Output { undo_id, ..output(cx, &from, &to, &copied, transfer.dry_run) })
    }
}

/// Keeps what a copy of one file replaced, or that there was nothing. A folder is not taken back.
fn undo_id(
    cx: &Context,
    permit: &Permit,
    to: &Place,
    copied: &Transferred,
    before: Option<(String, Before)>,
) -> Option<String> {
    let before = before.filter(|_| copied.replaced).map(|(_, before)| before);
    if copied.kind != FileKind::File || copied.replaced && before.is_none() {
        return None;
    }
    let (version, _) = kept::read(to, &cx.cancel)?;
    let path = to.path.shown();
    kept::keep(cx, permit, &[FileChange { path, moved_from: None, before, version_after: Some(version) }])
}
