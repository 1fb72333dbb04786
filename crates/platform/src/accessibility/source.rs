//! What every system's accessibility is asked by.

use std::fmt::Debug;

use super::{AccessibilityError, ElementTree, RuntimeId};
use crate::screen::{Rect, Window};

/// Where an element is on its display; `None` where it is not shown, or its program does not say.
pub type Bounds = Option<Rect>;

/// The text of an element.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextValue {
    /// The text, or its beginning.
    pub text: String,
    /// How long it is, in characters.
    pub length: usize,
}

/// The number that an element has.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NumberValue {
    /// The number.
    pub current: f64,
    /// The smallest that it can be.
    pub least: f64,
    /// The largest that it can be.
    pub most: f64,
}

/// What came of pressing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PressResult {
    /// The name of the action that was done.
    pub action: String,
    /// Whether the program says that it did it.
    pub accepted: bool,
}

/// One system's accessibility. All calls block, for seconds at most.
pub trait ElementSource: Debug + Send + Sync {
    /// Reads the elements of a window, without their places and values.
    ///
    /// # Errors
    /// [`AccessibilityError`] has them.
    fn tree(&self, window: &Window) -> Result<ElementTree, AccessibilityError>;

    /// Reads where elements are.
    ///
    /// # Errors
    /// [`AccessibilityError::Unresponsive`], [`AccessibilityError::NoBus`].
    fn bounds(&self, display: &str, elements: &[RuntimeId]) -> Result<Vec<Bounds>, AccessibilityError>;

    /// Reads the texts of elements, each up to a number of characters; `None` for one that has none.
    /// Secure fields are the caller's to leave out.
    ///
    /// # Errors
    /// [`AccessibilityError::Unresponsive`], [`AccessibilityError::NoBus`].
    fn texts(
        &self,
        display: &str,
        elements: &[RuntimeId],
        most: usize,
    ) -> Result<Vec<Option<TextValue>>, AccessibilityError>;

    /// Reads the numbers of elements; `None` for one that has none.
    ///
    /// # Errors
    /// [`AccessibilityError::Unresponsive`], [`AccessibilityError::NoBus`].
    fn numbers(
        &self,
        display: &str,
        elements: &[RuntimeId],
    ) -> Result<Vec<Option<NumberValue>>, AccessibilityError>;

    /// Reads which elements label others; `None` for one without a label of its own.
    ///
    /// # Errors
    /// [`AccessibilityError::Unresponsive`], [`AccessibilityError::NoBus`].
    fn labels(
        &self,
        display: &str,
        elements: &[RuntimeId],
    ) -> Result<Vec<Option<RuntimeId>>, AccessibilityError>;

    /// Does what pressing the element does. The pointer stays where it is.
    ///
    /// # Errors
    /// [`AccessibilityError`] has them. After [`AccessibilityError::Unresponsive`] it may still be done.
    fn press(&self, display: &str, element: &RuntimeId) -> Result<PressResult, AccessibilityError>;

    /// Replaces the whole text of an element. Returns whether the program says that it did.
    ///
    /// # Errors
    /// As [`ElementSource::press`].
    fn set_text(&self, display: &str, element: &RuntimeId, text: &str) -> Result<bool, AccessibilityError>;

    /// Sets the number of an element.
    ///
    /// # Errors
    /// As [`ElementSource::press`].
    fn set_number(&self, display: &str, element: &RuntimeId, number: f64) -> Result<(), AccessibilityError>;
}
