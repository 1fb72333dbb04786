//! What `connect`, `try` and every command that fails print with `--json`, for their schemas; it is put together by
//! hand elsewhere, and a test holds the answers to it.

#![expect(dead_code, reason = "only their schemas are used")]

use std::path::PathBuf;

use schemars::JsonSchema;
use serde_json::{Map, Value};

/// Why a command failed.
#[derive(JsonSchema)]
pub struct ErrorOutput {
    /// The error code, from a closed list; the exit code follows from it.
    pub code: String,
    /// What was asked, and what stood in the way.
    pub message: String,
    /// Whether the same may work later.
    pub retryable: bool,
    /// Facts for programs, such as `stage`, `rule` and `field`.
    pub details: Map<String, Value>,
    /// The smallest changes that would make it work.
    pub hints: Vec<String>,
}

/// Any command that fails.
#[derive(JsonSchema)]
pub struct FailureOutput {
    /// Always false.
    pub ok: bool,
    /// Why.
    pub error: ErrorOutput,
}

/// `connect`.
#[derive(JsonSchema)]
pub struct ConnectOutput {
    /// Always true.
    pub ok: bool,
    /// How to connect: over `stdio`, with the command and snippets for clients, and over `http`.
    pub connect: Value,
}

/// A step that was done for real.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
pub struct StepOutput {
    /// Its name.
    pub step: String,
    /// Whether it went as it must.
    pub ok: bool,
    /// What was seen.
    pub saw: String,
    /// How long it took, in milliseconds.
    pub duration_ms: f64,
}

/// `try`.
#[derive(JsonSchema)]
pub struct TryOutput {
    /// Whether all steps went as they must.
    pub ok: bool,
    /// The folder that was looked at.
    pub folder: PathBuf,
    /// The steps, in their order.
    pub steps: Vec<StepOutput>,
}
