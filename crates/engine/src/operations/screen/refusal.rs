//! What prevents it of a picture, in the words of answers.

use bailiwick_contract::{ErrorCode, FOR_USER, Failure, SCOPE, StageName};
use bailiwick_platform::screen::{Access, ScreenError};
use bailiwick_providers::screen::{ScreenshotError, access_state};

/// Creates the failure of a picture that could not be taken.
pub(super) fn refused(error: ScreenshotError) -> Failure {
    match error {
        ScreenshotError::Withheld(window) => withheld(&format!("the window `{window}`")),
        ScreenshotError::Screen(error) => unavailable(error),
    }
}

/// Creates the failure of a window that the rules close.
pub fn withheld(what: &str) -> Failure {
    Failure::denied("denied-windows", format!("{what} is of those that this scope does not show"))
        .at_stage(StageName::Screen)
        .hint(format!(
            "{FOR_USER}`bailiwick scope allow {SCOPE} --app NAME` shows windows of an app; `bailiwick scope show {SCOPE}` lists \
             those that the scope closes itself."
        ))
}

/// Creates the failure of a display that gave no picture.
pub fn unavailable(error: ScreenError) -> Failure {
    let message = error.to_string();
    match error {
        ScreenError::NoAccess(access) => no_access(&access),
        ScreenError::UnknownDisplay(_) => Failure::new(ErrorCode::NotFound, message)
            .detail("field", "target")
            .hint("Use the id of a display from screen.list, or `primary`."),
        ScreenError::UnknownWindow(_) => Failure::new(ErrorCode::NotFound, message)
            .detail("field", "target")
            .hint("Use the id of a window from screen.list; windows come and go."),
        ScreenError::Outside { bounds, .. } => Failure::invalid("options.region", message).hint(format!(
            "Choose `x`, `y`, `width` and `height` within 0,0 and {},{}.",
            bounds.width, bounds.height
        )),
        ScreenError::Minimised(_) => Failure::new(ErrorCode::Conflict, message)
            .detail("state", "minimised")
            .hint("Have the window brought back, then ask again."),
        ScreenError::Hidden(_) => Failure::new(ErrorCode::Conflict, message)
            .detail("state", "hidden")
            .hint("Have the window shown, then ask again."),
        ScreenError::TooLarge { .. } => {
            Failure::invalid("options.region", message).hint("Ask for a part of it with `options.region`.")
        }
        ScreenError::Refused(window) => withheld(&format!("the window `{window}`")),
        ScreenError::ClipboardTooLarge { .. } => Failure::new(ErrorCode::Conflict, message)
            .hint("Have less copied, or ask for another `type`."),
        ScreenError::ClipboardSilent(_) => Failure::new(ErrorCode::Timeout, message)
            .hint("Ask again once that program answers, or have something copied elsewhere."),
        ScreenError::ClipboardChanged(_) => {
            Failure::new(ErrorCode::Conflict, message).hint("Ask again.")
        }
        ScreenError::NoWindowManager(_) => Failure::new(ErrorCode::ProviderUnavailable, message)
            .hint("For the user: start a window manager on that display, such as openbox."),
        ScreenError::Blind(_) => Failure::denied("windows-unknown", message)
            .at_stage(StageName::Screen)
            .hint(format!(
                "{FOR_USER}`bailiwick scope allow {SCOPE} --app '*'` says that no window has to be kept out, where the \
                 scope closes none itself."
            ))
            .hint("Windows of X11 programs can be captured one by one: screen.list, screen.capture_window."),
        ScreenError::Timeout(_) => Failure::new(ErrorCode::Timeout, message)
            .hint("Ask again; screen.list shows which displays answer."),
        ScreenError::Lost(_) => {
            Failure::new(ErrorCode::ProviderUnavailable, message).hint("Ask again once the display is back.")
        }
        ScreenError::PixelFormat { .. } => Failure::new(ErrorCode::UnsupportedPlatform, message)
            .hint("For the user: a display of 24 bits a pixel is read."),
        ScreenError::Failed { .. } => Failure::new(ErrorCode::ExecutionFailed, message)
            .hint("Ask again; `bailiwick call screen.list` shows the user what the displays answer."),
    }
}

fn no_access(access: &Access) -> Failure {
    let state = access_state(access);
    if *access == Access::NoPrivateDisplay {
        return Failure::new(ErrorCode::NotFound, "you have no private display in this scope")
            .detail("access", state.state)
            .hint("display.create makes one.");
    }
    let code = match access {
        Access::Denied { .. } | Access::NotDetermined { .. } | Access::Locked => {
            ErrorCode::OsPermissionRequired
        }
        Access::Unsupported { .. } => ErrorCode::UnsupportedPlatform,
        Access::NoDisplay { .. } | Access::NoPrivateDisplay => ErrorCode::ProviderUnavailable,
        Access::Granted => ErrorCode::ExecutionFailed,
    };
    let what = match access {
        Access::Denied { .. } => "the system does not let Bailiwick look at the displays",
        Access::NotDetermined { .. } => {
            "the user has not been asked yet whether Bailiwick may look at the displays"
        }
        Access::NoDisplay { .. } | Access::NoPrivateDisplay => "there is no display",
        Access::Locked => "the session is locked",
        Access::Unsupported { .. } => "the displays of this system cannot be read",
        Access::Granted => "no display gave a picture",
    };
    let message = state.why.as_ref().map_or_else(|| what.to_owned(), |why| format!("{what}: {why}"));
    let failure = Failure::new(code, message).detail("access", state.state);
    match state.setting {
        Some(setting) => failure.hint(format!("For the user: {setting}")),
        None => failure,
    }
}
