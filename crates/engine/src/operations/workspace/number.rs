//! What names a workspace in requests.

use bailiwick_platform::screen::Workspaces;

use super::super::window::refused;
use crate::registry::prelude::*;

/// Which workspace.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct WorkspaceInput {
    /// Its number, from workspace.list.
    pub workspace: u32,
}

impl WorkspaceInput {
    /// Reads the workspaces of a display, or of that of a window, which must have this one.
    ///
    /// # Errors
    /// `invalid_request`, and why the display has none.
    pub fn check(&self, cx: &Context, display: Option<&str>) -> Result<Workspaces, Failure> {
        let all = cx.service.displays.workspaces(display).map_err(refused)?;
        let count = all.names.len();
        if usize::try_from(self.workspace).is_ok_and(|number| number < count) {
            return Ok(all);
        }
        let last = count.saturating_sub(1);
        Err(Failure::invalid("input.workspace", format!("the display has the workspaces 0 to {last}"))
            .hint("workspace.list lists them."))
    }
}
