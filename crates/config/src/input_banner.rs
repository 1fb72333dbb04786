//! Whether the user's display shows who uses pointer and keyboard.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Whether the user's display shows who uses pointer and keyboard.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum InputBanner {
    /// A line at the top of the display shows it.
    #[default]
    Show,
    /// It does not.
    Off,
}

impl InputBanner {
    /// Returns whether it is the default.
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "the form that serde calls")]
    pub(super) fn is_show(&self) -> bool {
        *self == Self::Show
    }
}
