//! Systems whose elements are not read yet.

use std::sync::Arc;

use super::{AccessibilityError, Bounds, ElementDetails, ElementSource, ElementTree, RuntimeId};
use crate::screen::{Displays, Window};

/// Returns the accessibility of this system, which refuses everything.
pub fn element_source(_: Arc<Displays>) -> Arc<dyn ElementSource> {
    Arc::new(NoElements)
}

/// Why.
const UNSUPPORTED: AccessibilityError =
    AccessibilityError::Unsupported("Bailiwick does not know how they are told there");

#[derive(Debug)]
struct NoElements;

impl ElementSource for NoElements {
    fn tree(&self, _: &Window) -> Result<ElementTree, AccessibilityError> {
        Err(UNSUPPORTED)
    }

    fn bounds(&self, _: &str, _: &ElementTree, _: &[usize]) -> Result<Vec<Bounds>, AccessibilityError> {
        Err(UNSUPPORTED)
    }

    fn texts(&self, _: &str, _: &[RuntimeId], _: usize) -> Result<Vec<Option<String>>, AccessibilityError> {
        Err(UNSUPPORTED)
    }

    fn numbers(&self, _: &str, _: &[RuntimeId]) -> Result<Vec<Option<f64>>, AccessibilityError> {
        Err(UNSUPPORTED)
    }

    fn ranges(&self, _: &str, _: &[RuntimeId]) -> Result<Vec<Option<[f64; 2]>>, AccessibilityError> {
        Err(UNSUPPORTED)
    }

    fn labels(&self, _: &str, _: &[RuntimeId]) -> Result<Vec<Option<RuntimeId>>, AccessibilityError> {
        Err(UNSUPPORTED)
    }

    fn press(&self, _: &str, _: &RuntimeId) -> Result<bool, AccessibilityError> {
        Err(UNSUPPORTED)
    }

    fn actions(&self, _: &str, _: &RuntimeId) -> Result<Vec<String>, AccessibilityError> {
        Err(UNSUPPORTED)
    }

    fn act(&self, _: &str, _: &RuntimeId, _: &[&str]) -> Result<bool, AccessibilityError> {
        Err(UNSUPPORTED)
    }

    fn select(&self, _: &str, _: &RuntimeId, _: &RuntimeId) -> Result<bool, AccessibilityError> {
        Err(UNSUPPORTED)
    }

    fn focus(&self, _: &str, _: &RuntimeId) -> Result<bool, AccessibilityError> {
        Err(UNSUPPORTED)
    }

    fn scroll_to(&self, _: &str, _: &RuntimeId) -> Result<bool, AccessibilityError> {
        Err(UNSUPPORTED)
    }

    fn set_text(&self, _: &str, _: &RuntimeId, _: &str) -> Result<bool, AccessibilityError> {
        Err(UNSUPPORTED)
    }

    fn details(&self, _: &str, _: &RuntimeId) -> Result<ElementDetails, AccessibilityError> {
        Err(UNSUPPORTED)
    }

    fn insert_text(&self, _: &str, _: &RuntimeId, _: usize, _: &str) -> Result<bool, AccessibilityError> {
        Err(UNSUPPORTED)
    }

    fn set_number(&self, _: &str, _: &RuntimeId, _: f64) -> Result<(), AccessibilityError> {
        Err(UNSUPPORTED)
    }
}
