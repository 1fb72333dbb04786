//! Waiting until something happens: the conditions of `process.wait`, and what each has seen.
//!
//! Must not judge anything: the processes and paths that come here are permitted. Must not poll what tells of
//! itself: output and ends of processes.

mod clock;
mod condition;
mod file;
mod hold;
mod web;
mod lines;
mod pattern;
mod probe;
mod round;
mod scan;
mod token;
mod watched;

pub use condition::{Condition, ConditionMode, ConditionStatus, Evidence, FileState, Outcome};
pub use hold::hold;
pub use pattern::{MAX_PATTERN_BYTES, Pattern, PatternError};
pub use round::Round;
pub use scan::{Marks, PatternMatch, Scan};
pub use token::{SavedCondition, Token};
pub use watched::WatchedCondition;
pub use web::{MAX_BODY_BYTES, MAX_PATH_BYTES, WebAnswer, is_path};
