//! `window.restore`: restore a window.

use crate::registry::prelude::*;
use bailiwick_platform::screen::WindowChange;

use super::changing::{CHANGE, Output, change};

/// The operation.
pub struct Op;

impl Operation for Op {
    const SPEC: OperationSpec = OperationSpec {
        name: "window.restore",
        summary: "Restore a window",
        details: "Shows a minimized window again; gives a maximized one its size back. Any other stays as it is.",
        example: r#"{"op":"window.restore","target":":0/0x1a00003"}"#,
        ..CHANGE
    };
    type Input = NoFields;
    type Options = NoFields;
    type Output = Output;
    const JUDGED: JudgedFields<NoFields> = JudgedFields::NONE;
}

impl RunBlocking for Op {
    fn run(cx: &Context, permit: &Permit, _: &NoFields, _: &NoFields) -> Result<Output, Failure> {
        change(cx, permit, WindowChange::Restore)
    }
}
