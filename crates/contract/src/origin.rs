//! Where untrusted content comes from.

use serde::Serialize;

/// Where the content of an answer comes from, where anybody may have written it, so that it can hold instructions for the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ContentOrigin {
    /// A command or process that could reach the network.
    Network,
    /// A screen, a window or the clipboard.
    Screen,
    /// A file of the scope that its policy names as untrusted.
    UntrustedFile,
}
