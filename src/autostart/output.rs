//! What is known and done of the service, as `service …` prints it with `--json`.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Serialize;

use bailiwick_platform::service_manager::ServiceManager;

use crate::installation::running::RunningNote;

/// `service install`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct InstallOutput {
    /// Always true.
    pub ok: bool,
    /// What keeps services on this system.
    pub manager: ServiceManager,
    /// The file that describes the service to it: a unit, an agent's list of properties, a task.
    pub unit: PathBuf,
    /// Whether it was written, and was not there in the same words.
    pub changed: bool,
    /// Whether the service was started.
    pub started: bool,
    /// With `--dry-run`: what would change.
    pub diff: Option<String>,
    /// Why the manager cannot be asked, if so.
    pub unreachable: Option<String>,
}

/// `service status`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct StatusOutput {
    /// Whether it is as it must be: a file of this version, running, serving.
    pub ok: bool,
    /// What keeps services on this system.
    pub manager: ServiceManager,
    /// The file that describes the service to it: a unit, an agent's list of properties, a task.
    pub unit: PathBuf,
    /// Whether the file is of this version and this program.
    pub current: bool,
    /// Whether the manager says that it runs.
    pub running: bool,
    /// Its state, in the manager's own words.
    pub state: String,
    /// Where the service says that it listens; null where nothing is served.
    pub service: Option<RunningNote>,
    /// Why the manager cannot be asked, if so.
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
    /// What keeps services on this system.
    pub manager: ServiceManager,
    /// The file that describes the service to it: a unit, an agent's list of properties, a task.
    pub unit: PathBuf,
    /// Whether it was removed; false with `--dry-run`.
    pub removed: bool,
    /// Why the manager cannot be asked, if so.
    pub unreachable: Option<String>,
}
