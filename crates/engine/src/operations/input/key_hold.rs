//! `input.key_hold`: hold keys for a while.

use bailiwick_providers::screen::{Act, InputOrder};

use super::keys::Chord;
use super::making::{INPUT, Options, Output, SENT, Seat, app_of, check_foreground, steps, window_of};
use super::point::InputTarget;
use crate::registry::prelude::*;

/// The operation.
pub struct Op;

/// The longest that keys are held, in milliseconds.
const MAX_MS: u64 = 10_000;

/// Which keys, and for how long.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Input {
    /// The keys, such as `space` or `shift+right`.
    pub keys: String,
    /// For how long, in milliseconds, 1 to 10,000.
    pub ms: u64,
}

impl Operation for Op {
    const SPEC: OperationSpec = OperationSpec {
        name: "input.key_hold",
        summary: "Hold keys for a while",
        details: "They do not repeat meanwhile. They are released when the time is over, when another window gets the keyboard or the user \
                  uses it, and whatever becomes of Bailiwick. Else as input.key.",
        audited_fields: &["ms"],
        example: r#"{"op":"input.key_hold","input":{"keys":"space","ms":500},"options":{"foreground":true}}"#,
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
        if !(1..=MAX_MS).contains(&input.ms) {
            return Err(Failure::invalid("input.ms", format!("keys are held for 1 to {MAX_MS} ms")));
        }
        let chord = Chord::parse(&input.keys, "input.keys")?;
        let target = InputTarget::read(cx, permit)?;
        let mut seat = Seat::wait(cx, permit, &target.display)?;
        let order = |acts: Vec<Act>| InputOrder { acts, ..InputOrder::default() };
        let press = InputOrder { window: target.window, ..order(steps(chord.presses()).collect()) };
        let judged = seat.judge(press.clone())?;
        let receiver = judged.scene.focus.clone();
        let window = window_of(&judged, &receiver);
        seat.judge_elements(window.as_deref(), true)?;
        let dry_run = permit.common().dry_run;
        if !dry_run {
            seat.act(InputOrder { focused: window.clone(), ..press.clone() })?;
            seat.hold(input.ms, &InputOrder { focused: window.clone(), is_continued: true, ..press })?;
            let releases = order(steps(chord.releases()).collect());
            seat.act(InputOrder { focused: window.clone(), is_continued: true, ..releases })?;
        }
        cx.summarize(if dry_run { "would hold keys" } else { "held keys" });
        Ok(Output {
            path: "keyboard",
            effect: SENT.filter(|_| !dry_run),
            window,
            app: app_of(&judged, &receiver),
            keys: Some(chord.name),
            released: !dry_run,
            dry_run,
            ..Output::default()
        })
    }
}
