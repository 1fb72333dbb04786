//! `window.minimize`: minimize a window.

use crate::registry::prelude::*;
use bailiwick_platform::screen::WindowChange;

use super::changing::{Output, TARGET, change};

/// The operation.
pub struct Op;

impl Operation for Op {
    const SPEC: OperationSpec = OperationSpec {
        name: "window.minimize",
        summary: "Minimize a window",
        details: "Puts it away; `window.restore` brings it back.",
        capabilities: &[&[Capability::WindowControl]],
        effect: Effect::Writes,
        target: TARGET,
        scope: ScopeNeed::In(&[ScopeType::Computer]),
        platforms: &[],
        options: &[CommonOption::DryRun],
        timeout_seconds: 30,
        threads: Threads::Blocking,
        audited_fields: &[],
        example: r#"{"op":"window.minimize","target":":0/0x1a00003"}"#,
    };
    type Input = NoFields;
    type Options = NoFields;
    type Output = Output;
    const JUDGED: JudgedFields<NoFields> = JudgedFields::NONE;
}

impl RunBlocking for Op {
    fn run(cx: &Context, permit: &Permit, _: &NoFields, _: &NoFields) -> Result<Output, Failure> {
        change(cx, permit, WindowChange::Minimise)
    }
}
