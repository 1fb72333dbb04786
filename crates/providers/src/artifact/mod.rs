//! Pictures of the screen that are kept for a while, and the facts of all that were taken.
//!
//! Kept in Bailiwick's state folder, which no scope reaches, and found only in the scope they were taken in. Bounded by
//! age, number and size. Must not judge who may look at them.

mod facts;
mod store;

pub use facts::{Area, CaptureFacts, CaptureKind, KeptPicture, RecordingFacts};
pub use store::CaptureStore;
