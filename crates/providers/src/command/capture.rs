//! What is kept of a program's output while it runs: its beginning and its end, within a bound.
//!
//! Nothing here ever refuses bytes: a full pipe would stop the program.

use serde::{Deserialize, Serialize};

use super::ansi::Stripper;

/// The kept part of one stream. Its memory is bounded by what was asked to be kept, whatever arrives.
#[derive(Debug)]
pub struct Capture {
    stripper: Option<Stripper>,
    kept: CapturedStream,
    head_limit: usize,
    tail_limit: usize,
}

/// The beginning and the end of a stream, and how much there was in all.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CapturedStream {
    /// The beginning.
    pub head: Vec<u8>,
    /// The end; it follows the beginning at once where nothing was left out between them.
    pub tail: Vec<u8>,
    /// All bytes, without the control sequences that were taken out.
    pub total_bytes: u64,
    /// All line feeds.
    pub total_line_feeds: u64,
}

impl CapturedStream {
    /// Returns whether beginning and end together are the whole stream.
    pub fn is_whole(&self) -> bool {
        (self.head.len() + self.tail.len()) as u64 == self.total_bytes
    }
}

impl Capture {
    /// Keeps at most this many bytes of the beginning and of the end.
    pub fn new(head_limit: usize, tail_limit: usize) -> Self {
        Self { stripper: None, kept: CapturedStream::default(), head_limit, tail_limit }
    }

    /// Takes the control sequences of terminals out.
    #[must_use]
    pub fn without_ansi(mut self) -> Self {
        self.stripper = Some(Stripper::default());
        self
    }

    /// Takes the next bytes of the stream.
    pub fn push(&mut self, piece: &[u8]) {
        match self.stripper.take() {
            None => self.keep(piece),
            Some(mut stripper) => {
                stripper.strip(piece, |text| self.keep(text));
                self.stripper = Some(stripper);
            }
        }
    }

    /// Returns what was kept.
    pub fn finish(mut self) -> CapturedStream {
        let surplus = self.kept.tail.len().saturating_sub(self.tail_limit);
        self.kept.tail.drain(..surplus);
        self.kept
    }

    fn keep(&mut self, piece: &[u8]) {
        let kept = &mut self.kept;
        kept.total_bytes += piece.len() as u64;
        kept.total_line_feeds += memchr::memchr_iter(b'\n', piece).count() as u64;
        let (head, rest) = piece.split_at(piece.len().min(self.head_limit - kept.head.len()));
        kept.head.extend_from_slice(head);
        // Only what can still be at the end is copied; the surplus goes when it is as large as what stays.
        let rest = &rest[rest.len().saturating_sub(self.tail_limit)..];
        if rest.len() == self.tail_limit {
            kept.tail.clear();
        } else if kept.tail.len() + rest.len() > self.tail_limit * 2 {
            kept.tail.drain(..kept.tail.len() + rest.len() - self.tail_limit);
        }
        kept.tail.extend_from_slice(rest);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn keeps_exactly_the_beginning_and_the_end(
            pieces in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..50), 0..20),
            head in 0_usize..60,
            tail in 0_usize..60,
        ) {
            let all: Vec<u8> = pieces.concat();
            let mut capture = Capture::new(head, tail);
            for piece in &pieces {
                capture.push(piece);
            }
            let kept = capture.finish();
            let first = &all[..all.len().min(head)];
            let rest = &all[first.len()..];
            prop_assert_eq!(&kept.head[..], first);
            prop_assert_eq!(&kept.tail[..], &rest[rest.len().saturating_sub(tail)..]);
            prop_assert_eq!(kept.total_bytes, all.len() as u64);
            prop_assert_eq!(kept.is_whole(), all.len() <= head + tail);
        }
    }

    #[test]
    fn memory_is_bounded_whatever_arrives() {
        let mut capture = Capture::new(1_000, 2_000).without_ansi();
        for _ in 0..1_000 {
            capture.push(&[b'x'; 10_000]);
            assert!(capture.kept.head.capacity() + capture.kept.tail.capacity() <= 16_000);
        }
        assert_eq!(capture.finish().total_bytes, 10_000_000);
    }
}
