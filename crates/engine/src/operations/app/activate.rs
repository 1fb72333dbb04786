//! `app.activate`: bring an application to the front.

use crate::registry::prelude::*;
use bailiwick_platform::screen::WindowChange;

use super::changing::{ON_APP, Output, change, target};

/// The operation.
pub struct Op;

impl Operation for Op {
    const SPEC: OperationSpec = OperationSpec {
        name: "app.activate",
        summary: "Bring an app to the front",
        details: "Focuses the window that was used last, as window.focus does; a minimized one is shown again.",
        example: r#"{"op":"app.activate","target":"gedit:1234"}"#,
        ..ON_APP
    };
    type Input = NoFields;
    type Options = NoFields;
    type Output = Output;
    const JUDGED: JudgedFields<NoFields> = JudgedFields::NONE;
}

impl RunBlocking for Op {
    fn run(cx: &Context, permit: &Permit, _: &NoFields, _: &NoFields) -> Result<Output, Failure> {
        let app = target(cx, permit)?;
        let windows: Vec<_> = app.main_window().into_iter().collect();
        change(cx, permit, &windows, WindowChange::Focus)
    }
}
