//! What prevents the use of a clipboard, in the words of answers.

use bailiwick_contract::{ErrorCode, FOR_USER, Failure, SCOPE, StageName, TargetRule};
use bailiwick_platform::screen::{Access, ScreenError};

use super::super::screen::unavailable;

/// The target of each operation.
pub(super) const TARGET: TargetRule = TargetRule::OptionalId("the id of a display, from window.list");

/// Creates the failure of a clipboard that could not be used.
pub(super) fn refused(error: ScreenError) -> Failure {
    match error {
        ScreenError::Refused(_) => Failure::denied(
            "denied-windows",
            "what is on the clipboard is a secret, or comes from a program that this scope does not show",
        )
        .at_stage(StageName::Screen)
        .hint(format!(
            "{FOR_USER}`bailiwick scope allow {SCOPE} --app NAME` shows an app; what a program marks as a secret is never read."
        )),
        ScreenError::NoAccess(Access::Unsupported { why }) => Failure::new(ErrorCode::UnsupportedPlatform, why),
        error => unavailable(error),
    }
}
