//! A window that was judged, as the list of windows has it at this moment.

use super::AccessibilityError;
use crate::program_error::ProgramError;
use crate::screen::plain::plain;
use crate::screen::{Displays, ScreenError, SystemWindow, Window};

/// Returns a window in the units of the system, and the others of its process.
///
/// # Errors
/// [`AccessibilityError::NoElements`] if it is gone, or is another one now; [`ProgramError`] if the list cannot be read.
pub(super) fn listed_window(
    displays: &Displays,
    window: &Window,
) -> Result<(SystemWindow, Vec<SystemWindow>), AccessibilityError> {
    let nothing = || AccessibilityError::NoElements(window.id.clone());
    let (own, others) = displays.windows_of_process(&window.id).map_err(|error| match error {
        ScreenError::UnknownWindow(_) => nothing(),
        ScreenError::Timeout(_) => ProgramError::Unresponsive.into(),
        _ => ProgramError::Lost.into(),
    })?;
    if (own.pid, plain(&own.title)) != (window.pid, window.title.clone()) {
        return Err(nothing());
    }
    Ok((own, others))
}
