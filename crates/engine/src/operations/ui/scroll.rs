//! `ui.scroll`: scroll what has scroll bars.

use bailiwick_contract::ErrorCode;
use bailiwick_platform::accessibility::RuntimeId;
use bailiwick_platform::program_error::ProgramError;
use bailiwick_providers::elements::{ActionEffect, WindowScene, judge_again};

use super::acting::{ACTION, ElementName, LOOK_FOR_WANTED, find_out_of_view, is_shown, look_for, undecided};
use super::judging::{closed_processes, judge_window};
use super::refusal::{failed, unread};
use super::scrolling::{ScrollBar, scroll_bars};
use super::see::target_scene;
use crate::registry::prelude::*;

/// The operation.
pub struct Op;

/// How far, where nothing else is said.
const USUAL: u32 = 3;
/// The furthest.
const MOST: u32 = 1_000;

/// Where to, and how far.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Input {
    /// `up`, `down`, `left` or `right`: what is there comes into view.
    pub direction: Direction,
    /// How many lines or pages, from 1 to 1,000; default 3.
    pub amount: Option<u32>,
    /// `line` (default) or `page`.
    pub unit: Option<Unit>,
}

/// Where to scroll.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// To the beginning.
    Up,
    /// To the end.
    Down,
    /// To the left.
    Left,
    /// To the right.
    Right,
}

/// What is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    /// A step of the scroll bar.
    Line,
    /// What shows at a time, less a little.
    Page,
}

/// What was done.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// As for ui.set_value, of the position of the scroll bar.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effect: Option<&'static str>,
    /// `value`: the scroll bar was set; `none` where it was at that end already.
    pub path: &'static str,
    /// Where it is, from 0 to 1: read back, or as it was with `dryRun`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub position: Option<f64>,
    /// Whether nothing was done, as asked.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub dry_run: bool,
}

impl Operation for Op {
    const SPEC: OperationSpec = OperationSpec {
        name: "ui.scroll",
        summary: "Scroll what has scroll bars, without the pointer",
        details: "Sets the scroll bar of the innermost thing around the element that has one for this direction, or the window's \
                  only one, and reads it back. It stops at the ends. What shows no scroll bar to assistive technology is \
                  `unsupported_action`, such as pages in Chromium and lists of Qt.",
        target: TargetRule::WindowOrElement,
        audited_fields: &["direction", "amount", "unit"],
        example: r#"{"op":"ui.scroll","target":"T1@s_0a1b2c3d4e","input":{"direction":"down"}}"#,
        ..ACTION
    };
    type Input = Input;
    type Options = NoFields;
    type Output = Output;
    const JUDGED: JudgedFields<Input> = JudgedFields::NONE;
}

