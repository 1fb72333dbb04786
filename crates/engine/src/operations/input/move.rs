//! `input.move`: move the pointer.

use bailiwick_providers::elements::ActionEffect;
use bailiwick_providers::screen::{Act, InputOrder};

use super::making::{INPUT, Options, Output, Seat, app_of, at, check_foreground, window_of};
use super::point::{InputTarget, NamedPoint, output};
use crate::registry::prelude::*;

/// The operation.
pub struct Op;

/// Where it goes.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct Input {
    /// Where; left out it is the middle of the element that is the target.
    pub point: Option<NamedPoint>,
}

impl Operation for Op {
    const SPEC: OperationSpec = OperationSpec {
        name: "input.move",
        summary: "Move the pointer",
        details: "To a point at which the window that is the target shows, if one is. Where the pointer is then is read back.",
        example: r#"{"op":"input.move","input":{"point":{"x":0.5,"y":0.5,"space":"unit"}},"options":{"foreground":true}}"#,
        ..INPUT
    };
    type Input = Input;
    type Options = Options;
    type Output = Output;
    const JUDGED: JudgedFields<Input> = JudgedFields::NONE;
}

impl RunBlocking for Op {
    fn run(cx: &Context, permit: &Permit, input: &Input, options: &Options) -> Result<Output, Failure> {
        check_foreground(*options)?;
        let mut target = InputTarget::read(cx, permit)?;
        let (spot, picture) = target.spot(cx, permit, input.point.as_ref(), "input.point")?;
        let mut seat = Seat::wait(cx, permit, &target.display)?;
        let dry_run = permit.common().dry_run;
        let order =
            InputOrder { acts: vec![Act::Move(spot)], window: target.window, ..InputOrder::default() };
        let seen = if dry_run { seat.judge(order)? } else { seat.act(order)? };
        let receiver = at(&seen, 0);
        let mut done = Output {
            path: "pointer",
            window: window_of(&seen, &receiver),
            app: app_of(&seen, &receiver),
            point: output(&seen, &target.display, 0, picture.as_ref()),
            released: !dry_run,
            dry_run,
            ..Output::default()
        };
        if dry_run {
            cx.summarize("would move the pointer");
            return Ok(done);
        }
        let now = seat.judge(InputOrder::default())?.scene.pointer;
        let is_there = seen.scene.at_points.first().is_some_and(|(point, _)| *point == now);
        let effect = if is_there { ActionEffect::Confirmed } else { ActionEffect::Partial };
        done.effect = Some(effect.as_str());
        cx.summarize("moved the pointer");
        Ok(done)
    }
}
