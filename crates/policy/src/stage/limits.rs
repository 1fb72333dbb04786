//! Which limits hold? Requested ones are cut to the scope's.

use std::time::Duration;

use bailiwick_contract::limits::{DEFAULT_OUTPUT_BYTES, MAX_TIMEOUT_SECONDS, SCOPE_OUTPUT_BYTES};
use bailiwick_contract::{Failure, Limits};

use super::super::Case;
use super::{Draft, Stage};

pub const STAGE: Stage = Stage {
    name: "limits",
    asks: "Which limits hold?",
    builds_on: &["scope", "operation", "input"],
    check,
    note: |_, draft| match draft.limits {
        Some(limits) => format!("{} s, {} bytes", limits.timeout.as_secs(), limits.max_output_bytes),
        None => String::new(),
    },
};

fn check<'a>(_: &Case<'a>, draft: &mut Draft<'a>) -> Result<(), Failure> {
    let spec = draft.candidate.expect("the operation stage passed").spec();
    let common = &draft.parsed.as_ref().expect("the input stage passed").common;
    let (max_runtime, max_output) = match &draft.scope {
        Some(scope) => (scope.max_runtime(), scope.max_output_bytes()),
        None => (
            Duration::from_secs(MAX_TIMEOUT_SECONDS),
            usize::try_from(SCOPE_OUTPUT_BYTES).unwrap_or(usize::MAX),
        ),
    };
    let timeout = Duration::from_secs(common.timeout_seconds.unwrap_or(spec.timeout_seconds));
    let output =
        usize::try_from(common.max_output_bytes.unwrap_or(DEFAULT_OUTPUT_BYTES)).unwrap_or(usize::MAX);
    draft.limits =
        Some(Limits { timeout: timeout.min(max_runtime), max_output_bytes: output.min(max_output) });
    Ok(())
}
