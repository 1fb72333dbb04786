//! `file.create`: make a file that must not exist yet.

use crate::registry::prelude::*;

use super::syntax_check::Check;
use super::write::{self, WriteRequest};

/// The operation.
pub struct Op;

/// What the file holds.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct Input {
    /// The content as text; default empty.
    pub content: Option<String>,
    /// The content as bytes in base64, instead of `content`.
    pub content_base64: Option<String>,
}

/// How to make it.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct Options {
    /// Make the folders that are missing on the way; default false.
    pub create_parents: bool,
    /// The permission bits in octal, such as `0755`; default those of any new file.
    pub mode: Option<String>,
    /// What happens with syntax errors in the new file: `report` (default), `refuse`, `off`.
    pub check: Check,
}

impl Operation for Op {
    const SPEC: OperationSpec = OperationSpec {
        name: "file.create",
        summary: "Make a new file",
        details: "Fails with `conflict` if anything has the name already, also if it comes into being meanwhile.",
        capabilities: &[&[Capability::FsWrite]],
        effect: Effect::Writes,
        target: TargetRule::Path(Access::Write),
        scope: ScopeNeed::FOLDER,
        platforms: &[],
        options: &[CommonOption::DryRun],
        timeout_seconds: 30,
        threads: Threads::Blocking,
        audited_fields: &["createParents", "mode", "check"],
        example: r#"{"op":"file.create","target":"docs/new.md","input":{"content":"New\n"},"options":{"createParents":true}}"#,
    };
    type Input = Input;
    type Options = Options;
    type Output = write::Output;
    const JUDGED: JudgedFields<Input> =
        JudgedFields::NONE.with_handles(&[HandleUsage::Content.of("content", &[])]);
}

impl RunBlocking for Op {
    fn run(cx: &Context, permit: &Permit, input: &Input, options: &Options) -> RunResult<Self> {
        let content =
            write::content(input.content.as_deref(), input.content_base64.as_deref())?.unwrap_or_default();
        let request = WriteRequest {
            content: &content,
            create_parents: options.create_parents,
            mode: options.mode.as_deref(),
            check: options.check,
            ..WriteRequest::default()
        };
        write::write(cx, permit, &request)
    }
}
