//! Which limits hold? Requested ones are cut to the scope's.

use std::time::Duration;

use bailiwick_contract::limits::{DEFAULT_OUTPUT_BYTES, MAX_TIMEOUT_SECONDS, SCOPE_OUTPUT_BYTES};
use bailiwick_contract::{CommonOptions, Failure, Limits, OperationSpec, StageName};

use super::super::Scope;
use super::Stage;

pub const STAGE: Stage = Stage { name: StageName::Limits, asks: "Which limits hold?" };

/// Returns what was decided, in words.
pub fn note(limits: &Limits) -> String {
    format!("{} s, {} bytes", limits.timeout.as_secs(), limits.max_output_bytes)
}

/// Cuts what is asked for; nothing is refused here.
#[expect(clippy::unnecessary_wraps, reason = "the form that every stage has")]
pub fn check(scope: Option<&Scope>, spec: &OperationSpec, common: &CommonOptions) -> Result<Limits, Failure> {
    let (max_runtime, max_output) = match scope {
        Some(scope) => (scope.max_runtime(), scope.max_output_bytes()),
        None => (
            Duration::from_secs(MAX_TIMEOUT_SECONDS),
            usize::try_from(SCOPE_OUTPUT_BYTES).unwrap_or(usize::MAX),
        ),
    };
    let timeout = Duration::from_secs(common.timeout_seconds.unwrap_or(spec.timeout_seconds));
    let output =
        usize::try_from(common.max_output_bytes.unwrap_or(DEFAULT_OUTPUT_BYTES)).unwrap_or(usize::MAX);
    Ok(Limits { timeout: timeout.min(max_runtime), max_output_bytes: output.min(max_output) })
}
