//! `window.set_bounds`: move and resize a window.

use crate::registry::prelude::*;
use bailiwick_platform::screen::WindowChange;

use super::changing::{CHANGE, Output, change};

/// The operation.
pub struct Op;

/// Where a window is to be. What is left out stays.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct Input {
    /// The left edge of its content, in pixels of the display.
    pub x: Option<i32>,
    /// The upper edge of its content, in pixels of the display.
    pub y: Option<i32>,
    /// The width of its content in pixels.
    pub width: Option<u32>,
    /// The height of its content in pixels.
    pub height: Option<u32>,
}

impl Operation for Op {
    const SPEC: OperationSpec = OperationSpec {
        name: "window.set_bounds",
        summary: "Move and resize a window",
        details: "Its content has to be on the display as a whole: other bounds are refused, never cut. Window managers and programs \
                  may round or refuse sizes: `bounds` is what came of it.",
        audited_fields: &["x", "y", "width", "height"],
        example: r#"{"op":"window.set_bounds","target":":0/0x1a00003","input":{"x":40,"y":40,"width":800,"height":600}}"#,
        ..CHANGE
    };
    type Input = Input;
    type Options = NoFields;
    type Output = Output;
    const JUDGED: JudgedFields<Input> = JudgedFields::NONE;
}

impl RunBlocking for Op {
    fn run(cx: &Context, permit: &Permit, input: &Input, _: &NoFields) -> Result<Output, Failure> {
        let Input { x, y, width, height } = *input;
        if x.is_none() && y.is_none() && width.is_none() && height.is_none() {
            return Err(Failure::invalid("input", "no bounds are named")
                .hint("Name at least one of `x`, `y`, `width` and `height`."));
        }
        change(cx, permit, WindowChange::Place { x, y, width, height })
    }
}
