//! What every system's accessibility is asked by.

use std::fmt::Debug;

use super::{AccessibilityError, ElementDetails, ElementTree, RuntimeId};
use crate::screen::{Rect, Window};

/// Where an element is on its display; `None` where it is not shown, or its program does not say.
pub type Bounds = Option<Rect>;

/// Returns whether this process can use the accessibility of the system, where a system says so: none here.
#[cfg(not(any(target_os = "macos", windows)))]
pub const fn allowance() -> Option<Result<(), AccessibilityError>> {
    None
}

/// One system's accessibility. All calls block, for seconds at most.
pub trait ElementSource: Debug + Send + Sync {
    /// Reads the elements of a window, without their places and values.
    ///
    /// # Errors
    /// [`AccessibilityError`] has them.
    fn tree(&self, window: &Window) -> Result<ElementTree, AccessibilityError>;

    /// Reads where elements of a window are, by their places in its tree.
    ///
    /// # Errors
    /// [`AccessibilityError::Program`], [`AccessibilityError::NoBus`].
    fn bounds(
        &self,
        display: &str,
        tree: &ElementTree,
        elements: &[usize],
    ) -> Result<Vec<Bounds>, AccessibilityError>;

    /// Reads the texts of elements, each up to a number of characters; `None` for one that has none.
    /// Secure fields are the caller's to leave out.
    ///
    /// # Errors
    /// [`AccessibilityError::Program`], [`AccessibilityError::NoBus`].
    fn texts(
        &self,
        display: &str,
        elements: &[RuntimeId],
        most: usize,
    ) -> Result<Vec<Option<String>>, AccessibilityError>;

    /// Reads the numbers of elements; `None` for one that has none.
    ///
    /// # Errors
    /// [`AccessibilityError::Program`], [`AccessibilityError::NoBus`].
    fn numbers(&self, display: &str, elements: &[RuntimeId]) -> Result<Vec<Option<f64>>, AccessibilityError>;

    /// Reads between which bounds the numbers of elements are; `None` for one that has none.
    ///
    /// # Errors
    /// [`AccessibilityError::Program`], [`AccessibilityError::NoBus`].
    fn ranges(
        &self,
        display: &str,
        elements: &[RuntimeId],
    ) -> Result<Vec<Option<[f64; 2]>>, AccessibilityError>;

    /// Reads which elements label others; `None` for one without a label of its own.
    ///
    /// # Errors
    /// [`AccessibilityError::Program`], [`AccessibilityError::NoBus`].
    fn labels(
        &self,
        display: &str,
        elements: &[RuntimeId],
    ) -> Result<Vec<Option<RuntimeId>>, AccessibilityError>;

    /// Does what pressing the element does. The pointer stays where it is. Returns whether the program says that it did.
    ///
    /// # Errors
    /// [`AccessibilityError`] has them. After an error that [`may_be_done`](crate::program_error::ProgramError::may_be_done) it may
    /// be done, or still be.
    fn press(&self, display: &str, element: &RuntimeId) -> Result<bool, AccessibilityError>;

    /// Reads what the actions of an element are called, in lower case. None, where it has no actions.
    ///
    /// # Errors
    /// [`AccessibilityError`] has them.
    fn actions(&self, display: &str, element: &RuntimeId) -> Result<Vec<String>, AccessibilityError>;

    /// Does the first of these actions that the element has. Returns whether the program says that it did.
    ///
    /// # Errors
    /// As [`ElementSource::press`].
    fn act(&self, display: &str, element: &RuntimeId, names: &[&str]) -> Result<bool, AccessibilityError>;

    /// Selects an element that is in a list, if the list still has it. Returns whether the program says that it did.
    ///
    /// # Errors
    /// As [`ElementSource::press`].
    fn select(&self, display: &str, list: &RuntimeId, item: &RuntimeId) -> Result<bool, AccessibilityError>;

    /// Gives an element the keyboard. Many programs raise its window. Returns whether the program says that it did.
    ///
    /// # Errors
    /// As [`ElementSource::press`].
    fn focus(&self, display: &str, element: &RuntimeId) -> Result<bool, AccessibilityError>;

    /// Has the program scroll until an element shows. Returns whether it says that it did.
    ///
    /// # Errors
    /// As [`ElementSource::press`].
    fn scroll_to(&self, display: &str, element: &RuntimeId) -> Result<bool, AccessibilityError>;

    /// Replaces the whole text of an element. Returns whether the program says that it did.
    ///
    /// # Errors
    /// As [`ElementSource::press`].
    fn set_text(&self, display: &str, element: &RuntimeId, text: &str) -> Result<bool, AccessibilityError>;

    /// Reads what only one element at a time is asked for.
    ///
    /// # Errors
    /// [`AccessibilityError::Program`], [`AccessibilityError::NoBus`].
    fn details(&self, display: &str, element: &RuntimeId) -> Result<ElementDetails, AccessibilityError>;

    /// Inserts a text into that of an element, before the character at a place, and puts the caret after it. Returns whether
    /// the program says that it did.
    ///
    /// # Errors
    /// As [`ElementSource::press`].
    fn insert_text(
        &self,
        display: &str,
        element: &RuntimeId,
        at: usize,
        text: &str,
    ) -> Result<bool, AccessibilityError>;

    /// Sets the number of an element.
    ///
    /// # Errors
    /// As [`ElementSource::press`].
    fn set_number(&self, display: &str, element: &RuntimeId, number: f64) -> Result<(), AccessibilityError>;
}
