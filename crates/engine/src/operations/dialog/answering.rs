//! What every answer to a dialog does before: finding the element again, and refusing what only the user answers.

use bailiwick_contract::ErrorCode;
use bailiwick_providers::elements::WindowScene;
use bailiwick_providers::screen::ClosedProcesses;

use super::super::input::prompt;
use super::super::ui::{ACTION, CurrentElement};
use crate::registry::prelude::*;

/// What the operations that answer dialogs have in common.
pub(super) const ANSWER: OperationSpec = OperationSpec { target: TargetRule::Snapshot, ..ACTION };

/// Returns an element if it is of a dialog that clients may answer.
///
/// # Errors
/// `invalid_request` where the window is no dialog, `secure_field`, `permission_denied`.
pub(super) fn answerable(cx: &Context, found: CurrentElement) -> Result<CurrentElement, Failure> {
    let scene = &found.scene;
    if !scene.is_dialog() {
        return Err(Failure::invalid("target", "the window of the snapshot is no dialog").hint(
            "dialog.list lists dialogs; ui.press and ui.set_value use the elements of other windows.",
        ));
    }
    if scene.asks_for_secret() {
        return Err(Failure::new(
            ErrorCode::SecureField,
            "the dialog asks for a secret: only the user answers it",
        )
        .hint("For the user: answer the dialog yourself."));
    }
    if is_bailiwicks(cx, scene) {
        return Err(prompt());
    }
    Ok(found)
}

/// Returns whether a window is of Bailiwick, or of a client or the terminal in which it runs.
pub(super) fn is_bailiwicks(cx: &Context, scene: &WindowScene) -> bool {
    ClosedProcesses::find(cx.service.launcher.program()).has(scene.window.pid)
}
