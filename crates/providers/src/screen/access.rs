//! Whether displays can be read, in the words of answers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use bailiwick_platform::screen::Access;

/// Whether the displays can be read, as they answered when they were asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AccessState {
    /// `granted`, `denied`, `not_determined`, `no_display`, `locked` or `unsupported`.
    pub state: String,
    /// Why, where it is not granted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// What the user has to change, where that helps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub setting: Option<String>,
}

/// Returns how access stands.
pub fn access_state(access: &Access) -> AccessState {
    let (state, why, setting) = match access {
        Access::Granted => ("granted", None, None),
        Access::Denied { why, setting } => ("denied", Some(why.clone()), Some(setting.clone())),
        Access::NotDetermined { setting } => ("not_determined", None, Some(setting.clone())),
        Access::NoDisplay { why } => (
            "no_display",
            Some(why.clone()),
            Some(
                "Start Bailiwick inside the desktop session, or with DISPLAY set to a running X server."
                    .to_owned(),
            ),
        ),
        Access::NoPrivateDisplay => (
            "no_display",
            Some("you have no private display in this scope".to_owned()),
            Some("display.create makes one.".to_owned()),
        ),
        Access::Locked => ("locked", None, Some("Unlock the session.".to_owned())),
        Access::Unsupported { why } => ("unsupported", Some(why.clone()), None),
    };
    AccessState { state: state.to_owned(), why, setting }
}
