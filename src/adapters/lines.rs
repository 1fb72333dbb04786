//! Reading lines of bounded length, for stdio and the local socket.
//!
//! Must not interpret a line, and must never hold more of one than the limit.

use std::io;

use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};

/// The longest line that is read: 16 MiB.
pub const MAX_LINE_BYTES: usize = 16 << 20;
/// How much of the buffer is kept between lines.
const KEPT_BYTES: usize = 64 << 10;

/// What the reader found.
#[derive(Debug, PartialEq, Eq)]
pub enum Line<'a> {
    /// A line without its end.
    Text(&'a [u8]),
    /// A line beyond the limit; all of it was skipped.
    TooLong,
    /// The other side has closed. A last line without an end counts as incomplete and is dropped.
    End,
}

/// Reads lines. [`LineReader::next`] may be dropped at any await and called again.
#[derive(Debug)]
pub struct LineReader<R> {
    input: BufReader<R>,
    line: Vec<u8>,
    /// The line in `line` was handed out; the next call begins another.
    done: bool,
    skipping: bool,
    limit_bytes: usize,
}

enum Step {
    More,
    Whole,
    Skipped,
}

impl<R: AsyncRead + Unpin> LineReader<R> {
    /// Creates a reader that refuses lines longer than `limit_bytes`.
    pub fn new(input: R, limit_bytes: usize) -> Self {
        let input = BufReader::with_capacity(32 << 10, input);
        Self { input, line: Vec::new(), done: false, skipping: false, limit_bytes }
    }

    /// Waits for the next line that is not empty.
    ///
    /// # Errors
    /// Those of the input.
    pub async fn next(&mut self) -> io::Result<Line<'_>> {
        if self.done {
            self.line.clear();
            self.line.shrink_to(KEPT_BYTES);
            self.done = false;
        }
        loop {
            // Nothing awaits between taking bytes over and consuming them.
            let available = self.input.fill_buf().await?;
            if available.is_empty() {
                return Ok(Line::End);
            }
            let end = available.iter().position(|byte| *byte == b'\n');
            let taken = end.map_or(available.len(), |at| at + 1);
            if !self.skipping && self.line.len() + taken > self.limit_bytes {
                self.skipping = true;
                self.line = Vec::new();
            }
            if !self.skipping {
                self.line.extend_from_slice(&available[..taken]);
            }
            self.input.consume(taken);
            let step = match (end, self.skipping) {
                (None, _) => Step::More,
                (Some(_), true) => Step::Skipped,
                (Some(_), false) => Step::Whole,
            };
            match step {
                Step::More => {}
                Step::Skipped => {
                    self.skipping = false;
                    return Ok(Line::TooLong);
                }
                Step::Whole => {
                    let text = self.line.trim_ascii();
                    if !text.is_empty() {
                        break;
                    }
                    self.line.clear();
                }
            }
        }
        self.done = true;
        let text = self.line.trim_ascii();
        // RFC 8259 §8.1 lets a reader ignore a byte order mark.
        Ok(Line::Text(text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(text)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(flavor = "current_thread")]
    async fn a_line_beyond_the_limit_is_skipped_and_the_next_one_read() {
        let mut text = vec![b'x'; 100];
        text.extend_from_slice(b"\n\r\n \nshort\r\n0123456789\nunfinished");
        let mut lines = LineReader::new(&text[..], 11);
        assert_eq!(lines.next().await.expect("read"), Line::TooLong);
        assert_eq!(lines.next().await.expect("read"), Line::Text(b"short"));
        assert_eq!(lines.next().await.expect("read"), Line::Text(b"0123456789"));
        assert_eq!(lines.next().await.expect("read"), Line::End);
    }
}
