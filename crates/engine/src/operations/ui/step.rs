//! `ui.step`: move a slider or spin button by steps.

use bailiwick_contract::ErrorCode;
use bailiwick_platform::accessibility::{Ability, Role};
use bailiwick_platform::program_error::ProgramError;

use super::acting::{ACTION, ActionOutput, CurrentElement, ElementName, find, judge};
use super::content::{Setting, set_one};
use super::refusal::failed;
use crate::registry::prelude::*;

/// The operation.
pub struct Op;

/// A slider of whose steps nothing is said has so many.
const STEPS: f64 = 100.0;
/// What numbers of programs are off by.
const ROUNDING: f64 = 1e-9;

/// How far.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Input {
    /// How many steps up, or down where it is negative.
    pub by: i32,
}

impl Operation for Op {
    const SPEC: OperationSpec = OperationSpec {
        name: "ui.step",
        summary: "Move a slider or spin button by steps",
        details: "A step is as long as the program says; where it says nothing, a hundredth of a slider's range, and 1 of a spin \
                  button's. Nothing is done where that leads beyond the range. Sets and reads back as ui.set_value does.",
        audited_fields: &["by"],
        example: r#"{"op":"ui.step","target":"S1@s_0a1b2c3d4e","input":{"by":-5}}"#,
        ..ACTION
    };
    type Input = Input;
    type Options = NoFields;
    type Output = ActionOutput;
    const JUDGED: JudgedFields<Input> = JudgedFields::NONE;
}

impl RunBlocking for Op {
    fn run(cx: &Context, permit: &Permit, input: &Input, _: &NoFields) -> Result<ActionOutput, Failure> {
        if input.by == 0 {
            return Err(Failure::invalid(
                "input.by",
                "`by` is a number of steps, such as 1 or -1, and not 0",
            ));
        }
        let found = find(cx, permit, ElementName::of_target(permit)?)?;
        let CurrentElement { scene, element } = &found;
        let is_stepped = matches!(element.role, Role::Slider | Role::SpinButton);
        if !is_stepped || !element.abilities.has(Ability::Number) {
            return Err(Failure::new(
                ErrorCode::UnsupportedAction,
                "only sliders and spin buttons have steps",
            )
            .hint("ui.scroll scrolls; ui.set_value sets text fields."));
        }
        let source = cx.service.elements.source.as_ref();
        let (display, ids) = (&scene.window.display, std::slice::from_ref(&element.id));
        let number = source.numbers(display, ids).map_err(failed)?.pop().flatten();
        let range = source.ranges(display, ids).map_err(failed)?.pop().flatten();
        let (number, range) = number.zip(range).ok_or_else(|| failed(ProgramError::Gone.into()))?;
        let step = source.details(display, &element.id).map_err(failed)?.step;
        judge(cx, permit, &found)?;
        let step = step.unwrap_or(match element.role {
            Role::Slider => (range[1] - range[0]) / STEPS,
            _ => 1.0,
        });
        let wanted = stepped(number, range, step, input.by)?;
        set_one(cx, permit, &found, &Setting::Number(wanted))
    }
}

/// Returns the number that is so many steps from another.
fn stepped(number: f64, [least, most]: [f64; 2], step: f64, by: i32) -> Result<f64, Failure> {
    let wanted = number + step * f64::from(by);
    let slack = ROUNDING * (most - least).abs().max(step);
    if wanted >= least - slack && wanted <= most + slack {
        return Ok(wanted.clamp(least.min(most), most.max(least)));
    }
    let (room, direction) = if by > 0 { (most - number, "up") } else { (number - least, "down") };
    let possible = (room / step + ROUNDING).floor().max(0.0);
    let possible = if possible.is_finite() { possible } else { 0.0 };
    let message = format!(
        "it is at {number}, and {} steps of {step} {direction} lead beyond its range, {least} to {most}",
        by.unsigned_abs()
    );
    let hint = match possible {
        0.0 => format!("It cannot go {direction} by a step; ui.set_value sets a number within the range."),
        steps if by > 0 => format!("Set `by` to {steps} at most."),
        steps => format!("Set `by` to -{steps} at least."),
    };
    Err(Failure::invalid("input.by", message).detail("steps", possible).hint(hint))
}

#[cfg(test)]
mod tests {
    use super::stepped;

    #[test]
    fn steps_lead_to_the_ends_of_the_range_and_not_beyond() {
        for (number, range, step, by, expected) in [
            (42.0, [0.0, 100.0], 1.0, 8, Ok(50.0)),
            (42.0, [0.0, 100.0], 1.0, -42, Ok(0.0)),
            (0.7, [0.0, 1.0], 0.1, 3, Ok(1.0)),
            (42.0, [0.0, 100.0], 1.0, 59, Err(58.0)),
            (0.0, [0.0, 1.0], 0.25, 5, Err(4.0)),
            (0.0, [0.0, 10.0], 1.0, -1, Err(0.0)),
            (9.5, [0.0, 10.0], 1.0, 1, Err(0.0)),
            // What a program says may be anything.
            (0.0, [10.0, 0.0], 1.0, 1, Err(0.0)),
            (f64::NAN, [0.0, 1.0], 1.0, 1, Err(0.0)),
            (0.0, [0.0, f64::INFINITY], 1.0, 1, Ok(1.0)),
        ] {
            let answer = stepped(number, range, step, by);
            let answer = answer.map_err(|failure| {
                failure.details.get("steps").and_then(serde_json::Value::as_f64).expect("steps")
            });
            assert_eq!(answer, expected, "{number} {range:?} {step} {by}");
        }
    }
}
