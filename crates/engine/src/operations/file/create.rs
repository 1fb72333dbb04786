//! `file.create`: make a file that must not exist yet.

use crate::registry::prelude::*;

use super::syntax_check::Check;
use super::write::{self, Content, WriteRequest};

/// The operation.
pub struct Op;

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
        options: &[CommonOption::DryRun],
        audited_fields: &["createParents", "mode", "check"],
        example: r#"{"op":"file.create","target":"docs/new.md","input":{"content":"New\n"},"options":{"createParents":true}}"#,
        ..OperationSpec::USUAL
    };
    type Input = Content;
    type Options = Options;
    type Output = write::Output;
    const JUDGED: JudgedFields<Content> = Content::JUDGED;
}

impl RunBlocking for Op {
    fn run(cx: &Context, permit: &Permit, input: &Content, options: &Options) -> RunResult<Self> {
        let request = WriteRequest {
            content: &input.bytes()?.unwrap_or_default(),
            create_parents: options.create_parents,
            mode: options.mode.as_deref(),
            check: options.check,
            ..WriteRequest::default()
        };
        write::write(cx, permit, &request)
    }
}
