//! `docs/reference/errors.md`: the closed list of error codes.

use bailiwick_contract::ErrorCode;

use super::markdown::{code, table};

pub fn page() -> String {
    let rows: Vec<Vec<String>> = ErrorCode::ALL
        .iter()
        .map(|error| {
            let facts = error.facts();
            vec![
                code(facts.name),
                facts.meaning.to_owned(),
                if facts.retryable { "yes" } else { "no" }.to_owned(),
                facts.http_status.to_string(),
                facts.exit_code.to_string(),
            ]
        })
        .collect();
    format!(
        "# Error codes\n\n\
         The list is closed. `error.code` is for programs, `error.message` says what was asked and what stood in\n\
         the way, `error.hints` are the smallest changes that would make it work, and `error.details` has facts:\n\
         `stage` and `rule` for a refusal by the policy, `field` for a request of the wrong form.\n\n\
         \"Retry\" shows whether the same request can succeed later without a change. The HTTP status is that of\n\
         the JSON API; over MCP an error is a result with `isError`. The exit code is that of `bailiwick call`;\n\
         `call command.run` and `call package.run` exit as the command did, and with 125 where it did not run.\n\n{}",
        table(&["code", "meaning", "retry", "HTTP", "exit"], &rows)
    )
}
