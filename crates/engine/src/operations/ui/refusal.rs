//! Why an element was not shown or not acted on, in the words of answers.

use std::collections::HashMap;

use bailiwick_contract::{ErrorCode, FOR_USER, Failure, StageName};
use bailiwick_platform::accessibility::{AccessibilityError, ElementTree, RuntimeId};
use bailiwick_platform::program_error::ProgramError;
use bailiwick_providers::elements::{SceneError, Snapshot, item_name, line};

use crate::operations::screen::{unavailable, withheld};

/// Creates the failure of a window whose elements could not be read.
pub(in crate::operations) fn unread(error: SceneError) -> Failure {
    match error {
        SceneError::Screen(error) => unavailable(error),
        SceneError::Elements(error) => failed(error),
        SceneError::Withheld(window) => withheld(&format!("the window `{window}`")),
        SceneError::Changed(_) => {
            Failure::new(ErrorCode::Conflict, error.to_string()).hint("Call ui.see again.")
        }
    }
}

/// Creates the failure of a program that did not do what was asked.
pub(in crate::operations) fn failed(error: AccessibilityError) -> Failure {
    let message = error.to_string();
    match error {
        AccessibilityError::Unsupported(_) => Failure::new(ErrorCode::UnsupportedPlatform, message),
        AccessibilityError::NotAllowed { setting } => Failure::new(ErrorCode::OsPermissionRequired, message)
            .hint(format!("{FOR_USER}{setting}.")),
        AccessibilityError::NoBus { .. } => Failure::new(ErrorCode::ProviderUnavailable, message).hint(format!(
            "{FOR_USER}install at-spi2-core, and log in again; programs that run already have to be started again."
        )),
        AccessibilityError::NoElements(_) => Failure::new(ErrorCode::ProviderUnavailable, message)
            .hint("screen.capture_window shows a picture of it, where the scope allows pictures."),
        AccessibilityError::AmbiguousWindow(_) => Failure::new(ErrorCode::AmbiguousTarget, message)
            .hint("Have one of the windows moved or closed, then ask again."),
        AccessibilityError::Program(error) => of_program(
            error,
            "Call ui.see again.",
            "ui.set_value sets text fields, sliders and spin buttons; ui.press presses what can be pressed.",
        ),
    }
}

/// Creates the failure of a program that did not do what was asked, with hints for what is gone and what it cannot do.
pub(in crate::operations) fn of_program(error: ProgramError, if_gone: &str, if_unable: &str) -> Failure {
    let code = match &error {
        ProgramError::Unresponsive | ProgramError::NoReply => ErrorCode::TargetUnresponsive,
        ProgramError::Gone => ErrorCode::ElementNotFound,
        ProgramError::Unable => ErrorCode::UnsupportedAction,
        ProgramError::Refused(_) => ErrorCode::ExecutionFailed,
        ProgramError::Lost => ErrorCode::ProviderUnavailable,
    };
    let failure = Failure::new(code, error.to_string());
    match error {
        ProgramError::Unresponsive | ProgramError::NoReply => failure.hint("Ask again later."),
        ProgramError::Gone => failure.hint(if_gone),
        ProgramError::Unable => failure.hint(if_unable),
        ProgramError::Refused(_) => failure,
        ProgramError::Lost => failure.hint("Ask again."),
    }
}

/// So many candidates are named.
const CANDIDATES: usize = 20;

/// Creates the failure of words that no candidate has, with the words that they have.
pub(in crate::operations) fn none_named(
    field: &str,
    why: String,
    candidates: impl IntoIterator<Item = String>,
) -> Failure {
    with_candidates(Failure::new(ErrorCode::ElementNotFound, why), field, candidates)
}

/// Creates the failure of words that several candidates have.
pub(in crate::operations) fn several_named(
    field: &str,
    why: String,
    candidates: impl IntoIterator<Item = String>,
) -> Failure {
    with_candidates(Failure::new(ErrorCode::AmbiguousTarget, why), field, candidates)
}

fn with_candidates(failure: Failure, field: &str, candidates: impl IntoIterator<Item = String>) -> Failure {
    let candidates: Vec<String> = candidates.into_iter().take(CANDIDATES).collect();
    let failure = failure.detail("field", field);
    if candidates.is_empty() { failure } else { failure.detail("candidates", candidates) }
}

/// Writes elements of a window as ui.see lists them, without values and places: with their ids, where the snapshot has them.
pub(in crate::operations) fn candidates<'a>(
    snapshot: &'a Snapshot,
    tree: &'a ElementTree,
    elements: impl IntoIterator<Item = usize, IntoIter: 'a>,
) -> impl Iterator<Item = String> + 'a {
    let ids: HashMap<&RuntimeId, &str> =
        snapshot.elements.iter().map(|(id, element)| (&element.id, id.as_str())).collect();
    elements.into_iter().map(move |at| {
        let element = &tree.elements[at];
        line(ids.get(&element.id).unwrap_or(&""), element, item_name(tree, at), None, None)
    })
}

/// Creates the failure of a snapshot that cannot be used any more.
pub(super) fn stale(why: &str) -> Failure {
    Failure::new(ErrorCode::StaleSnapshot, why).hint("Call ui.see, and use an element of its answer.")
}

/// Creates the failure of a window in which what is typed runs.
pub(in crate::operations) fn terminal() -> Failure {
    Failure::denied("terminal-windows", "nothing is pressed or typed in terminals")
        .at_stage(StageName::Screen)
        .hint("Use command.run, where a scope allows it.")
}

/// Creates the failure of a window that only the user answers.
pub(in crate::operations) fn prompt() -> Failure {
    Failure::denied(
        "bailiwick-windows",
        "the window is one in which Bailiwick or the client that asks runs: only the user uses and closes it",
    )
    .at_stage(StageName::Screen)
    .hint("For the user: answer or close it yourself.")
}
