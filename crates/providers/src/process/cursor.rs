//! Where a reader of a process's output stands.

use std::fmt;

use bailiwick_contract::Failure;
use bailiwick_platform::launch::kept::Stream;

/// The position of the next byte of each stream. The two differ where one of them ended in the middle of a
/// character, which waits for its rest.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Cursor {
    /// Of standard output.
    pub stdout: u64,
    /// Of standard error.
    pub stderr: u64,
}

impl Cursor {
    /// Stands at a position with both streams.
    pub const fn at(position: u64) -> Self {
        Self { stdout: position, stderr: position }
    }

    /// Reads a cursor as it was given to a client.
    ///
    /// # Errors
    /// `invalid_request`.
    pub fn parse(field: &str, text: &str) -> Result<Self, Failure> {
        let number = |text: &str| text.parse::<u64>().ok().filter(|_| text.len() <= 20);
        let parsed = match text.split_once('-') {
            None => number(text).map(Self::at),
            Some((stdout, stderr)) => {
                number(stdout).zip(number(stderr)).map(|(stdout, stderr)| Self { stdout, stderr })
            }
        };
        parsed.ok_or_else(|| {
            Failure::invalid(field, format!("`{field}` is no cursor of process.read"))
                .hint("Send the `nextCursor` of an earlier process.read of this process, or leave it out.")
        })
    }

    /// Returns the position of the next byte of a stream.
    pub const fn of(&self, stream: Stream) -> u64 {
        match stream {
            Stream::Stdout => self.stdout,
            Stream::Stderr => self.stderr,
        }
    }

    pub(super) const fn set(&mut self, stream: Stream, position: u64) {
        match stream {
            Stream::Stdout => self.stdout = position,
            Stream::Stderr => self.stderr = position,
        }
    }
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.stdout == self.stderr {
            true => write!(f, "{}", self.stdout),
            false => write!(f, "{}-{}", self.stdout, self.stderr),
        }
    }
}
