//! Systems whose elements are not read yet.

use std::sync::Arc;

use super::{AccessibilityError, Bounds, ElementDetails, ElementSource, ElementTree, RuntimeId};
use crate::screen::{Displays, Window};

/// Returns the accessibility of this system, which refuses everything.
pub fn element_source(_: Arc<Displays>) -> Arc<dyn ElementSource> {
    Arc::new(NoElements)
}

#[derive(Debug)]
struct NoElements;

impl ElementSource for NoElements {
    fn tree(&self, _: &Window) -> Result<ElementTree, AccessibilityError> {
        Err(AccessibilityError::Unsupported)
    }

    fn bounds(&self, _: &str, _: &ElementTree, _: &[usize]) -> Result<Vec<Bounds>, AccessibilityError> {
        Err(AccessibilityError::Unsupported)
    }

    fn texts(&self, _: &str, _: &[RuntimeId], _: usize) -> Result<Vec<Option<String>>, AccessibilityError> {
        Err(AccessibilityError::Unsupported)
    }

    fn numbers(&self, _: &str, _: &[RuntimeId]) -> Result<Vec<Option<f64>>, AccessibilityError> {
        Err(AccessibilityError::Unsupported)
    }

    fn ranges(&self, _: &str, _: &[RuntimeId]) -> Result<Vec<Option<[f64; 2]>>, AccessibilityError> {
        Err(AccessibilityError::Unsupported)
    }

    fn labels(&self, _: &str, _: &[RuntimeId]) -> Result<Vec<Option<RuntimeId>>, AccessibilityError> {
        Err(AccessibilityError::Unsupported)
    }

    fn press(&self, _: &str, _: &RuntimeId) -> Result<bool, AccessibilityError> {
        Err(AccessibilityError::Unsupported)
    }

    fn actions(&self, _: &str, _: &RuntimeId) -> Result<Vec<String>, AccessibilityError> {
        Err(AccessibilityError::Unsupported)
    }

    fn act(&self, _: &str, _: &RuntimeId, _: &[&str]) -> Result<bool, AccessibilityError> {
        Err(AccessibilityError::Unsupported)
    }

    fn select(&self, _: &str, _: &RuntimeId, _: &RuntimeId) -> Result<bool, AccessibilityError> {
        Err(AccessibilityError::Unsupported)
    }

    fn focus(&self, _: &str, _: &RuntimeId) -> Result<bool, AccessibilityError> {
        Err(AccessibilityError::Unsupported)
    }

    fn scroll_to(&self, _: &str, _: &RuntimeId) -> Result<bool, AccessibilityError> {
        Err(AccessibilityError::Unsupported)
    }

    fn set_text(&self, _: &str, _: &RuntimeId, _: &str) -> Result<bool, AccessibilityError> {
        Err(AccessibilityError::Unsupported)
    }

    fn details(&self, _: &str, _: &RuntimeId) -> Result<ElementDetails, AccessibilityError> {
        Err(AccessibilityError::Unsupported)
    }

    fn insert_text(&self, _: &str, _: &RuntimeId, _: usize, _: &str) -> Result<bool, AccessibilityError> {
        Err(AccessibilityError::Unsupported)
    }

    fn set_number(&self, _: &str, _: &RuntimeId, _: f64) -> Result<(), AccessibilityError> {
        Err(AccessibilityError::Unsupported)
    }
}
