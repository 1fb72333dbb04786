//! What `scope …` prints with `--json`.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Serialize;

use bailiwick_config::ScopeConfig;

use super::difference::Changes;
use super::effective::EffectiveScope;

/// `scope list`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ScopeListOutput {
    /// Always true.
    pub ok: bool,
    /// The scopes, as the config has them; values of environment variables are left out.
    pub scopes: Vec<ScopeConfig>,
}

/// `scope show`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ScopeShowOutput {
    /// Always true.
    pub ok: bool,
    /// The scope, as the config has it; values of environment variables are left out.
    pub scope: ScopeConfig,
    /// What it comes to.
    pub effective: EffectiveScope,
    /// The names of the tokens that open it.
    pub tokens: Vec<String>,
}

/// `scope add`, `scope edit`, `scope allow` and `scope deny`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ScopeChangeOutput {
    /// Always true.
    pub ok: bool,
    /// The scope as it is now; with `--dry-run`, as it would be. Values of environment variables are left out.
    pub scope: ScopeConfig,
    /// What changes.
    pub changes: Changes,
    /// Whether the config was written; not with `--dry-run`, and not if you said no.
    pub written: bool,
}

/// `scope remove`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ScopeRemoveOutput {
    /// Always true.
    pub ok: bool,
    /// The scope's id.
    pub removed: String,
    /// The folders that it had; they stay as they are.
    pub roots: Vec<PathBuf>,
    /// Whether it was removed; false with `--dry-run`.
    pub written: bool,
}
