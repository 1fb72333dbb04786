//! What `service …` prints with `--json`.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

/// `service install`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct InstallOutput {
    /// Always true.
    pub ok: bool,
    /// The unit's file.
    pub unit: PathBuf,
    /// Whether it was written, and was not there in the same words.
    pub changed: bool,
    /// Whether the service was started.
    pub started: bool,
    /// With `--dry-run`: what would change.
    pub diff: Option<String>,
    /// Why systemd cannot be asked, if so.
    pub unreachable: Option<String>,
}

/// `service status`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct StatusOutput {
    /// Whether it is as it must be: a unit of this version, active, serving.
    pub ok: bool,
    /// The unit's file.
    pub unit: PathBuf,
    /// Whether the unit is of this version and this program.
    pub current: bool,
    /// What systemd says.
    pub state: String,
    /// Where the service says that it listens: `processId` and `url`; null where nothing is served.
    pub service: Option<Value>,
    /// Why systemd cannot be asked, if so.
    pub unreachable: Option<String>,
}

/// `service start` and `service stop`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DoneOutput {
    /// Always true.
    pub ok: bool,
}

/// `service remove`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RemoveOutput {
    /// Always true.
    pub ok: bool,
    /// The unit's file.
    pub unit: PathBuf,
    /// Whether it was removed; false with `--dry-run`.
    pub removed: bool,
    /// Why systemd cannot be asked, if so.
    pub unreachable: Option<String>,
}
