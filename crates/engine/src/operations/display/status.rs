//! What the operations on private displays have in common.

use schemars::JsonSchema;
use serde::Serialize;

use crate::registry::Context;
use bailiwick_contract::{Capability, Effect, Failure, OperationSpec, ScopeNeed, TargetRule, Threads, time};
use bailiwick_policy::Permit;
use bailiwick_providers::display::{DisplayOwner, PrivateDisplay};

/// What the operations have in common.
pub(super) const MANAGING: OperationSpec = OperationSpec {
    name: "",
    summary: "",
    details: "",
    capabilities: &[&[Capability::DisplayManage]],
    effect: Effect::ReadOnly,
    target: TargetRule::Id("a private display, from display.list"),
    scope: ScopeNeed::FOLDER,
    platforms: &["linux"],
    options: &[],
    timeout_seconds: 30,
    threads: Threads::Blocking,
    audited_fields: &[],
    example: "",
};

/// A private display.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DisplayStatus {
    /// Its id, which the other operations take as a target.
    pub display: String,
    /// Its width, in pixels.
    pub width: u32,
    /// Its height, in pixels.
    pub height: u32,
    /// When it was made.
    pub started_at: String,
    /// When it is ended.
    pub ends_at: String,
    /// Whether a window manager runs there: windows can be moved, resized, minimized and closed.
    pub window_manager: bool,
    /// The processes that were started there by app.launch.
    pub processes: Vec<String>,
    /// What it lacks.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
}

impl DisplayStatus {
    pub fn of(display: &PrivateDisplay) -> Self {
        Self {
            display: display.id.clone(),
            width: display.size.0,
            height: display.size.1,
            started_at: time::rfc3339(display.started_at_ms),
            ends_at: time::rfc3339(display.ends_at_ms),
            window_manager: display.has_window_manager,
            processes: display.processes.clone(),
            missing: display
                .missing
                .iter()
                .map(|it| format!("{} is not installed (package {}): {}", it.program, it.package, it.without))
                .collect(),
        }
    }
}

/// Returns whose displays a request is about.
///
/// # Errors
/// Where it is in no scope.
pub fn owner(cx: &Context, permit: &Permit) -> Result<DisplayOwner, Failure> {
    Ok(DisplayOwner::new(permit.needed_scope()?, &cx.caller))
}
