//! What an operation does to the computer, stated by every operation.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The strongest effect that an operation can have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// Changes nothing; clients need not ask the user.
    ReadOnly,
    /// Changes or adds files, in a way that keeps or replaces single files.
    Writes,
    /// Removes or replaces what was there.
    Destroys,
    /// Starts programs.
    RunsCode,
    /// Takes an image of a screen.
    Captures,
    /// Acts on windows, as the user does with pointer and keyboard.
    ControlsDesktop,
}

impl Effect {
    /// Returns whether the operation leaves the computer as it was.
    pub const fn is_read_only(self) -> bool {
        matches!(self, Self::ReadOnly)
    }
}
