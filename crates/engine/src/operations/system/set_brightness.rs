//! `system.set_brightness`: set the brightness of the computer's screen.

use bailiwick_platform::devices::Devices;

use super::device::{Input, Output, SETTING, Setting};
use crate::registry::prelude::*;

/// The operation.
pub struct Op;

const BRIGHTNESS: Setting = Setting {
    device: "brightness",
    read: |devices| devices.brightness().map(|level| (level, false)),
    set: Devices::set_brightness,
};

impl Operation for Op {
    const SPEC: OperationSpec = OperationSpec {
        name: "system.set_brightness",
        summary: "Set the brightness of the computer's screen",
        details: "Of the one that is built in; at 0 some go dark. The answer has the level before, which takes it back, and the level \
                  that was read afterwards.",
        example: r#"{"op":"system.set_brightness","input":{"level":0.6}}"#,
        ..SETTING
    };
    type Input = Input;
    type Options = NoFields;
    type Output = Output;
    const JUDGED: JudgedFields<Input> = JudgedFields::NONE;
}

impl RunBlocking for Op {
    fn run(cx: &Context, permit: &Permit, input: &Input, _: &NoFields) -> Result<Output, Failure> {
        BRIGHTNESS.apply(cx, permit, input)
    }
}
