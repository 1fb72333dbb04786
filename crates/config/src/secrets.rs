//! How the secrets in files and output are shown to clients.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What answers show in the place of secrets: in files, in the output of commands, in differences.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum SecretMode {
    /// The secrets.
    #[default]
    Off,
    /// A mark, which cannot be written back.
    Redact,
    /// A handle, which the service replaces by the value where a client writes it.
    Handles,
}

impl SecretMode {
    /// Returns the name in the config.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Redact => "redact",
            Self::Handles => "handles",
        }
    }

    /// Returns whether it is the default.
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "the form that serde calls")]
    pub(super) fn is_off(&self) -> bool {
        *self == Self::Off
    }
}

/// Whether commands and processes may be given secrets by their handles.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum SecretCommands {
    /// Each such request needs approval.
    #[default]
    Ask,
    /// Every command that the rules allow may.
    Allow,
}

impl SecretCommands {
    /// Returns whether it is the default.
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "the form that serde calls")]
    pub(super) fn is_ask(&self) -> bool {
        *self == Self::Ask
    }
}
