//! `window.maximize`: maximize a window.

use crate::registry::prelude::*;
use bailiwick_platform::screen::WindowChange;

use super::changing::{CHANGE, Output, change};

/// The operation.
pub struct Op;

impl Operation for Op {
    const SPEC: OperationSpec = OperationSpec {
        name: "window.maximize",
        summary: "Maximize a window",
        details: "Makes it fill its display; `window.restore` gives it its size back.",
        example: r#"{"op":"window.maximize","target":":0/0x1a00003"}"#,
        ..CHANGE
    };
    type Input = NoFields;
    type Options = NoFields;
    type Output = Output;
    const JUDGED: JudgedFields<NoFields> = JudgedFields::NONE;
}

impl RunBlocking for Op {
    fn run(cx: &Context, permit: &Permit, _: &NoFields, _: &NoFields) -> Result<Output, Failure> {
        change(cx, permit, WindowChange::Maximise)
    }
}
