//! What `config …` prints with `--json`.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::diagnosis::examine::ProblemOutput;

/// A file or folder of Bailiwick's own.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PlaceOutput {
    /// What it is for.
    pub what: &'static str,
    /// Where it is.
    pub path: PathBuf,
    /// Whether it is there.
    pub exists: bool,
}

/// By what the files are chosen.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ChosenBy {
    /// The flag `--config`.
    Flag,
    /// The variable `BAILIWICK_HOME`.
    Environment,
    /// Nothing: the usual folders of this system.
    Usual,
}

/// `config path`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PathOutput {
    /// Always true.
    pub ok: bool,
    /// The config file.
    pub config: PathBuf,
    /// By what it is chosen.
    pub chosen_by: ChosenBy,
    /// The config and everything beside it.
    pub places: Vec<PlaceOutput>,
}

/// `config show`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ShowOutput {
    /// Always true.
    pub ok: bool,
    /// The file.
    pub file: PathBuf,
    /// What it says; values of environment variables are left out. With `--defaults`, also what holds without it.
    pub config: Value,
}

/// `config validate`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ValidateOutput {
    /// Whether the file would be accepted.
    pub ok: bool,
    /// The file.
    pub file: PathBuf,
    /// The mistakes.
    pub problems: Vec<ProblemOutput>,
}

/// `config edit`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct EditOutput {
    /// Whether the copy was in order.
    pub ok: bool,
    /// The config file.
    pub file: PathBuf,
    /// Whether it was written.
    pub written: bool,
    /// What changes, as `git diff` shows it; what looks like a secret is masked.
    pub diff: String,
    /// Where the copy is, if it was kept.
    pub copy: Option<PathBuf>,
    /// The mistakes in the copy.
    pub problems: Vec<ProblemOutput>,
}
