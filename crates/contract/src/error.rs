//! Failures: a closed list of codes, and the value that every refusal and error is made of.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::{Envelope, StageName};

/// The closed list of error codes. Each has one meaning, one HTTP status and one CLI exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ErrorCode {
    /// The envelope, its input or its options are not of the required form.
    InvalidRequest,
    /// No scope of that name is open to the caller.
    UnknownScope,
    /// No operation has that name.
    UnknownOperation,
    /// The policy refuses; the user can change the policy.
    PermissionDenied,
    /// The path leads out of the scope's folders.
    PathOutOfScope,
    /// It needs approval, which nobody has given.
    ApprovalRequired,
    /// The target does not exist.
    NotFound,
    /// The target is not in the state that the request assumes.
    Conflict,
    /// This platform cannot do it.
    UnsupportedPlatform,
    /// What the operation needs is missing or not ready.
    ProviderUnavailable,
    /// The time limit was reached.
    Timeout,
    /// The client cancelled, or went away.
    Cancelled,
    /// No process of that id is known.
    ProcessNotFound,
    /// The operating system withholds a permission that only the user can give.
    OsPermissionRequired,
    /// The snapshot is unknown or too old, or its window is gone.
    StaleSnapshot,
    /// The element that was seen is not there any more.
    ElementNotFound,
    /// Several elements could be the one that was seen.
    AmbiguousTarget,
    /// The element cannot be used at this time.
    ElementDisabled,
    /// The element is for secrets: it is neither read nor set.
    SecureField,
    /// The element cannot do that.
    UnsupportedAction,
    /// Another window covers the point.
    Occluded,
    /// The user, or another program, uses pointer or keyboard.
    UserActive,
    /// The program of the window does not answer.
    TargetUnresponsive,
    /// The operation was tried and failed.
    ExecutionFailed,
}

/// What is fixed about an error code.
#[derive(Debug, Clone, Copy)]
pub struct ErrorFacts {
    /// The name on the wire.
    pub name: &'static str,
    /// What the code means, for the reference pages.
    pub meaning: &'static str,
    /// Whether the same request can succeed later without a change.
    pub retryable: bool,
    /// The HTTP status of the JSON API.
    pub http_status: u16,
    /// The exit code of the CLI.
    pub exit_code: u8,
}

impl ErrorCode {
    /// Every code, in the order in which documents list them.
    pub const ALL: &'static [Self] = &[
        Self::InvalidRequest,
        Self::UnknownScope,
        Self::UnknownOperation,
        Self::PermissionDenied,
        Self::PathOutOfScope,
        Self::ApprovalRequired,
        Self::NotFound,
        Self::Conflict,
        Self::UnsupportedPlatform,
        Self::ProviderUnavailable,
        Self::Timeout,
        Self::Cancelled,
        Self::ProcessNotFound,
        Self::OsPermissionRequired,
        Self::StaleSnapshot,
        Self::ElementNotFound,
        Self::AmbiguousTarget,
        Self::ElementDisabled,
        Self::SecureField,
        Self::UnsupportedAction,
        Self::Occluded,
        Self::UserActive,
        Self::TargetUnresponsive,
        Self::ExecutionFailed,
    ];

    /// Returns the code's meaning, status and exit code.
    pub const fn facts(self) -> ErrorFacts {
        const fn row(
            name: &'static str,
            meaning: &'static str,
            retryable: bool,
            http_status: u16,
            exit_code: u8,
        ) -> ErrorFacts {
            ErrorFacts { name, meaning, retryable, http_status, exit_code }
        }
        match self {
            Self::InvalidRequest => {
                row("invalid_request", "The request is not of the required form.", false, 400, 2)
            }
            Self::UnknownScope => {
                row("unknown_scope", "No scope of that name is open to the caller.", false, 404, 10)
            }
            Self::UnknownOperation => row("unknown_operation", "No operation has that name.", false, 404, 11),
            Self::PermissionDenied => {
                row("permission_denied", "The policy refuses the request.", false, 403, 12)
            }
            Self::PathOutOfScope => {
                row("path_out_of_scope", "The path leads out of the scope's folders.", false, 403, 13)
            }
            Self::ApprovalRequired => {
                row("approval_required", "It needs the user's approval: `bailiwick approve`.", false, 403, 14)
            }
            Self::NotFound => row("not_found", "The target does not exist.", false, 404, 15),
            Self::Conflict => {
                row("conflict", "The target is not in the state that the request assumes.", false, 409, 16)
            }
            Self::UnsupportedPlatform => {
                row("unsupported_platform", "This platform cannot do it.", false, 501, 17)
            }
            Self::ProviderUnavailable => {
                row("provider_unavailable", "Something the operation needs is missing.", true, 503, 18)
            }
            Self::Timeout => row("timeout", "The time limit was reached.", true, 504, 19),
            Self::Cancelled => row("cancelled", "The client cancelled or went away.", true, 499, 20),
            Self::ProcessNotFound => {
                row("process_not_found", "No process of that id is known.", false, 404, 21)
            }
            Self::OsPermissionRequired => {
                row("os_permission_required", "The operating system withholds a permission.", false, 403, 22)
            }
            Self::StaleSnapshot => row(
                "stale_snapshot",
                "The snapshot is unknown or too old, or its window is gone.",
                false,
                409,
                30,
            ),
            Self::ElementNotFound => {
                row("element_not_found", "The element that was seen is not there any more.", false, 404, 31)
            }
            Self::AmbiguousTarget => {
                row("ambiguous_target", "Several elements could be the one that was seen.", false, 409, 32)
            }
            Self::ElementDisabled => {
                row("element_disabled", "The element cannot be used at this time.", false, 409, 33)
            }
            Self::SecureField => {
                row("secure_field", "The element is for secrets: it is neither read nor set.", false, 403, 34)
            }
            Self::UnsupportedAction => {
                row("unsupported_action", "The element cannot do that.", false, 409, 35)
            }
            Self::Occluded => row("occluded", "Another window covers the point.", false, 409, 37),
            Self::UserActive => {
                row("user_active", "The user, or another program, uses pointer or keyboard.", true, 409, 38)
            }
            Self::TargetUnresponsive => {
                row("target_unresponsive", "The program of the window does not answer.", true, 504, 36)
            }
            Self::ExecutionFailed => {
                row("execution_failed", "The operation was tried and failed.", false, 500, 1)
            }
        }
    }

    /// Returns the name on the wire.
    pub const fn as_str(self) -> &'static str {
        self.facts().name
    }
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What begins a hint that only the user can follow: a client cannot, and passes it on.
pub const FOR_USER: &str = "For the user: ";
/// What is in a hint's command for the id of the scope, where the hint is made by what knows no scope;
/// [`in_scope`] puts the id there before anybody reads it.
pub const SCOPE: &str = "SCOPE";
/// The detail of [`Failure::asked`]; it does not reach clients.
const ASKED: &str = "asked";

