//! `input.type`: type text.

use std::thread;
use std::time::Duration;

use bailiwick_platform::screen::InputStep;
use bailiwick_providers::screen::{Act, InputOrder};

use super::making::{INPUT, Options, Output, SENT, Seat, app_of, check_foreground, window_of};
use super::point::InputTarget;
use crate::registry::prelude::*;

/// The operation.
pub struct Op;

/// The most characters at once.
const LONGEST: usize = 10_000;
/// So many are typed in one instant, in which no other program can do anything.
const CHUNK: usize = 128;
/// How long it is until more is tried where there is no room for more characters.
const ROOM_PAUSE: Duration = Duration::from_millis(25);

/// What is typed.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Input {
    /// The text, at most 10,000 characters of any script. A line break is typed as Enter, a tab as Tab.
    pub text: String,
}

impl Operation for Op {
    const SPEC: OperationSpec = OperationSpec {
        name: "input.type",
        summary: "Type text",
        details: "Into the window that has the keyboard, which must be the target if that is a window. It stops when another window \
                  gets the keyboard, when a field for secrets does, or when the user types: then the error says how many characters \
                  were typed (`typed`). ui.set_value sets a field without the keyboard, and reads it back. Else as input.key.",
        example: r#"{"op":"input.type","input":{"text":"Hello, 世界"},"options":{"foreground":true}}"#,
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
        let text = characters(&input.text)?;
        let target = InputTarget::read(cx, permit)?;
        let mut seat = Seat::wait(cx, permit, &target.display)?;
        let types_letters = text.iter().any(|it| it.is_alphabetic());
        let order = |part: &[char]| InputOrder {
            acts: vec![Act::Step(InputStep::Type(part.to_vec()))],
            window: target.window.clone(),
            types_letters,
            ..InputOrder::default()
        };
        let judged = seat.judge(order(&text))?;
        let receiver = judged.scene.focus.clone();
        let window = window_of(&judged, &receiver);
        let dry_run = permit.common().dry_run;
        let mut typed = 0;
        let result = type_all(cx, &mut seat, &text, window.as_deref(), dry_run, &mut typed, &order);
        cx.summarize(match &result {
            Ok(()) if dry_run => format!("would type {} characters", text.len()),
            _ => format!("typed {typed} characters"),
        });
        result.map_err(|mut failure| {
            if typed > 0 {
                failure.message.push_str(&format!("; {typed} of {} characters were typed", text.len()));
            }
            failure.detail("typed", typed)
        })?;
        Ok(Output {
            path: "keyboard",
            effect: SENT.filter(|_| !dry_run),
            window,
            app: app_of(&judged, &receiver),
            typed: Some(typed),
            released: !dry_run,
            dry_run,
            ..Output::default()
        })
    }
}

/// Types a text part by part, each judged for itself.
fn type_all(
    cx: &Context,
    seat: &mut Seat<'_>,
    text: &[char],
    window: Option<&str>,
    dry_run: bool,
    typed: &mut usize,
    order: &dyn Fn(&[char]) -> InputOrder,
) -> Result<(), Failure> {
    seat.judge_elements(window, true)?;
    if dry_run {
        return Ok(());
    }
    while *typed < text.len() {
        let rest = &text[*typed..];
        let end = rest.iter().take(CHUNK).position(|it| moves_focus(*it)).map_or(CHUNK, |at| at + 1);
        let part = &rest[..end.min(rest.len())];
        let mut part_order = order(part);
        // Keys for what comes later are made ready with the first.
        part_order.acts.push(Act::Step(InputStep::Prepare(rest[part.len()..].to_vec())));
        part_order.focused = window.map(str::to_owned);
        part_order.is_continued = *typed > 0;
        let done = seat.act(part_order)?.done.typed;
        *typed += done;
        if done < part.len() {
            cx.cancel.check()?;
            thread::sleep(ROOM_PAUSE);
        } else if part.last().is_some_and(|it| moves_focus(*it)) && *typed < text.len() {
            // It may have led into a field for secrets.
            seat.judge_elements(window, true)?;
        }
    }
    Ok(())
}

const fn moves_focus(character: char) -> bool {
    matches!(character, '\n' | '\t')
}

fn characters(text: &str) -> Result<Vec<char>, Failure> {
    let text: Vec<char> = text.replace("\r\n", "\n").chars().collect();
    if text.is_empty() || text.len() > LONGEST {
        return Err(Failure::invalid("input.text", format!("a text of 1 to {LONGEST} characters is typed")));
    }
    if text.iter().any(|it| it.is_control() && !moves_focus(*it)) {
        return Err(Failure::invalid("input.text", "the text has control characters")
            .hint("Send keys such as escape with input.key."));
    }
    Ok(text)
}
