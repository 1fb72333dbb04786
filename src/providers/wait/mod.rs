//! Waiting until something happens: the conditions of `process.wait`, and what each has seen.
//!
//! Must not judge anything: the processes, paths and ports that come here are permitted.

mod lines;
mod pattern;
mod scan;

pub use pattern::{MAX_PATTERN_BYTES, Pattern, PatternError};
pub use scan::{Marks, Scan, Seen};

/// One of the two streams of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    /// out
    Stdout,
    /// err
    Stderr,
}

/// A piece of the output of a process.
#[derive(Debug, Clone, Copy)]
pub struct Piece<'a> {
    /// The stream.
    pub stream: Stream,
    /// When it arrived, in milliseconds since the epoch.
    pub at_ms: i64,
    /// The place of its first byte.
    pub position: u64,
    /// The bytes.
    pub bytes: &'a [u8],
}
