//! `file.patch`: change parts of files, by whichever dialect the client speaks.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use serde_json::Value;

use crate::registry::prelude::*;
use bailiwick_contract::RawPath;
use bailiwick_providers::edit::{FilePatch, TieBreak, Tier, parse_patch};

use super::syntax_check::{Check, Syntax, may_read};
use super::{patch_plan, patch_run};

/// The operation.
pub struct Op;

/// What to change: exactly one of `edits`, `patch` and `lines`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct Input {
    /// Old text and new text. Every edit sees the files as they were before the call.
    pub edits: Option<Vec<Edit>>,
    /// A unified diff (its line numbers are hints), or a context patch that begins with `*** Begin Patch`. If the target is a
    /// folder, its paths are relative to that.
    pub patch: Option<String>,
    /// Lines by the anchors that file.read gives with `anchors`.
    pub lines: Option<Vec<Lines>>,
    #[serde(skip)]
    parsed: OnceLock<Result<Vec<FilePatch>, Failure>>,
}

/// One replacement.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Edit {
    /// The text that is there, with enough around it to be found in one place only.
    pub old: String,
    /// The text that comes in its place; may be empty.
    pub new: String,
    /// In how many places `old` must be, all of which are changed; default 1.
    #[serde(default)]
    #[schemars(range(min = 1))]
    pub expect: Option<u64>,
    /// Change every place where `old` is, letter by letter, however many there are; default false.
    #[serde(default)]
    pub replace_all: bool,
    /// The file; default the target.
    #[serde(default)]
    pub path: Option<RawPath>,
}

/// One change of lines. `start` with or without `end`, or `after`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Lines {
    /// The anchor `LINE:HASH` of the first line that goes.
    #[serde(default)]
    pub start: Option<String>,
    /// The anchor of the last line that goes; default the first.
    #[serde(default)]
    pub end: Option<String>,
    /// The anchor of the line after which the new lines come; `0` for the start of the file.
    #[serde(default)]
    pub after: Option<String>,
    /// The new lines; empty to remove lines only.
    pub new: String,
    /// The file; default the target.
    #[serde(default)]
    pub path: Option<RawPath>,
}

/// How to go about it.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct Options {
    /// Change all files or none; default true. If false, each file is changed for itself.
    pub atomic: bool,
    /// The version for which the edits were made; for several files, an object of paths and versions. Line
    /// numbers and anchors then hold. If the file was changed since, and that version is kept (it was replaced, or
    /// read not long ago), the edits are merged; otherwise it is a `conflict`.
    pub if_version: Option<IfVersion>,
    /// Let a file become empty; default false.
    pub allow_empty: bool,
    /// What happens with syntax errors that a file gets by the edit: `report` (default), `refuse`, `off`. By a
    /// grammar of Rust, Python, TypeScript, JavaScript, Go, Java, C, C++, JSON, YAML, TOML, HTML and CSS.
    pub check: Check,
    /// Do it also where it cannot be undone, and keep nothing for undo; default false.
    pub without_undo: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { atomic: true, if_version: None, allow_empty: false, check: Check::Report, without_undo: false }
    }
}

/// The versions that files must have.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum IfVersion {
    /// Of the only file.
    One(String),
    /// Of each file, by its path.
    Each(BTreeMap<String, String>),
}

/// What happened.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// Each file, in the order in which the request names them.
    pub files: Vec<File>,
    /// Takes this change back: send it as `input.undoId` of file.restore. Without `atomic`, each file has its
    /// own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undo_id: Option<String>,
    /// Whether lines, diffs or files are left out of this answer, for which there was no room.
    pub truncated: bool,
    /// `true` if nothing was done, since `options.dryRun` was set.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub dry_run: bool,
}

/// One file: what became of it, or with `atomic` false why nothing did.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum File {
    /// It was changed.
    Changed(Box<FileResult>),
    /// It was not.
    Failed {
        /// `false`.
        ok: bool,
        /// The path as asked.
        path: String,
        /// Why: `code`, `message`, `hints`, `details`.
        error: Value,
    },
}

