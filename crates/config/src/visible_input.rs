//! Whether clients may use pointer and keyboard, which the user sees and is disturbed by.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Whether clients may use pointer and keyboard.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum VisibleInput {
    /// They may not.
    #[default]
    Off,
    /// They may.
    Allow,
    /// Each request needs approval.
    Ask,
}

impl VisibleInput {
    /// Returns the name in the config.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Allow => "allow",
            Self::Ask => "ask",
        }
    }

    /// Returns whether it is the default.
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "the form that serde calls")]
    pub(super) fn is_off(&self) -> bool {
        *self == Self::Off
    }
}