/// Puts the id of a scope into the commands of a hint or warning that stand for any scope.
pub fn in_scope(text: &str, scope: &str) -> String {
    ["allow", "deny", "edit", "show"].iter().fold(text.to_owned(), |text, verb| {
        [' ', '`'].iter().fold(text, |text, end| {
            let command = |scope: &str| format!("`bailiwick scope {verb} {scope}{end}");
            text.replace(&command(SCOPE), &command(scope))
        })
    })
}

/// Why a request has no result: a code to branch on, a message to read, hints to act on.
#[derive(Debug, Clone, PartialEq)]
pub struct Failure {
    /// The code; see [`ErrorCode`].
    pub code: ErrorCode,
    /// What was asked and what stood in the way. No secret and no path outside the scope.
    pub message: String,
    /// Imperative sentences: the smallest changes that would make it work.
    pub hints: Vec<String>,
    /// Facts for programs: `stage`, `rule`, `field`, and what the operation adds.
    pub details: Map<String, Value>,
}

impl Failure {
    /// Creates a failure with a message and nothing else.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), hints: Vec::new(), details: Map::new() }
    }

    /// Creates an `invalid_request` that names the field which is wrong.
    pub fn invalid(field: &str, message: impl Into<String>) -> Self {
        Self::new(ErrorCode::InvalidRequest, message).detail("field", field)
    }

    /// Creates a `permission_denied` that names its rule; the stage is added by the policy.
    pub fn denied(rule: impl Into<String>, message: impl Into<String>) -> Self {
        Self::new(ErrorCode::PermissionDenied, message).detail("rule", rule.into())
    }

    /// Adds a hint.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// Adds or replaces a detail.
    #[must_use]
    pub fn detail(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.details.insert(key.to_owned(), value.into());
        self
    }

    /// Notes what a request asked for that could not be read: the answer and the history name it.
    #[must_use]
    pub fn asked(self, envelope: &Envelope) -> Self {
        let asked = json!({"scope": envelope.scope, "op": envelope.op, "target": envelope.target});
        self.detail(ASKED, asked)
    }

    /// Takes out what [`Failure::asked`] has noted.
    pub fn take_asked(&mut self) -> Option<Envelope> {
        let mut asked = self.details.remove(ASKED)?;
        let mut text = |name: &str| match asked[name].take() {
            Value::String(text) => Some(text),
            _ => None,
        };
        let (scope, op, target) = (text("scope"), text("op")?, text("target"));
        Some(Envelope { scope, op, target, ..Envelope::default() })
    }

    /// Names the policy stage, unless one is named already.
    #[must_use]
    pub fn at_stage(mut self, stage: StageName) -> Self {
        self.details.entry("stage").or_insert_with(|| json!(stage.as_str()));
        self
    }

    /// Returns the policy stage that refused, if one did.
    pub fn stage(&self) -> Option<&str> {
        self.details.get("stage").and_then(Value::as_str)
    }

    /// Returns the rule that refused, if one did.
    pub fn rule(&self) -> Option<&str> {
        self.details.get("rule").and_then(Value::as_str)
    }

    /// Returns the `error` object of the failed outcome.
    pub fn to_json(&self) -> Value {
        json!({
            "code": self.code.as_str(),
            "message": self.message,
            "retryable": self.code.facts().retryable,
            "details": self.details,
            "hints": self.hints,
        })
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code, self.message)
    }
}

impl std::error::Error for Failure {}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn commands_of_hints_get_the_scope_and_nothing_else_does() {
        assert_eq!(
            in_scope(
                "SCOPE: `bailiwick scope edit SCOPE --shell off` or `bailiwick scope show SCOPE`",
                "app"
            ),
            "SCOPE: `bailiwick scope edit app --shell off` or `bailiwick scope show app`"
        );
        assert_eq!(in_scope("`bailiwick scope add SCOPE`", "app"), "`bailiwick scope add SCOPE`");
    }

    #[test]
    fn codes_have_distinct_names_and_exit_codes() {
        let names: HashSet<_> = ErrorCode::ALL.iter().map(|code| code.as_str()).collect();
        let exits: HashSet<_> = ErrorCode::ALL.iter().map(|code| code.facts().exit_code).collect();
        assert_eq!(names.len(), ErrorCode::ALL.len());
        assert_eq!(exits.len(), ErrorCode::ALL.len());
        for code in ErrorCode::ALL {
            assert_eq!(serde_json::to_value(code).expect("a unit variant serializes"), code.as_str());
        }
    }
}
