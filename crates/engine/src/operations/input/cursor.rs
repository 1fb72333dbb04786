//! `input.cursor`: where the pointer is.

use bailiwick_providers::screen::InputOrder;

use super::super::screen::{PointOutput, of_point};
use super::making::{INPUT, Seat, app_of, window_of};
use super::point::InputTarget;
use crate::registry::prelude::*;

/// The operation.
pub struct Op;

/// Where the pointer is.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// Where, in every space that applies.
    pub point: PointOutput,
    /// The window at the pointer, if the scope shows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<String>,
    /// Its app, as its program tells it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub app: Option<String>,
    /// What the pointer looks like, by the name that its program gave it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shape: Option<String>,
}

impl Operation for Op {
    const SPEC: OperationSpec = OperationSpec {
        name: "input.cursor",
        summary: "Show where the pointer is",
        details: "",
        effect: Effect::ReadOnly,
        target: TargetRule::OptionalId("the id of a display; default the primary one"),
        options: &[],
        timeout_seconds: 30,
        example: r#"{"op":"input.cursor"}"#,
        ..INPUT
    };
    type Input = NoFields;
    type Options = NoFields;
    type Output = Output;
    const JUDGED: JudgedFields<NoFields> = JudgedFields::NONE;
}

impl RunBlocking for Op {
    fn run(cx: &Context, permit: &Permit, _: &NoFields, _: &NoFields) -> Result<Output, Failure> {
        let target = InputTarget::read(cx, permit)?;
        let seat = Seat::wait(cx, permit, &target.display)?;
        let seen = seat.judge(InputOrder::default())?;
        let receiver = seen.shown(permit.screen()?, &seen.scene.at_pointer);
        let content = receiver.window.map(|at| seen.scene.windows[at].bounds);
        Ok(Output {
            point: of_point(seen.scene.pointer, seen.scene.bounds, content, &target.display, None),
            window: window_of(&seen, &receiver),
            app: app_of(&seen, &receiver),
            shape: seen.scene.shape.clone().filter(|_| receiver.window.is_some() || receiver.is_desktop),
        })
    }
}
