//! Why there was no input, in the words of answers.

use bailiwick_contract::{ErrorCode, Failure, StageName};
use bailiwick_platform::accessibility::AccessibilityError;
use bailiwick_platform::program_error::ProgramError;
use bailiwick_platform::screen::{Access, ScreenError};
use bailiwick_providers::elements::SceneError;
use bailiwick_providers::screen::InputError;

use super::super::screen::{unavailable, withheld};
use super::super::ui;

/// Creates the failure of input that was not made.
pub(super) fn refused(error: InputError) -> Failure {
    match error {
        InputError::Withheld => withheld("the window that would get the input"),
        InputError::Terminal => ui::terminal(),
        InputError::Prompt => ui::prompt(),
        InputError::Unknown => Failure::denied(
            "unknown-windows",
            "nobody knows which program would get the input, so it cannot be judged",
        )
        .at_stage(StageName::Screen)
        .hint("window.list shows the windows that can be used."),
        InputError::Occluded(by) => {
            let by = by.map_or_else(
                || "what this scope does not show, or the desktop".to_owned(),
                |by| format!("`{by}`"),
            );
            Failure::new(ErrorCode::Occluded, format!("at the point is another window: {by}")).hint(
                "Bring the window to the front with window.focus, or choose a point that is not covered.",
            )
        }
        InputError::Nothing => Failure::new(ErrorCode::Conflict, "no window has the keyboard")
            .detail("state", "no-focus")
            .hint("Focus a window first: window.focus, or input.click."),
        InputError::NotFocused(other) => {
            let has = other.map_or_else(|| "another window has it".to_owned(), |it| format!("`{it}` has it"));
            Failure::new(ErrorCode::Conflict, format!("the window does not have the keyboard: {has}"))
                .detail("state", "not-focused")
                .hint("Focus the window first: window.focus, or input.click.")
        }
        InputError::UserActive => {
            Failure::new(ErrorCode::UserActive, "the user, or another program, uses pointer or keyboard")
                .hint("Ask again when they have rested for a second; ui.press and ui.set_value need neither.")
        }
        InputError::Grabbed => Failure::new(
            ErrorCode::Conflict,
            "another program has pointer or keyboard to itself, such as a menu or a lock screen",
        )
        .detail("state", "grabbed")
        .hint("Have the menu closed, or use its elements: ui.see, ui.press."),
        InputError::CapsLock => {
            Failure::new(ErrorCode::Conflict, "Caps Lock is on, and would change what is typed")
                .detail("state", "caps-lock")
                .hint("For the user: turn Caps Lock off.")
        }
        InputError::Outside(point, bounds) => {
            Failure::invalid("input.point", format!("the point {point} is not within {bounds}"))
                .hint("Choose a point that is within it: points are never moved.")
        }
        InputError::Gone(window) => unavailable(ScreenError::UnknownWindow(window)),
        InputError::Screen(error) => of_display(error),
    }
}

/// Creates the failure of a display that made no input.
pub(super) fn of_display(error: ScreenError) -> Failure {
    match error {
        ScreenError::NoAccess(Access::Unsupported { why }) => {
            Failure::new(ErrorCode::UnsupportedPlatform, why)
        }
        error => unavailable(error),
    }
}

/// Returns the failure of a window whose elements say that it must get no input; nothing where they say nothing: not every
/// program tells its elements. Where the system's elements are not read, nobody knows what they say.
pub(super) fn of_elements(error: SceneError) -> Option<Failure> {
    match error {
        SceneError::Elements(
            AccessibilityError::Unsupported(_)
            | AccessibilityError::NotAllowed { .. }
            | AccessibilityError::Program(ProgramError::Unresponsive | ProgramError::NoReply),
        )
        | SceneError::Screen(_)
        | SceneError::Withheld(_)
        | SceneError::Changed(_) => Some(ui::unread(error)),
        SceneError::Elements(_) => None,
    }
}

/// Creates the failure of a field for secrets.
pub(super) fn secure() -> Failure {
    Failure::new(
        ErrorCode::SecureField,
        "the field that has the keyboard is for secrets: nothing is typed there",
    )
    .hint("For the user: type the secret into it yourself.")
}

/// Creates the failure of a request that does not say that it wants to be seen.
pub(super) fn not_in_foreground() -> Failure {
    Failure::new(
        ErrorCode::UnsupportedAction,
        "pointer and keyboard are used in the foreground only, where the user sees it",
    )
    .detail("needs", vec!["options.foreground"])
    .hint("Set `options.foreground` to true, or use ui.press, ui.set_value and ui.fill, which need neither.")
}
