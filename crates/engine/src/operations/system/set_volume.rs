//! `system.set_volume`: set the volume of the computer.

use bailiwick_platform::devices::Devices;

use super::device::{Input, Output, SETTING, Setting};
use crate::registry::prelude::*;

/// The operation.
pub struct Op;

const VOLUME: Setting = Setting {
    device: "volume",
    read: |devices| devices.volume().map(|volume| (volume.level, volume.muted)),
    set: Devices::set_volume,
};

impl Operation for Op {
    const SPEC: OperationSpec = OperationSpec {
        name: "system.set_volume",
        summary: "Set the volume of the computer",
        details: "Of the output that programs use unless told otherwise; its channels keep their balance, and what is muted stays \
                  muted. A level above 1, which distorts, is only the user's: `before` may say one. The answer has the level before, \
                  and the level that was read afterwards.",
        example: r#"{"op":"system.set_volume","input":{"level":0.5}}"#,
        ..SETTING
    };
    type Input = Input;
    type Options = NoFields;
    type Output = Output;
    const JUDGED: JudgedFields<Input> = JudgedFields::NONE;
}

impl RunBlocking for Op {
    fn run(cx: &Context, permit: &Permit, input: &Input, _: &NoFields) -> Result<Output, Failure> {
        VOLUME.apply(cx, permit, input)
    }
}
