//! The clipboard, where its owner is a program that the scope shows.
//!
//! The only place that reads the clipboard: `tests/it/architecture.rs` holds it to that.

use std::sync::Arc;

use bailiwick_platform::screen::{
    CLIPBOARD_OWNER, Clipping, ClippingKind, ClippingLimits, Displays, Judge, ScreenError, Window,
};
use bailiwick_policy::Scope;

use super::control::is_shown;

/// Reads the clipboard of a display unless its owner is a program that the scope does not show, or says that it is a secret.
///
/// # Errors
/// [`ScreenError`], of which [`ScreenError::Refused`] is for such an owner.
pub fn read_clipboard(
    displays: &Displays,
    scope: &Arc<Scope>,
    display: Option<&str>,
    wanted: Option<ClippingKind>,
    limits: ClippingLimits,
) -> Result<Clipping, ScreenError> {
    let judging = Arc::clone(scope);
    let judge: Judge = Box::new(move |windows: &[Window]| is_shown(&judging, windows, CLIPBOARD_OWNER));
    displays.read_clipboard(display, wanted, limits, &judge)
}
