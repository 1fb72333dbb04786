//! `clipboard.clear`: take off the clipboard what is there.

use crate::registry::prelude::*;

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
    /// `true` if nothing was done, since `options.dryRun` was set.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub dry_run: bool,
}

impl Operation for Op {
    const SPEC: OperationSpec = OperationSpec {
        name: "clipboard.clear",
        summary: "Clear the clipboard",
        details: "What was there is not kept.",
        capabilities: &[&[Capability::ClipboardWrite]],
        effect: Effect::Destroys,
        target: TARGET,
        scope: ScopeNeed::DESKTOP,
        options: &[CommonOption::DryRun],
        example: r#"{"op":"clipboard.clear"}"#,
        ..OperationSpec::USUAL
    };
    type Input = NoFields;
    type Options = NoFields;
    type Output = Output;
    const JUDGED: JudgedFields<NoFields> = JudgedFields::NONE;
}

impl RunBlocking for Op {
    fn run(cx: &Context, permit: &Permit, _: &NoFields, _: &NoFields) -> Result<Output, Failure> {
        let dry_run = permit.common().dry_run;
        if !dry_run {
            cx.service.displays.set_clipboard(permit.id(), None, None).map_err(refused)?;
        }
        cx.summarize(if dry_run { "judged only" } else { "cleared" });
        Ok(Output { effect: (!dry_run).then_some("confirmed"), dry_run })
    }
}
