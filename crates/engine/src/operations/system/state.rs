//! `system.state`: battery, time, brightness and volume, and whether the user is there.

use bailiwick_platform::devices::{DeviceError, LocalTime};

use super::device::{devices, rounded};
use crate::registry::prelude::*;

/// The operation.
pub struct Op;

/// How the computer is. What cannot be had is left out, and `missing` says why.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// The battery; several as one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub battery: Option<BatteryState>,
    /// Whether the computer is plugged in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on_mains: Option<bool>,
    /// The time as the user has it, with its distance from UTC.
    pub local_time: String,
    /// The name of its time zone, such as `Europe/Berlin`, or its distance from UTC where the system has no name for it.
    pub time_zone: String,
    /// For how many milliseconds nobody, clients included, has used pointer and keyboard.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idle_ms: Option<u64>,
    /// Whether the session is locked, as the desktop says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub locked: Option<bool>,
    /// The brightness of the screen, from 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub brightness: Option<f64>,
    /// The volume of the output that programs use unless told otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub volume: Option<VolumeState>,
    /// What is left out, and why.
    pub missing: Vec<MissingValue>,
}

/// How the battery is.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BatteryState {
    /// How full it is, from 0 to 100.
    pub percent: f64,
    /// `charging`, `discharging`, `full`, `empty`, `waiting` (plugged in, not charging) or `unknown`.
    pub state: &'static str,
}

/// How loud it is.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct VolumeState {
    /// From 0 to 1; more where the user has set more.
    pub level: f64,
    /// Whether nothing is heard.
    pub muted: bool,
}

/// A value that cannot be had.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MissingValue {
    /// The field that is left out.
    pub value: &'static str,
    /// Why.
    pub why: String,
}

impl Operation for Op {
    const SPEC: OperationSpec = OperationSpec {
        name: "system.state",
        summary: "Read battery, time, brightness and volume, and how long the user has been away",
        details: "Each value is asked of this computer at once. What cannot be had is left out; `missing` says why.",
        capabilities: &[&[Capability::SystemRead]],
        effect: Effect::ReadOnly,
        scope: ScopeNeed::COMPUTER,
        example: r#"{"op":"system.state"}"#,
        ..OperationSpec::USUAL
    };
    type Input = NoFields;
    type Options = NoFields;
    type Output = Output;
    const JUDGED: JudgedFields<NoFields> = JudgedFields::NONE;
}

impl RunBlocking for Op {
    fn run(cx: &Context, _: &Permit, _: &NoFields, _: &NoFields) -> Result<Output, Failure> {
        let mut missing = MissingValues(Vec::new());
        let devices = devices(cx)?;
        let LocalTime { time, zone } = LocalTime::now();
        let power = devices.power();
        cx.cancel.check()?;
        let idle = match cx.service.displays.idle_time(None) {
            Ok(Some(idle)) => Ok(u64::try_from(idle.as_millis()).unwrap_or(u64::MAX)),
            Ok(None) => Err("the display does not count it".to_owned()),
            Err(error) => Err(error.to_string()),
        };
        let locked = devices.locked();
        cx.cancel.check()?;
        let output = Output {
            battery: missing
                .kept("battery", power.battery)
                .map(|it| BatteryState { percent: (it.percent * 10.0).round() / 10.0, state: it.state }),
            on_mains: missing.kept("onMains", power.on_mains),
            local_time: time,
            time_zone: zone,
            idle_ms: missing.kept_or("idleMs", idle),
            locked: missing.kept("locked", locked),
            brightness: missing.kept("brightness", devices.brightness()).map(rounded),
            volume: missing
                .kept("volume", devices.volume())
                .map(|it| VolumeState { level: rounded(it.level), muted: it.muted }),
            missing: missing.0,
        };
        cx.summarize(format!("{} values are missing", output.missing.len()));
        Ok(output)
    }
}

/// What cannot be had so far.
struct MissingValues(Vec<MissingValue>);

impl MissingValues {
    fn kept<T>(&mut self, value: &'static str, read: Result<T, DeviceError>) -> Option<T> {
        self.kept_or(value, read.map_err(|error| error.to_string()))
    }

    fn kept_or<T>(&mut self, value: &'static str, read: Result<T, String>) -> Option<T> {
        read.map_err(|why| self.0.push(MissingValue { value, why })).ok()
    }
}