/// A file that was changed.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FileResult {
    /// `true`.
    pub ok: bool,
    /// The path, links on the way resolved; for a moved file, the new one.
    pub path: String,
    /// The path before, of a moved file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub moved_from: Option<String>,
    /// What happened to it.
    pub action: Action,
    /// The version before; `null` if there was no file.
    pub version_before: Option<String>,
    /// The version now, for `ifVersion`; `null` if the file is gone.
    pub version: Option<String>,
    /// The size now, in bytes.
    pub bytes: u64,
    /// `true` if the file was changed since `ifVersion`, and both changes are in it now.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub merged: bool,
    /// Each place that was changed, in the order of the file.
    pub places: Vec<HunkPosition>,
    /// Syntax errors that the file has by this edit, or has no more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub syntax: Option<Syntax>,
    /// Takes the change of this file back, if it was made for itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undo_id: Option<String>,
    /// The change as a unified diff, with `dryRun`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
}

/// What happened to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// It has another content, or another mode.
    Updated,
    /// It is new.
    Created,
    /// It is gone.
    Deleted,
    /// It has another path, and maybe another content.
    Moved,
    /// The edits leave it as it was.
    Unchanged,
}

/// One place that was changed.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HunkPosition {
    /// The number of the edit or hunk in the request, counted from 1.
    pub edit: usize,
    /// How closely its old text had to be read until it fitted.
    pub tier: Tier,
    /// What decided, if it fitted several places.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chosen: Option<TieBreak>,
    /// By how many lines its anchors had moved.
    #[serde(skip_serializing_if = "is_zero")]
    pub moved_by: isize,
    /// The first line that it covers now.
    pub start_line: usize,
    /// The last line that it covers now; one less than `startLine` if its lines are gone.
    pub end_line: usize,
    /// The lines as they are now, each with its anchor, and one line around them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lines: Option<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes fields by reference")]
fn is_zero(number: &isize) -> bool {
    *number == 0
}

impl Input {
    /// Returns the files of the patch, read once; `None` if there is no patch.
    pub fn parsed(&self) -> Option<&Result<Vec<FilePatch>, Failure>> {
        let patch = self.patch.as_ref()?;
        Some(self.parsed.get_or_init(|| parse_patch(patch)))
    }
}

impl Operation for Op {
    const SPEC: OperationSpec = OperationSpec {
        name: "file.patch",
        summary: "Change parts of files, by search and replace, diff or anchored lines",
        details: "An edit is placed only where its old text is, as often as expected; `tier` says how closely it \
                  had to be read: exact, line endings, trailing space, indentation, tabs, or kinds of quotes, \
                  dashes and spaces. What fits nowhere or in too many places is refused, with the nearest places. Line \
                  ends, encoding, byte order mark, mode and all bytes outside the places stay. Several files are \
                  changed together or not at all. Syntax errors that a file gets are reported. With `dryRun`, the answer holds the diff.",
        capabilities: &[&[Capability::FsWrite]],
        effect: Effect::Destroys,
        target: TargetRule::PathOrRoot(Access::Write),
        scope: ScopeNeed::FOLDER,
        options: &[CommonOption::DryRun],
        timeout_seconds: 60,
        audited_fields: &["atomic", "ifVersion", "allowEmpty", "check", "withoutUndo"],
        example: r#"{"op":"file.patch","target":"notes.md","input":{"edits":[{"old":"hello","new":"goodbye"}]}}"#,
        ..OperationSpec::USUAL
    };
    type Input = Input;
    type Options = Options;
    type Output = Output;
    const JUDGED: JudgedFields<Input> = JudgedFields::paths(patch_plan::paths).with_handles(&[
        HandleUsage::Content.of("edits", &["old", "new"]),
        HandleUsage::Patch.of("patch", &[]),
        HandleUsage::Content.of("lines", &["new"]),
    ]);
}

impl RunBlocking for Op {
    fn run(cx: &Context, permit: &Permit, input: &Input, options: &Options) -> Result<Output, Failure> {
        let plans = patch_plan::plan(permit, input, options.if_version.as_ref())?;
        patch_run::run(cx, permit, plans, options, may_read(permit))
    }
}
