//! `input.scroll`: turn the wheel at a point.

use bailiwick_platform::screen::InputStep;
use bailiwick_providers::screen::{Act, InputOrder};

use super::keys::modifiers;
use super::making::{INPUT, Options, Output, SENT, Seat, app_of, at, check_foreground, steps, window_of};
use super::point::{InputTarget, NamedPoint, output};
use crate::registry::prelude::*;

/// The operation.
pub struct Op;

/// The most steps of the wheel at once.
const MAX_STEPS: u32 = 100;

/// Where and how far.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct Input {
    /// Where; left out it is the middle of the element that is the target.
    pub point: Option<NamedPoint>,
    /// Steps of the wheel to the right, negative to the left; -100 to 100.
    pub dx: i32,
    /// Steps of the wheel down, negative up; -100 to 100.
    pub dy: i32,
    /// Keys that are held meanwhile: `ctrl`, `shift`, `alt`, `altgr`, `super`.
    pub modifiers: Vec<String>,
}

impl Operation for Op {
    const SPEC: OperationSpec = OperationSpec {
        name: "input.scroll",
        summary: "Turn the wheel of the pointer at a point",
        details: "The pointer goes there and stays. What is refused is as for input.click.",
        audited_fields: &["dx", "dy"],
        example: r#"{"op":"input.scroll","target":":0/0x1a00003","input":{"point":{"x":10,"y":20},"dy":3},"options":{"foreground":true}}"#,
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
        if input.dx == 0 && input.dy == 0 {
            return Err(Failure::invalid("input.dy", "no step of the wheel is named")
                .hint("Set `dy` or `dx`, such as 3."));
        }
        if input.dx.unsigned_abs() > MAX_STEPS || input.dy.unsigned_abs() > MAX_STEPS {
            return Err(Failure::invalid("input.dy", format!("the wheel turns {MAX_STEPS} steps at most")));
        }
        let held = modifiers(&input.modifiers, "input.modifiers")?;
        let mut target = InputTarget::read(cx, permit)?;
        let (spot, picture) = target.spot(cx, permit, input.point.as_ref(), "input.point")?;
        let mut seat = Seat::wait(cx, permit, &target.display)?;
        let wheel = |count: i32, back: u8, forth: u8| {
            let button = if count < 0 { back } else { forth };
            (0..count.unsigned_abs())
                .flat_map(move |_| [InputStep::Press(button), InputStep::Release(button)])
        };
        let mut acts = vec![Act::Move(spot)];
        acts.extend(steps(held.presses()));
        acts.extend(wheel(input.dy, 4, 5).chain(wheel(input.dx, 6, 7)).map(Act::Step));
        acts.extend(steps(held.releases()));
        let mut order = InputOrder { acts, window: target.window.clone(), ..InputOrder::default() };
        let judged = seat.judge(order.clone())?;
        let receiver = at(&judged, 0);
        order.window = order.window.or_else(|| window_of(&judged, &receiver));
        seat.judge_elements(order.window.as_deref(), false)?;
        let dry_run = permit.common().dry_run;
        let seen = if dry_run { judged } else { seat.act(order)? };
        cx.summarize(if dry_run { "would scroll" } else { "scrolled" });
        Ok(Output {
            path: "pointer",
            effect: SENT.filter(|_| !dry_run),
            window: window_of(&seen, &receiver),
            app: app_of(&seen, &receiver),
            point: output(&seen, &target.display, 0, picture.as_ref()),
            released: !dry_run,
            dry_run,
            ..Output::default()
        })
    }
}
