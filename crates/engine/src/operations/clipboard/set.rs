//! `clipboard.set`: put something on the clipboard.

use std::sync::Arc;

use crate::registry::prelude::*;

use super::content::Input;
use super::refusal::{TARGET, refused};

/// The operation.
pub struct Op;

/// What was done.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// `confirmed`: the display says that it is so. Left out with `dryRun`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effect: Option<&'static str>,
    /// The size of the content in bytes.
    pub size: usize,
    /// `true` if nothing was done, since `options.dryRun` was set.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub dry_run: bool,
}

impl Operation for Op {
    const SPEC: OperationSpec = OperationSpec {
        name: "clipboard.set",
        summary: "Put text, a picture or names of files on the clipboard",
        details: "What was there is replaced, and is not kept; clipboard.save keeps it. The new content stays until something else is copied, or until this service ends.",
        capabilities: &[&[Capability::ClipboardWrite]],
        effect: Effect::Destroys,
        target: TARGET,
        scope: ScopeNeed::DESKTOP,
        options: &[CommonOption::DryRun],
        example: r#"{"op":"clipboard.set","input":{"text":"Hello"}}"#,
        ..OperationSpec::USUAL
    };
    type Input = Input;
    type Options = NoFields;
    type Output = Output;
    const JUDGED: JudgedFields<Input> = JudgedFields::NONE;
}

impl RunBlocking for Op {
    fn run(cx: &Context, permit: &Permit, input: &Input, _: &NoFields) -> Result<Output, Failure> {
        let ((content, size), dry_run) = (input.content()?, permit.common().dry_run);
        if !dry_run {
            let content = Arc::new(content);
            cx.service.displays.set_clipboard(permit.id(), Some(&content), None).map_err(refused)?;
        }
        cx.summarize(format!("{size} bytes"));
        Ok(Output { effect: (!dry_run).then_some("confirmed"), size, dry_run })
    }
}
