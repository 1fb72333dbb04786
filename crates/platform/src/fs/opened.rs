//! An open file.

use std::fs::File;

use super::Stat;

/// A regular file that was opened for reading, with the facts of that very file.
#[derive(Debug)]
pub struct ReadableFile {
    /// The open file.
    pub file: File,
    /// Its facts when it was opened.
    pub stat: Stat,
}
