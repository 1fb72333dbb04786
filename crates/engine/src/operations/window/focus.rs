//! `window.focus`: focus a window.

use crate::registry::prelude::*;
use bailiwick_platform::screen::WindowChange;

use super::changing::{CHANGE, Output, change};

/// The operation.
pub struct Op;

impl Operation for Op {
    const SPEC: OperationSpec = OperationSpec {
        name: "window.focus",
        summary: "Focus a window",
        details: "Brings it to the front and gives it the keyboard; a minimized window is shown again.",
        example: r#"{"op":"window.focus","target":":0/0x1a00003"}"#,
        ..CHANGE
    };
    type Input = NoFields;
    type Options = NoFields;
    type Output = Output;
    const JUDGED: JudgedFields<NoFields> = JudgedFields::NONE;
}

impl RunBlocking for Op {
    fn run(cx: &Context, permit: &Permit, _: &NoFields, _: &NoFields) -> Result<Output, Failure> {
        change(cx, permit, WindowChange::Focus)
    }
}
