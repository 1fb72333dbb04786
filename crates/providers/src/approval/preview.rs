//! What a command that waits for approval would do, as a run whose changes are discarded has shown.

use std::io;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How far a preview is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum PreviewState {
    /// It waits for its turn, or runs.
    Running,
    /// The command has ended, or was ended.
    Done,
    /// There is none; `why` says why.
    Unavailable,
}

/// What a command would do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct EffectPreview {
    /// How far it is.
    pub state: PreviewState,
    /// Why there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// The exit code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// The signal that ended it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signal: Option<String>,
    /// How long it ran, in milliseconds.
    #[serde(default)]
    pub duration_ms: u64,
    /// How many files, folders and links it created.
    #[serde(default)]
    pub created: u64,
    /// How many it changed.
    #[serde(default)]
    pub changed: u64,
    /// How many it removed.
    #[serde(default)]
    pub removed: u64,
    /// The first paths.
    #[serde(default)]
    pub paths: Vec<PreviewPath>,
    /// What changed in texts, as a unified diff, without secrets; its beginning where it is long.
    #[serde(default)]
    pub diff: String,
    /// The last lines that it printed, without secrets.
    #[serde(default)]
    pub output: String,
    /// What it does not show, a sentence each.
    #[serde(default)]
    pub notes: Vec<String>,
}

/// A path that a command would change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PreviewPath {
    /// The path, as results name it; of a folder with `/` at the end.
    pub path: String,
    /// What becomes of it.
    pub change: PathChange,
}

/// What becomes of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum PathChange {
    /// It is new.
    Created,
    /// It has another content, or another mode.
    Changed,
    /// It is gone.
    Removed,
}

impl EffectPreview {
    /// Creates one of which nothing is known yet.
    pub const fn running() -> Self {
        Self {
            state: PreviewState::Running,
            why: None,
            exit_code: None,
            signal: None,
            duration_ms: 0,
            created: 0,
            changed: 0,
            removed: 0,
            paths: Vec::new(),
            diff: String::new(),
            output: String::new(),
            notes: Vec::new(),
        }
    }

    /// Creates one that names why there is none.
    pub fn unavailable(why: impl Into<String>) -> Self {
        Self { state: PreviewState::Unavailable, why: Some(why.into()), ..Self::running() }
    }

    /// Returns it in a few words.
    pub fn summary(&self) -> String {
        match (self.state, &self.why, &self.signal, self.exit_code) {
            (PreviewState::Running, ..) => "running".to_owned(),
            (PreviewState::Unavailable, Some(why), ..) => format!("unavailable: {why}"),
            (PreviewState::Unavailable, None, ..) => "unavailable".to_owned(),
            (PreviewState::Done, _, signal, exit_code) => {
                let ending = match (signal, exit_code) {
                    (Some(signal), _) => format!("ended by {signal}"),
                    (None, Some(code)) => format!("exit {code}"),
                    (None, None) => "did not end".to_owned(),
                };
                let Self { created, changed, removed, .. } = self;
                match created + changed + removed {
                    0 => format!("{ending}, changes nothing in the scope's folders"),
                    _ => format!("{ending}, {created} created, {changed} changed, {removed} removed"),
                }
            }
        }
    }
}

/// Creates the preview that is shown where its service has ended.
pub(super) fn interrupted() -> EffectPreview {
    EffectPreview::unavailable("the service ended before the preview did")
}

/// Reads a preview as it was written.
pub(super) fn parse(bytes: &[u8]) -> io::Result<EffectPreview> {
    Ok(serde_json::from_slice(bytes)?)
}
