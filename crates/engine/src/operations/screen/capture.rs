//! `screen.capture`: take a picture of a display.

use crate::registry::prelude::*;
use bailiwick_providers::artifact::CaptureKind;
use bailiwick_providers::screen::of_display;

use super::refusal::refused;
use super::taking::{AUDITED, Options, Output, answer};

/// The operation.
pub struct Op;

impl Operation for Op {
    const SPEC: OperationSpec = OperationSpec {
        name: "screen.capture",
        summary: "Take a picture of a display",
        details: "Windows that the scope does not show are black in it. The picture is made to fit 1568 pixels and 1 MB unless \
                  another size is asked for; `region` shows a part in full size. The scope's policy must say `allowDisplays`.",
        capabilities: &[&[Capability::ScreenCapture]],
        effect: Effect::Captures,
        target: TargetRule::Display,
        scope: ScopeNeed::DESKTOP,
        audited_fields: AUDITED,
        example: r#"{"op":"screen.capture","target":"primary","options":{"maxWidth":1280}}"#,
        ..OperationSpec::USUAL
    };
    type Input = NoFields;
    type Options = Options;
    type Output = Output;
    const JUDGED: JudgedFields<NoFields> = JudgedFields::NONE;
}

impl RunBlocking for Op {
    fn run(cx: &Context, permit: &Permit, _: &NoFields, options: &Options) -> Result<Output, Failure> {
        options.check()?;
        let display = permit.id().unwrap_or("primary");
        let shot = of_display(&cx.service.displays, permit.screen()?, display, options.region());
        answer(cx, permit, CaptureKind::Display, shot.map_err(refused)?, options)
    }
}
