//! `input.key`: press a chord of keys.

use bailiwick_providers::screen::InputOrder;

use super::keys::Chord;
use super::making::{INPUT, Options, Output, SENT, Seat, app_of, check_foreground, steps, window_of};
use super::point::InputTarget;
use crate::registry::prelude::*;

/// The operation.
pub struct Op;

/// The most repetitions.
const MAX_REPEAT: u32 = 100;

/// Which keys.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Input {
    /// The keys, such as `enter` or `ctrl+shift+t`.
    pub keys: String,
    /// How often, 1 to 100; default 1.
    #[serde(default)]
    pub repeat: Option<u32>,
}

impl Operation for Op {
    const SPEC: OperationSpec = OperationSpec {
        name: "input.key",
        summary: "Press keys",
        details: "They go to the window that has the keyboard, which must be the target if that is a window. Refused for windows that \
                  the scope does not show, for terminals, for those in which Bailiwick runs and for fields for secrets, and while the \
                  user types or moves the pointer.",
        audited_fields: &["repeat"],
        example: r#"{"op":"input.key","input":{"keys":"ctrl+s"},"options":{"foreground":true}}"#,
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
        let repeat = input.repeat.unwrap_or(1);
        if !(1..=MAX_REPEAT).contains(&repeat) {
            return Err(Failure::invalid(
                "input.repeat",
                format!("keys are pressed 1 to {MAX_REPEAT} times"),
            ));
        }
        let chord = Chord::parse(&input.keys, "input.keys")?;
        let target = InputTarget::read(cx, permit)?;
        let mut seat = Seat::wait(cx, permit, &target.display)?;
        let acts = (0..repeat).flat_map(|_| steps(chord.presses()).chain(steps(chord.releases()))).collect();
        let order = InputOrder { acts, window: target.window, ..InputOrder::default() };
        let judged = seat.judge(order.clone())?;
        let receiver = judged.scene.focus.clone();
        let window = window_of(&judged, &receiver);
        seat.judge_elements(window.as_deref(), true)?;
        let dry_run = permit.common().dry_run;
        if !dry_run {
            seat.act(InputOrder { focused: window.clone(), ..order })?;
        }
        cx.summarize(if dry_run { "would press keys" } else { "pressed keys" });
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
