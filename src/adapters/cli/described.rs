//! What `connect` and every command that fails print with `--json`, for their schemas; it is put together by
//! hand elsewhere, and a test holds the answers to it.

#![expect(dead_code, reason = "only their schemas are used")]

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
