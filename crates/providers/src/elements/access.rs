//! The elements of this computer, as a service has them.

use std::sync::Arc;

use bailiwick_platform::accessibility::{ElementSource, element_source};
use bailiwick_platform::screen::Displays;

use super::Snapshots;

/// The elements of this computer's windows, and what callers have seen of them.
#[derive(Debug)]
pub struct Elements {
    /// Where they come from.
    pub source: Arc<dyn ElementSource>,
    /// What was seen.
    pub snapshots: Snapshots,
}

impl Elements {
    /// Makes it ready, without asking anything.
    pub fn new(displays: Arc<Displays>) -> Self {
        Self { source: element_source(displays), snapshots: Snapshots::default() }
    }
}
