//! `screen.capture_window`: take a picture of a window.

use crate::registry::prelude::*;
use bailiwick_providers::artifact::CaptureKind;
use bailiwick_providers::screen::of_window;

use super::refusal::refused;
use super::taking::{AUDITED, Options, Output, answer};

/// The operation.
pub struct Op;

impl Operation for Op {
    const SPEC: OperationSpec = OperationSpec {
        name: "screen.capture_window",
        summary: "Take a picture of a window",
        details: "Shows the window itself, whatever covers it, without its title bar. A minimised window has no picture. The \
                  scope's policy must say `allowWindows`.",
        capabilities: &[&[Capability::ScreenCapture]],
        effect: Effect::Captures,
        target: TargetRule::Window,
        scope: ScopeNeed::DESKTOP,
        audited_fields: AUDITED,
        example: r#"{"op":"screen.capture_window","target":":0/0x1a00003"}"#,
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
        let window = permit.id().unwrap_or_default();
        let shot = of_window(&cx.service.displays, permit.screen()?, window, options.region());
        answer(cx, permit, CaptureKind::Window, shot.map_err(refused)?, options)
    }
}
