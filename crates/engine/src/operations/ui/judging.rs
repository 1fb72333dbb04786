//! Whether something may be pressed, set or typed in a window, or it may be closed: the one judge of `ui.*`, `menu.*`, `dialog.*`,
//! `input.*`, `window.close` and `app.quit`.

use bailiwick_contract::{ErrorCode, Failure};
use bailiwick_providers::elements::WindowScene;
use bailiwick_providers::screen::ClosedProcesses;

use super::refusal::{prompt, terminal};
use crate::registry::Context;

/// Finds the processes of Bailiwick, and of the clients and terminals in which it runs.
pub(in crate::operations) fn closed_processes(cx: &Context) -> ClosedProcesses {
    ClosedProcesses::find(cx.service.launcher.program())
}

/// Judges a window in which something is to be pressed, set or typed, by its program and by what it shows.
///
/// # Errors
/// `permission_denied` for a terminal and for what Bailiwick runs in, `secure_field` for a dialog that asks for a secret.
pub(in crate::operations) fn judge_window(
    closed: &ClosedProcesses,
    scene: &WindowScene,
) -> Result<(), Failure> {
    if scene.has_terminal() {
        return Err(terminal());
    }
    judge_prompt(closed, scene)
}

/// Judges whether a window is one that only the user answers, by its program and by what it shows.
///
/// # Errors
/// `permission_denied` for what Bailiwick runs in, `secure_field` for a dialog that asks for a secret.
pub(in crate::operations) fn judge_prompt(
    closed: &ClosedProcesses,
    scene: &WindowScene,
) -> Result<(), Failure> {
    if closed.has(scene.window.pid) {
        return Err(prompt());
    }
    if scene.is_dialog() && scene.asks_for_secret() || scene.has_dialog_for_secret() {
        return Err(Failure::new(
            ErrorCode::SecureField,
            "the dialog asks for a secret: only the user answers it",
        )
        .hint("For the user: answer the dialog yourself."));
    }
    Ok(())
}
