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

/// What an approval of one request does, where the scope has the changes of a preview taken over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase", tag = "state", deny_unknown_fields)]
pub enum PreviewCommit {
    /// Not known before the preview has ended; until then no single request is approved.
    Pending,
    /// It takes over exactly these changes; the command does not run again.
    Ready {
        /// The SHA-256 of the changes, as they are kept.
        sha256: String,
    },
    /// The command runs for real.
    Unavailable {
        /// Why the changes cannot be taken over.
        why: String,
    },
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
    /// What an approval does, where the scope's `preview` is `commit`; without it the command runs for real.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<PreviewCommit>,
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
            commit: None,
        }
    }

    /// Creates one that names why there is none.
    pub fn unavailable(why: impl Into<String>) -> Self {
        Self { state: PreviewState::Unavailable, why: Some(why.into()), ..Self::running() }
    }

    /// Sets what an approval does, where the scope has the changes taken over: without a preview the command runs for real.
    #[must_use]
    pub fn with_commit(self, is_wanted: bool) -> Self {
        let commit = is_wanted.then(|| match self.state {
            PreviewState::Running => PreviewCommit::Pending,
            PreviewState::Done | PreviewState::Unavailable => {
                PreviewCommit::Unavailable { why: "there is no preview".to_owned() }
            }
        });
        Self { commit: self.commit.or(commit), ..self }
    }

    /// Returns the digest of the changes that an approval takes over.
    pub fn changes_sha256(&self) -> Option<&str> {
        match self.commit.as_ref()? {
            PreviewCommit::Ready { sha256 } => Some(sha256),
            PreviewCommit::Pending | PreviewCommit::Unavailable { .. } => None,
        }
    }

    /// Returns what an approval of the one request does, in words.
    pub fn approval_words(&self) -> String {
        match &self.commit {
            None => "runs the command for real, in the folders as they are then".to_owned(),
            Some(PreviewCommit::Pending) => "waits for the preview to end".to_owned(),
            Some(PreviewCommit::Ready { .. }) => {
                "takes over exactly these changes; the command does not run again".to_owned()
            }
            Some(PreviewCommit::Unavailable { why }) => {
                format!("runs the command for real, since its changes cannot be taken over: {why}")
            }
        }
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
pub(super) fn interrupted(running: &EffectPreview) -> EffectPreview {
    let is_commit = running.commit.is_some();
    EffectPreview::unavailable("the service ended before the preview did").with_commit(is_commit)
}

/// Reads a preview as it was written.
pub(super) fn parse(bytes: &[u8]) -> io::Result<EffectPreview> {
    Ok(serde_json::from_slice(bytes)?)
}
