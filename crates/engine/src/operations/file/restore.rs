//! `file.restore`: take a change back, or bring back an earlier version of a file.

use crate::changes::{
    RestoreOutput, check_origin, in_journal, not_kept, release, restore_changes, restore_version, scope_key,
    unreadable,
};
use crate::registry::prelude::*;
use bailiwick_providers::versions::VersionStore;

/// The operation.
pub struct Op;

/// What to bring back: `undoId`, or `version` with the file as target.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct Input {
    /// The `undoId` of a change, or its end: all its files become what they were before it, or none does.
    pub undo_id: Option<String>,
    /// A version of the target that file.history lists.
    pub version: Option<String>,
}

/// How to go about it.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct Options {
    /// Restore only if the target is in this version now; with `version`.
    pub if_version: Option<String>,
}

impl Operation for Op {
    const SPEC: OperationSpec = OperationSpec {
        name: "file.restore",
        summary: "Take a change back, or bring an earlier version back",
        details: "With `undoId`, every file of that change becomes what it was: a changed file gets its old \
                  content, a new one goes, a removed one comes back, a moved one gets its old name; so does a \
                  folder, a link or a large file, with all that belongs to it. It is refused if one of them was \
                  changed again since, or if something else has its name. With `version`, the target gets the content that it \
                  had. Every path is judged again; the restoring can be taken back too.",
        capabilities: &[&[Capability::FsWrite]],
        effect: Effect::Destroys,
        target: TargetRule::PathOrRoot(Access::Write),
        scope: ScopeNeed::FOLDER,
        options: &[CommonOption::DryRun],
        timeout_seconds: 60,
        audited_fields: &["undoId", "version", "ifVersion"],
        example: r#"{"op":"file.restore","input":{"undoId":"01JD0000000000000000000000"}}"#,
        ..OperationSpec::USUAL
    };
    type Input = Input;
    type Options = Options;
    type Output = RestoreOutput;
    // The paths of a change are in its record; each is judged before anything is opened.
    const JUDGED: JudgedFields<Input> = JudgedFields::NONE;
}

impl RunBlocking for Op {
    fn run(
        cx: &Context,
        permit: &Permit,
        input: &Input,
        options: &Options,
    ) -> Result<RestoreOutput, Failure> {
        match (&input.undo_id, &input.version) {
            (Some(undo_id), None) if permit.path().rel().is_root() => {
                let store = VersionStore::below(&cx.service.dirs.state);
                let found = store.record(scope_key(permit), undo_id).map_err(|error| unreadable(&error))?;
                let found = [found.ok_or_else(|| not_kept("that change"))?];
                check_origin(cx, &found, permit.common().dry_run)?;
                let restored = in_journal(cx, permit, &found, || restore_changes(cx, permit, &found))?;
                if !restored.dry_run {
                    release(cx, &found);
                }
                Ok(restored)
            }
            (Some(_), None) => {
                Err(Failure::invalid("target", "an `undoId` names its files, so there is no target")
                    .hint("Leave `target` out."))
            }
            (None, Some(version)) => restore_version(cx, permit, version, options.if_version.as_deref()),
            (None, None) | (Some(_), Some(_)) => {
                Err(Failure::invalid("input", "`input` needs either `undoId` or `version`")
                    .hint("Every changing operation answers an `undoId`; file.history lists them."))
            }
        }
    }
}
