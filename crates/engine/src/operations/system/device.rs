//! What the operations that set a device have in common.

use bailiwick_contract::{ErrorCode, FOR_USER};
use bailiwick_platform::devices::{DeviceError, Devices};
use bailiwick_providers::elements::ActionEffect;

use crate::registry::prelude::*;

/// What the operations that set a device have in common.
pub(super) const SETTING: OperationSpec = OperationSpec {
    capabilities: &[&[Capability::SystemControl]],
    effect: Effect::ControlsDesktop,
    scope: ScopeNeed::COMPUTER,
    platforms: &["linux"],
    options: &[CommonOption::DryRun],
    audited_fields: &["level"],
    ..OperationSpec::USUAL
};

/// What to set.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Input {
    /// The level, from 0 to 1.
    pub level: f64,
}

/// What was set.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// The level before: with it as `level` the operation takes this back.
    pub before: f64,
    /// The level that was read afterwards; devices have steps, so that it may differ a little from what was asked for. Left out
    /// where it could not be read, and with `dryRun`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub level: Option<f64>,
    /// `confirmed`: read back as requested. `partial`: changed, but not as requested. `suspected_noop`: as it was.
    /// `unverifiable`: it could not be read afterwards. Left out with `dryRun`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effect: Option<&'static str>,
    /// Whether sound is muted, so that nothing is heard at any level.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub muted: bool,
    /// Whether nothing was done, as asked.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub dry_run: bool,
}

/// The level of a device, and whether it is muted.
pub(super) type Level = (f64, bool);

/// How a device is read and set.
pub(super) struct Setting {
    /// Its name for the history.
    pub device: &'static str,
    /// Reads it.
    pub read: fn(&Devices) -> Result<Level, DeviceError>,
    /// Sets it, and returns the level that was asked for in the steps of the device.
    pub set: fn(&Devices, f64) -> Result<f64, DeviceError>,
}

impl Setting {
    /// Sets a device to the level of the request.
    ///
    /// # Errors
    /// `invalid_request` for a level that is not from 0 to 1; those of [`refused`].
    pub fn apply(&self, cx: &Context, permit: &Permit, input: &Input) -> Result<Output, Failure> {
        if !(0.0..=1.0).contains(&input.level) {
            return Err(Failure::invalid("input.level", "`level` is a number from 0 to 1"));
        }
        let devices = devices(cx)?;
        let (before, muted) = (self.read)(&devices).map_err(refused)?;
        let dry_run = permit.common().dry_run;
        let mut output = Output { before: rounded(before), level: None, effect: None, muted, dry_run };
        if dry_run {
            cx.summarize(format!("would set the {}", self.device));
            return Ok(output);
        }
        let wanted = (self.set)(&devices, input.level).map_err(refused)?;
        let after = (self.read)(&devices).ok();
        let effect = match after {
            None => ActionEffect::Unverifiable,
            Some((level, _)) if is_same(level, wanted) => ActionEffect::Confirmed,
            Some((level, _)) if is_same(level, before) => ActionEffect::SuspectedNoop,
            Some(_) => ActionEffect::Partial,
        };
        output.level = after.map(|(level, _)| rounded(level));
        output.muted = after.map_or(muted, |(_, muted)| muted);
        output.effect = Some(effect.as_str());
        cx.summarize(format!("set the {}: {}", self.device, effect.as_str()));
        Ok(output)
    }
}

/// Returns the devices of the user's computer.
///
/// # Errors
/// `provider_unavailable` where none belong to the displays of the request.
pub(super) fn devices(cx: &Context) -> Result<Devices, Failure> {
    let none = || Failure::new(ErrorCode::ProviderUnavailable, "no devices of this computer are known here");
    cx.service.displays.devices().map(Devices::new).ok_or_else(none)
}

/// Levels that differ less than a step of any device are the same.
fn is_same(one: f64, other: f64) -> bool {
    (one - other).abs() < 1e-6
}

/// Returns a level as answers have it: steps of devices are coarser.
pub(super) fn rounded(level: f64) -> f64 {
    (level * 10_000.0).round() / 10_000.0
}

fn refused(error: DeviceError) -> Failure {
    let message = error.to_string();
    match error {
        DeviceError::Unsupported => Failure::new(ErrorCode::UnsupportedPlatform, message),
        DeviceError::Absent(_) => Failure::new(ErrorCode::ProviderUnavailable, message)
            .hint("system.state says what of this computer can be read."),
        DeviceError::Unresponsive(_) => Failure::new(ErrorCode::TargetUnresponsive, message)
            .hint("It may still be done: call system.state before you try again."),
        DeviceError::Refused(_) => Failure::new(ErrorCode::ExecutionFailed, message).hint(format!(
            "{FOR_USER}Bailiwick has to run in the session that you are logged in to at the screen."
        )),
    }
}
