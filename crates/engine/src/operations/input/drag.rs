//! `input.drag`: drag from a point to another.

use std::thread;
use std::time::Duration;

use bailiwick_platform::screen::{InputStep, Point};
use bailiwick_providers::screen::{Act, InputOrder, InputPoint};

use super::keys::modifiers;
use super::making::{
    Button, INPUT, Options, Output, SENT, Seat, app_of, at, check_foreground, steps, window_of,
};
use super::point::{InputTarget, NamedPoint, output};
use crate::registry::prelude::*;

/// The operation.
pub struct Op;

/// How long a drag takes unless that is said, and the longest, in milliseconds.
const DURATION_MS: u64 = 300;
const MAX_DURATION_MS: u64 = 10_000;
/// How long the pointer rests between two places, in milliseconds.
const STEP_MS: u64 = 20;
/// The fewest places on the way: programs leave out what comes all at once.
const MIN_STEPS: u64 = 10;

/// From where to where.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct Input {
    /// From where; left out it is the middle of the element that is the target.
    pub point: Option<NamedPoint>,
    /// Where to.
    pub to: Option<NamedPoint>,
    /// Which button.
    pub button: Button,
    /// How long it takes, in milliseconds, at most 10,000; default 300.
    pub duration_ms: Option<u64>,
    /// Keys that are held meanwhile: `ctrl`, `shift`, `alt`, `altgr`, `super`.
    pub modifiers: Vec<String>,
}

impl Operation for Op {
    const SPEC: OperationSpec = OperationSpec {
        name: "input.drag",
        summary: "Drag from a point to another",
        details: "Each place on the way is judged as for input.click; where one is refused, the button is released at the last.",
        audited_fields: &["button", "durationMs"],
        example: r#"{"op":"input.drag","target":":0/0x1a00003","input":{"point":{"x":10,"y":20},"to":{"x":90,"y":20}},"options":{"foreground":true}}"#,
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
        let duration = input.duration_ms.unwrap_or(DURATION_MS);
        if duration > MAX_DURATION_MS {
            return Err(Failure::invalid(
                "input.durationMs",
                format!("a drag takes {MAX_DURATION_MS} ms at most"),
            ));
        }
        let held = modifiers(&input.modifiers, "input.modifiers")?;
        let mut target = InputTarget::read(cx, permit)?;
        let (from, picture) = target.spot(cx, permit, input.point.as_ref(), "input.point")?;
        let to =
            input.to.as_ref().ok_or_else(|| Failure::invalid("input.to", "no point to drag to is named"))?;
        let (to, to_picture) = target.spot(cx, permit, Some(to), "input.to")?;
        let mut seat = Seat::wait(cx, permit, &target.display)?;
        let number = input.button.number();
        let mut acts = vec![Act::Move(from)];
        acts.extend(steps(held.presses()));
        acts.push(Act::Step(InputStep::Press(number)));
        let mut order = InputOrder { acts, window: target.window.clone(), ..InputOrder::default() };
        let start = seat.judge(order.clone())?;
        let end = seat.judge(InputOrder { acts: vec![Act::Move(to)], ..InputOrder::default() })?;
        let receiver = at(&start, 0);
        order.window = order.window.or_else(|| window_of(&start, &receiver));
        seat.judge_elements(order.window.as_deref(), false)?;
        seat.judge_elements(window_of(&end, &at(&end, 0)).as_deref(), false)?;
        let mut done = Output {
            path: "pointer",
            window: window_of(&start, &receiver),
            app: app_of(&start, &receiver),
            point: output(&start, &target.display, 0, picture.as_ref()),
            to: output(&end, &target.display, 0, to_picture.as_ref()),
            dry_run: permit.common().dry_run,
            ..Output::default()
        };
        if done.dry_run {
            cx.summarize("would drag");
            return Ok(done);
        }
        let begun = seat.act(order)?;
        let places = |seen: &bailiwick_providers::screen::InputSeen| {
            seen.scene.at_points.first().map(|(point, _)| *point).unwrap_or_default()
        };
        let (first, last) = (places(&begun), places(&end));
        let count = (duration / STEP_MS).max(MIN_STEPS);
        for step in 1..=count {
            thread::sleep(Duration::from_millis(duration / count));
            let mut acts = vec![Act::Move(InputPoint::Display(between(first, last, step, count)))];
            if step == count {
                acts.push(Act::Step(InputStep::Release(number)));
                acts.extend(steps(held.releases()));
            }
            seat.act(InputOrder { acts, is_continued: true, ..InputOrder::default() })?;
        }
        (done.effect, done.released) = (SENT, true);
        cx.summarize(format!("dragged in a window of {}", done.app.as_deref().unwrap_or("no program")));
        Ok(done)
    }
}

fn between(from: Point, to: Point, step: u64, count: u64) -> Point {
    let part = |from: i32, to: i32| {
        let way = i64::from(to) - i64::from(from);
        let done = i64::try_from(step).unwrap_or(1) * way / i64::try_from(count).unwrap_or(1);
        i32::try_from(i64::from(from) + done).unwrap_or(to)
    };
    Point { x: part(from.x, to.x), y: part(from.y, to.y) }
}
