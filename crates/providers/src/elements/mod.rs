//! Elements of windows: what a snapshot of them holds, finding the same element again before it is acted on, and what came
//! of acting.
//!
//! What programs say of their elements is a stranger's word: it is cut and escaped, and an element that is not plainly the
//! one that was seen is not acted on.

mod identity;
mod lines;
mod outcome;
mod scene;
mod snapshot;
mod store;

pub use identity::{Identity, Mismatch, identify, resolve};
pub use lines::{line, quoted, text_line};
pub use outcome::{ActionEffect, Change, compare};
pub use scene::{SceneError, WindowScene, scene};
pub use snapshot::{Seen, Snapshot, see};
pub use store::{Owner, Snapshots};

use std::sync::Arc;

use bailiwick_platform::accessibility::{ElementSource, element_source};
use bailiwick_platform::screen::Displays;

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
