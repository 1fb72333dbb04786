//! The part of a scope's policy that is about windows, as `config.json` writes it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Names windows by their app, their title, or both. Globs; upper and lower case are one, `*` stands for
/// any characters.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct WindowPattern {
    /// The app: the window's class, or the name of its program; such as `signal*`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub app: Option<String>,
    /// The title, such as `*online banking*`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
}
