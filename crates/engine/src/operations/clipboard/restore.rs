//! `clipboard.restore`: put back what was saved of the clipboard.

use crate::registry::prelude::*;
use bailiwick_contract::ErrorCode;

use super::super::display::owner;
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
    /// The size of the content in bytes; 0 where the clipboard was empty, and is empty again.
    pub size: usize,
    /// `true` if nothing was done, since `options.dryRun` was set.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub dry_run: bool,
}

impl Operation for Op {
    const SPEC: OperationSpec = OperationSpec {
        name: "clipboard.restore",
        summary: "Put back what clipboard.save has saved",
        details: "In every form in which it was saved. What is on the clipboard is replaced, and is not kept. It can be restored once, by \
                  the caller that saved it.",
        capabilities: &[&[Capability::ClipboardWrite]],
        effect: Effect::Destroys,
        target: TARGET,
        scope: ScopeNeed::DESKTOP,
        options: &[CommonOption::DryRun],
        example: r#"{"op":"clipboard.restore"}"#,
        ..OperationSpec::USUAL
    };
    type Input = NoFields;
    type Options = NoFields;
    type Output = Output;
    const JUDGED: JudgedFields<NoFields> = JudgedFields::NONE;
}

impl RunBlocking for Op {
    fn run(cx: &Context, permit: &Permit, _: &NoFields, _: &NoFields) -> Result<Output, Failure> {
        let (displays, clipboards) = (&cx.service.displays, &cx.service.clipboards);
        let display = displays.screen_of(permit.id()).map_err(refused)?;
        let owner = owner(cx, permit)?;
        let saved = clipboards.get(&owner, &display).ok_or_else(|| {
            Failure::new(
                ErrorCode::NotFound,
                format!("you have saved nothing of the clipboard of `{display}`"),
            )
            .hint("clipboard.save saves it, for an hour or until the service ends.")
        })?;
        let (size, dry_run) = (saved.content.size(), permit.common().dry_run);
        if !dry_run {
            let content = Some(&saved.content).filter(|content| !content.forms.is_empty());
            displays.set_clipboard(Some(&display), content, None).map_err(refused)?;
            clipboards.forget(&owner, &display, &saved);
        }
        cx.summarize(format!("{size} bytes"));
        Ok(Output { effect: (!dry_run).then_some("confirmed"), size, dry_run })
    }
}
