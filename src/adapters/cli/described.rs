//! What `connect` and `try` print with `--json`, for their schemas; the commands put it together by hand, and a test
//! holds their answers to it.

#![expect(dead_code, reason = "only their schemas are used")]

use std::path::PathBuf;

use schemars::JsonSchema;
use serde_json::Value;

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