impl RunBlocking for Op {
    fn run(cx: &Context, permit: &Permit, input: &Input, _: &NoFields) -> Result<Output, Failure> {
        let amount = input.amount.unwrap_or(USUAL);
        if !(1..=MOST).contains(&amount) {
            return Err(Failure::invalid("input.amount", format!("`amount` is from 1 to {MOST}")));
        }
        let (scene, element) = match permit.id() {
            Some(id) if id.contains('@') => {
                let found = find_out_of_view(cx, permit, ElementName::of_target(permit)?)?;
                (found.scene, Some(found.element.id))
            }
            _ => {
                let scene = target_scene(cx, permit)?;
                judge_window(&closed_processes(cx), &scene)?;
                (scene, None)
            }
        };
        let source = cx.service.elements.source.as_ref();
        let display = scene.window.display.as_str();
        let bar = chosen(&scene, scroll_bars(source, &scene).map_err(failed)?, element.as_ref(), input)?;
        let read = || {
            let number = source.numbers(display, std::slice::from_ref(&bar.number)).map_err(failed)?.pop();
            number.flatten().ok_or_else(|| failed(ProgramError::Gone.into()))
        };
        let before = read()?;
        let range =
            source.ranges(display, std::slice::from_ref(&bar.number)).map_err(failed)?.pop().flatten();
        let step = source.details(display, &bar.number).map_err(failed)?.step;
        let [least, most] =
            range.map(|range| bar.reach(range)).ok_or_else(|| failed(ProgramError::Gone.into()))?;
        // Numbers were read since the window was judged.
        judge_again(&cx.service.displays, permit.screen()?, &scene).map_err(unread)?;
        let line = bar.line(step);
        let unit = match input.unit.unwrap_or(Unit::Line) {
            Unit::Line => line,
            Unit::Page => bar.page(line).ok_or_else(no_page)?,
        };
        let way = unit * f64::from(amount);
        let wanted = match input.direction {
            Direction::Up | Direction::Left => before - way,
            Direction::Down | Direction::Right => before + way,
        };
        let wanted = wanted.min(most).max(least);
        let is_near = |one: f64, other: f64| (one - other).abs() <= bar.slack([least, most]);
        let mut output = Output {
            effect: None,
            path: "value",
            position: position(before, [least, most]),
            dry_run: permit.common().dry_run,
        };
        if output.dry_run {
            cx.summarize("would scroll");
            return Ok(output);
        }
        let effect = if is_near(before, wanted) {
            output.path = "none";
            ActionEffect::Confirmed
        } else {
            source.set_number(display, &bar.number, wanted).map_err(undecided)?;
            let now = look_for(cx, LOOK_FOR_WANTED, read, |now| is_near(*now, wanted));
            // What was read while nobody may see the window is left out.
            let is_shown = is_shown(cx, permit, &scene)?;
            output.position =
                now.as_ref().ok().filter(|_| is_shown).and_then(|now| position(*now, [least, most]));
            match now {
                Ok(now) if is_near(now, wanted) => ActionEffect::Confirmed,
                Ok(now) if is_near(now, before) => ActionEffect::SuspectedNoop,
                Ok(_) => ActionEffect::Partial,
                Err(_) => ActionEffect::Unverifiable,
            }
        };
        output.effect = Some(effect.as_str());
        cx.summarize(format!("scrolled a window of {}: {}", scene.window.app, effect.as_str()));
        Ok(output)
    }
}

/// Returns where a scroll bar is, from 0 to 1, in thousandths.
fn position(number: f64, [least, most]: [f64; 2]) -> Option<f64> {
    let part = ((number - least) / (most - least)).clamp(0.0, 1.0);
    part.is_finite().then(|| (part * 1_000.0).round() / 1_000.0)
}

/// Finds the scroll bar that is meant: that of the innermost thing around the element, or the only one.
fn chosen(
    scene: &WindowScene,
    bars: Vec<ScrollBar>,
    element: Option<&RuntimeId>,
    input: &Input,
) -> Result<ScrollBar, Failure> {
    let is_vertical = matches!(input.direction, Direction::Up | Direction::Down);
    let mut bars: Vec<ScrollBar> = bars.into_iter().filter(|bar| bar.is_vertical == is_vertical).collect();
    if let Some(element) = element {
        let all = &scene.tree.elements;
        let start = all.iter().position(|it| it.id == *element);
        let mut around = std::iter::successors(start, |at| all[*at].parent);
        let pane = around.find(|at| bars.iter().any(|bar| bar.pane == *at));
        bars.retain(|bar| Some(bar.pane) == pane);
    }
    match bars.len() {
        0 => Err(Failure::new(ErrorCode::UnsupportedAction, "nothing there has a scroll bar for this direction")
            .hint("ui.scroll_to brings an element into view; input.scroll turns the wheel, where a scope allows it.")),
        1 => Ok(bars.remove(0)),
        _ => Err(Failure::new(ErrorCode::AmbiguousTarget, "several parts of the window have such a scroll bar")
            .hint("Name an element within the part that is meant, from ui.see.")),
    }
}

fn no_page() -> Failure {
    Failure::new(ErrorCode::UnsupportedAction, "the program does not say how long a page is")
        .detail("field", "input.unit")
        .hint("Use lines: leave `unit` out.")
}
