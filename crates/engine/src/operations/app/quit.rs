//! `app.quit`: close all windows of an application.

use crate::registry::prelude::*;
use bailiwick_platform::screen::WindowChange;

use super::super::window::judge_closing;
use super::changing::{ON_APP, Output, change, target};

/// The operation.
pub struct Op;

impl Operation for Op {
    const SPEC: OperationSpec = OperationSpec {
        name: "app.quit",
        summary: "Close all windows of an app",
        details: "Asks it to close each, as window.close does, and stops where it asks first whether to save (`dialog`). Nothing is killed; process.stop ends what app.launch started. Windows that the scope does not show stay.",
        effect: Effect::Destroys,
        example: r#"{"op":"app.quit","target":"gedit:1234"}"#,
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
        let windows: Vec<_> = app.windows.iter().collect();
        judge_closing(cx, permit, &windows.iter().map(|window| window.id.as_str()).collect::<Vec<_>>())?;
        change(cx, permit, &windows, WindowChange::Close)
    }
}
