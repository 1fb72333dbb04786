//! The windows of macOS as elements of their programs: which element a window of the list is, and what is done to it.

use super::choice::{NamedPlace, WindowChoice, choose};
use super::element::{AxElement, is_trusted, limit_calls};
use crate::accessibility::AccessibilityError;
use crate::program_error::ProgramError;
use crate::screen::plain::plain;
use crate::screen::{Rect, SystemWindow};

const SETTING: &str = "System Settings > Privacy & Security > Accessibility: turn on the program that starts Bailiwick \
                       (the terminal, or Bailiwick itself), then start it again";

/// Returns whether the user lets this process use the accessibility of the system. The user is not asked.
pub(super) fn allowed() -> Result<(), AccessibilityError> {
    if is_trusted() { Ok(()) } else { Err(AccessibilityError::NotAllowed { setting: SETTING }) }
}

/// Returns what a window is found by.
pub(super) fn named(window: &SystemWindow) -> NamedPlace {
    NamedPlace { title: plain(&window.title), place: window.bounds }
}

/// Finds the element of a window of a process, which the list of windows calls so and has at this place, beside the others of the
/// process. `id` is what the window is called in answers.
pub(super) fn element_of_window(
    id: &str,
    pid: i32,
    own: &NamedPlace,
    others: &[NamedPlace],
) -> Result<AxElement, AccessibilityError> {
    let nothing = || AccessibilityError::NoElements(id.to_owned());
    let tops = match AxElement::of_process(pid).elements("AXWindows") {
        Err(ProgramError::Unable | ProgramError::Gone) => return Err(nothing()),
        tops => tops?,
    };
    let (mut elements, mut places) = (Vec::new(), Vec::new());
    for top in tops.into_iter().filter(|top| top.pid() == Some(pid)) {
        // One that cannot be read could be the window, too.
        let facts = match top.facts() {
            Err(ProgramError::Gone) => continue,
            facts => facts?,
        };
        if let Some(place) = facts.place {
            elements.push(top);
            places.push(NamedPlace { title: plain(&facts.title), place });
        }
    }
    match choose(own, others, &places) {
        WindowChoice::Element(at) => Ok(elements.swap_remove(at)),
        WindowChoice::Nothing => Err(nothing()),
        WindowChoice::Several => Err(AccessibilityError::AmbiguousWindow(id.to_owned())),
    }
}

/// A window as its program has it.
pub(crate) struct AxWindow {
    window: AxElement,
    program: AxElement,
}

impl AxWindow {
    /// Finds that of a window, among all that the list has.
    ///
    /// # Errors
    /// [`AccessibilityError`], also where the user does not let this process ask.
    pub(crate) fn find(
        id: &str,
        window: &SystemWindow,
        all: &[SystemWindow],
    ) -> Result<Self, AccessibilityError> {
        allowed()?;
        limit_calls();
        let pid = window.pid.and_then(|pid| i32::try_from(pid).ok()).filter(|pid| *pid > 0);
        let pid = pid.ok_or_else(|| AccessibilityError::NoElements(id.to_owned()))?;
        let others = all.iter().filter(|it| it.pid == window.pid && it.number != window.number);
        let others: Vec<NamedPlace> = others.map(named).collect();
        let found = element_of_window(id, pid, &named(window), &others)?;
        Ok(Self { window: found, program: AxElement::of_process(pid) })
    }

    /// Returns whether it is minimised.
    pub(crate) fn is_minimised(&self) -> Result<bool, ProgramError> {
        Ok(self.window.truth("AXMinimized")? == Some(true))
    }

    /// Minimises it, or brings it back.
    pub(crate) fn set_minimised(&self, is_minimised: bool) -> Result<(), ProgramError> {
        self.window.set_truth("AXMinimized", is_minimised)
    }

    /// Has it leave the full screen; returns whether it was there.
    pub(crate) fn leave_full_screen(&self) -> Result<bool, ProgramError> {
        let is_full = self.window.truth("AXFullScreen")? == Some(true);
        if is_full {
            self.window.set_truth("AXFullScreen", false)?;
        }
        Ok(is_full)
    }

    /// Has it be the one that the user works in.
    pub(crate) fn focus(&self) -> Result<(), ProgramError> {
        self.window.perform("AXRaise")?;
        // Not every window can be the main one of its program.
        match self.window.set_truth("AXMain", true) {
            Ok(()) | Err(ProgramError::Unable | ProgramError::Refused(_)) => {}
            Err(error) => return Err(error),
        }
        self.program.set_truth("AXFrontmost", true)
    }

    /// Puts it somewhere, in the units of the system.
    pub(crate) fn put(&self, place: Rect) -> Result<(), ProgramError> {
        // Its size is limited by the display that it is on: once more where it was moved to another.
        self.window.set_size(place.width, place.height)?;
        self.window.set_corner(place.origin())?;
        self.window.set_size(place.width, place.height)
    }

    /// Presses its close button, which asks its program to close it.
    pub(crate) fn close(&self) -> Result<(), ProgramError> {
        self.window.element("AXCloseButton")?.ok_or(ProgramError::Unable)?.perform("AXPress")
    }
}
