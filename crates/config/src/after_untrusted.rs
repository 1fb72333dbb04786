//! What happens after a client has read what anybody may have written.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What happens after a client has read untrusted content: of the network, the screen, or untrusted files.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum AfterUntrusted {
    /// Nothing else than before.
    #[default]
    Off,
    /// What can send, opens credentials, or changes something in another scope than the one that was read needs approval for a day.
    Ask,
}

impl AfterUntrusted {
    /// Returns the name in the config.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Ask => "ask",
        }
    }

    /// Returns whether it is the default.
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "the form that serde calls")]
    pub(super) fn is_off(&self) -> bool {
        *self == Self::Off
    }
}
