//! `window.close`: close a window.

use crate::registry::prelude::*;
use bailiwick_platform::screen::WindowChange;

use super::changing::{CHANGE, Output, change};

/// The operation.
pub struct Op;

impl Operation for Op {
    const SPEC: OperationSpec = OperationSpec {
        name: "window.close",
        summary: "Close a window",
        details: "Asks its program to close it, as its close button does. A program may ask first whether to save: then `effect` is not \
                  `confirmed`, and `dialog` is the window that came up, if there is one.",
        effect: Effect::Destroys,
        example: r#"{"op":"window.close","target":":0/0x1a00003"}"#,
        ..CHANGE
    };
    type Input = NoFields;
    type Options = NoFields;
    type Output = Output;
    const JUDGED: JudgedFields<NoFields> = JudgedFields::NONE;
}

impl RunBlocking for Op {
    fn run(cx: &Context, permit: &Permit, _: &NoFields, _: &NoFields) -> Result<Output, Failure> {
        change(cx, permit, WindowChange::Close)
    }
}
