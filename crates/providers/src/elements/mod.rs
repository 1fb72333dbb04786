//! Elements of windows: what a snapshot of them holds, finding the same element again before it is acted on, and what came
//! of acting.
//!
//! What programs say of their elements is a stranger's word: it is cut and escaped, and an element that is not plainly the
//! one that was seen is not acted on.

mod access;
mod identity;
mod lines;
mod outcome;
mod scene;
mod snapshot;
mod store;

pub use access::Elements;
pub use identity::{Identity, identify, resolve};
pub use lines::{is_checkable, line, quoted};
pub use outcome::{ActionEffect, Change, compare};
pub use scene::{SceneError, WindowScene, judge_again, scene};
pub use snapshot::{ListedElement, Snapshot, has_number, has_text, see};
pub use store::{Owner, Snapshots};
