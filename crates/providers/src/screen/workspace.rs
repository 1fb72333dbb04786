//! Switching a display to another workspace, and what came of it.

use std::thread;
use std::time::Instant;

use bailiwick_contract::Cancel;
use bailiwick_platform::screen::{Displays, ScreenError, Workspaces};

use super::control::{FIRST_LOOK, LAST_LOOK, PATIENCE};
use crate::elements::ActionEffect;

/// Has a display show a workspace, and waits until it does. Returns the workspaces as they are then.
///
/// # Errors
/// [`ScreenError`] has them.
pub fn switch_workspace(
    displays: &Displays,
    before: &Workspaces,
    number: u32,
    cancel: &Cancel,
) -> Result<(Workspaces, ActionEffect), ScreenError> {
    displays.switch_workspace(&before.display, number)?;
    let (until, mut pause) = (Instant::now() + PATIENCE, FIRST_LOOK);
    loop {
        let after = displays.workspaces(Some(&before.display))?;
        let is_over = Instant::now() >= until || cancel.check().is_err();
        if after.current == number {
            return Ok((after, ActionEffect::Confirmed));
        }
        if is_over {
            let is_same = after.current == before.current;
            return Ok((after, if is_same { ActionEffect::SuspectedNoop } else { ActionEffect::Partial }));
        }
        thread::sleep(pause);
        pause = (pause * 2).min(LAST_LOOK);
    }
}
