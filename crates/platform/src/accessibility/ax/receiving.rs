//! What gets input, as the accessibility of macOS says: what is at a point, and what has the keyboard.

use super::element::{AxElement, limit_calls};
use crate::program_error::ProgramError;
use crate::screen::ToldReceiver;
use crate::screen::plain::plain;

/// Returns what is at a point, in the units of the system.
pub(crate) fn receiver_at(point: (f64, f64)) -> Result<ToldReceiver, ProgramError> {
    limit_calls();
    let found = AxElement::at(point)?;
    let window = match found.element("AXWindow") {
        Err(ProgramError::Unable) => None,
        window => window?,
    };
    let window = match window {
        None if found.facts()?.role == "AXWindow" => Some(found.clone()),
        window => window,
    };
    told(&found, window.as_ref())
}

/// Returns what has the keyboard.
pub(crate) fn receiver_of_keys() -> Result<ToldReceiver, ProgramError> {
    limit_calls();
    let program = AxElement::of_system().element("AXFocusedApplication")?.ok_or(ProgramError::Unable)?;
    let window = program.element("AXFocusedWindow")?.ok_or(ProgramError::Unable)?;
    let within = match program.element("AXFocusedUIElement") {
        Err(ProgramError::Unable) => None,
        within => within?,
    };
    told(within.as_ref().unwrap_or(&window), Some(&window))
}

fn told(found: &AxElement, window: Option<&AxElement>) -> Result<ToldReceiver, ProgramError> {
    let pid = |element: &AxElement| {
        element.pid().and_then(|pid| u32::try_from(pid).ok()).ok_or(ProgramError::Unable)
    };
    let inner = pid(found)?;
    let Some(window) = window else { return Ok(ToldReceiver { pid: inner, window: None, inner }) };
    let facts = window.facts()?;
    let place = facts.place.ok_or(ProgramError::Unable)?;
    Ok(ToldReceiver { pid: pid(window)?, window: Some((plain(&facts.title), place)), inner })
}
