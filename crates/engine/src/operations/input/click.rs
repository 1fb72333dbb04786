//! `input.click`: click at a point.

use bailiwick_platform::screen::InputStep;
use bailiwick_providers::screen::{Act, InputOrder};

use super::keys::modifiers;
use super::making::{
    Button, INPUT, Options, Output, SENT, Seat, app_of, at, check_foreground, steps, window_of,
};
use super::point::{InputTarget, NamedPoint, output};
use crate::registry::prelude::*;

/// The operation.
pub struct Op;

/// The most clicks at once.
const MAX_COUNT: u8 = 3;
/// The longest that a button is held, in milliseconds.
const MAX_HOLD_MS: u64 = 10_000;

/// Where and how it is clicked.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct Input {
    /// Where; left out it is the middle of the element that is the target.
    pub point: Option<NamedPoint>,
    /// Which button.
    pub button: Button,
    /// How often, 1 to 3; default 1.
    pub count: Option<u8>,
    /// For how long the button is held, in milliseconds, at most 10,000; default 0.
    pub hold_ms: u64,
    /// Keys that are held meanwhile: `ctrl`, `shift`, `alt`, `altgr`, `super`.
    pub modifiers: Vec<String>,
}

impl Operation for Op {
    const SPEC: OperationSpec = OperationSpec {
        name: "input.click",
        summary: "Click at a point",
        details: "With the real pointer, which stays there. With a window or element as the target, that must be what is at the point: \
                  else it is `occluded`. Refused for windows that the scope does not show, for terminals and for those in which \
                  Bailiwick runs, and while the user types or moves the pointer.",
        audited_fields: &["button", "count", "holdMs"],
        example: r#"{"op":"input.click","target":":0/0x1a00003","input":{"point":{"x":10,"y":20}},"options":{"foreground":true}}"#,
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
        let count = input.count.unwrap_or(1);
        if !(1..=MAX_COUNT).contains(&count) {
            return Err(Failure::invalid("input.count", format!("a click is done 1 to {MAX_COUNT} times")));
        }
        if input.hold_ms > MAX_HOLD_MS {
            return Err(Failure::invalid(
                "input.holdMs",
                format!("a button is held for {MAX_HOLD_MS} ms at most"),
            ));
        }
        let held = modifiers(&input.modifiers, "input.modifiers")?;
        let mut target = InputTarget::read(cx, permit)?;
        let (spot, picture) = target.spot(cx, permit, input.point.as_ref(), "input.point")?;
        let mut seat = Seat::wait(cx, permit, &target.display)?;
        let number = input.button.number();
        let (press, release) = (InputStep::Press(number), InputStep::Release(number));
        let clicks = if input.hold_ms > 0 { usize::from(count) - 1 } else { count.into() };
        let mut acts = vec![Act::Move(spot.clone())];
        acts.extend(steps(held.presses()));
        acts.extend((0..clicks).flat_map(|_| [press.clone(), release.clone()]).map(Act::Step));
        if input.hold_ms > 0 {
            acts.push(Act::Step(press));
        } else {
            acts.extend(steps(held.releases()));
        }
        let mut order = InputOrder { acts, window: target.window.clone(), ..InputOrder::default() };
        let judged = seat.judge(order.clone())?;
        let receiver = at(&judged, 0);
        // What was judged must be what gets it.
        order.window = order.window.or_else(|| window_of(&judged, &receiver));
        seat.judge_elements(order.window.as_deref(), false)?;
        let mut done = Output {
            path: "pointer",
            window: window_of(&judged, &receiver),
            app: app_of(&judged, &receiver),
            dry_run: permit.common().dry_run,
            ..Output::default()
        };
        if done.dry_run {
            done.point = output(&judged, &target.display, 0, picture.as_ref());
            cx.summarize("would click");
            return Ok(done);
        }
        let seen = seat.act(order.clone())?;
        done.point = output(&seen, &target.display, 0, picture.as_ref());
        if input.hold_ms > 0 {
            let there = InputOrder { window: order.window, is_continued: true, ..InputOrder::default() };
            seat.hold(input.hold_ms, &InputOrder { acts: vec![Act::Move(spot)], ..there.clone() })?;
            let mut acts = vec![Act::Step(release)];
            acts.extend(steps(held.releases()));
            seat.act(InputOrder { acts, ..there })?;
        }
        (done.effect, done.released) = (SENT, true);
        cx.summarize(format!("clicked in a window of {}", done.app.as_deref().unwrap_or("no program")));
        Ok(done)
    }
}
