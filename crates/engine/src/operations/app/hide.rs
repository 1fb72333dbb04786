//! `app.hide`: minimize the windows of an application.

use crate::registry::prelude::*;
use bailiwick_platform::screen::{WindowChange, WindowState};

use super::changing::{ON_APP, Output, change, target};

/// The operation.
pub struct Op;

impl Operation for Op {
    const SPEC: OperationSpec = OperationSpec {
        name: "app.hide",
        summary: "Minimize all windows of an app",
        details: "app.unhide brings them back.",
        example: r#"{"op":"app.hide","target":"gedit:1234"}"#,
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
        let windows: Vec<_> = app.windows.iter().filter(|it| it.state == WindowState::Visible).collect();
        change(cx, permit, &windows, WindowChange::Minimise)
    }
}
