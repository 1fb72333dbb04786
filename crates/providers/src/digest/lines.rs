//! Lines out of a stream that comes in pieces: without control sequences, without what was overwritten, bounded.

use crate::command::Stripper;

/// What is checked of one line; the rest of a longer line is counted and let go.
const LINE_BYTES: usize = 8_192;

/// Makes lines of one stream. Where the pieces end makes no difference.
#[derive(Debug, Default)]
pub struct Lines {
    stripper: Stripper,
    cutter: LineSplitter,
}

impl Lines {
    /// Takes the next piece, and gives each line that it ends to `each`, with the bytes that the line has in all.
    pub fn push(&mut self, piece: &[u8], mut each: impl FnMut(&str, u64)) {
        let cutter = &mut self.cutter;
        self.stripper.strip(piece, |text| cutter.push(text, &mut each));
    }

    /// Gives the last line, if no line feed ended it.
    pub fn finish(mut self, mut each: impl FnMut(&str, u64)) {
        if self.cutter.line_bytes > 0 {
            self.cutter.end(&mut each);
        }
    }
}

/// Cuts text at line feeds.
#[derive(Debug, Default)]
struct LineSplitter {
    /// The beginning of the line that is not yet ended.
    line: Vec<u8>,
    /// Its bytes in all.
    line_bytes: u64,
    /// Whether the last byte was a carriage return, which a line feed makes part of the line's end.
    returned: bool,
}

impl LineSplitter {
    fn push(&mut self, mut text: &[u8], each: &mut impl FnMut(&str, u64)) {
        while !text.is_empty() {
            let Some(at) = memchr::memchr2(b'\n', b'\r', text) else {
                self.add(text);
                return;
            };
            let (before, mark, after) = (&text[..at], text[at], &text[at + 1..]);
            text = after;
            if mark == b'\n' && self.line_bytes == 0 && !self.returned {
                // The usual case: a whole line within one piece is not copied.
                give(&before[..before.len().min(LINE_BYTES)], at as u64 + 1, each);
                continue;
            }
            self.add(before);
            self.line_bytes += 1;
            if mark == b'\n' {
                self.end(each);
            } else {
                self.returned = true;
            }
        }
    }

    /// Adds to the line; what came before a lone carriage return was overwritten.
    fn add(&mut self, text: &[u8]) {
        if text.is_empty() {
            return;
        }
        if self.returned {
            self.line.clear();
            self.returned = false;
        }
        self.line_bytes += text.len() as u64;
        let room = LINE_BYTES - self.line.len();
        self.line.extend_from_slice(&text[..text.len().min(room)]);
    }

    fn end(&mut self, each: &mut impl FnMut(&str, u64)) {
        give(&self.line, self.line_bytes, each);
        self.line.clear();
        (self.line_bytes, self.returned) = (0, false);
    }
}

/// Gives a line; bytes that are no UTF-8 stand as U+FFFD.
fn give(line: &[u8], bytes: u64, each: &mut impl FnMut(&str, u64)) {
    match std::str::from_utf8(line) {
        Ok(line) => each(line, bytes),
        Err(_) => each(&String::from_utf8_lossy(line), bytes),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn lines(pieces: &[&[u8]]) -> Vec<String> {
        let (mut lines, mut found) = (Lines::default(), Vec::new());
        for piece in pieces {
            lines.push(piece, |line, _| found.push(line.to_owned()));
        }
        lines.finish(|line, _| found.push(line.to_owned()));
        found
    }

    #[test]
    fn lines_end_at_line_feeds_with_or_without_a_carriage_return() {
        assert_eq!(lines(&[b"a\nb\r\n\r\n\nlast"]), ["a", "b", "", "", "last"]);
        assert_eq!(lines(&[b"a\r", b"\nb"]), ["a", "b"]);
    }

    #[test]
    fn what_a_carriage_return_goes_over_is_gone() {
        assert_eq!(lines(&[b" 10 %\r 50 %\r100 %\ndone\r\n"]), ["100 %", "done"]);
    }

    #[test]
    fn control_sequences_are_taken_out() {
        assert_eq!(lines(&[b"\x1b[1;31mer", b"ror\x1b[", b"0m: no\n"]), ["error: no"]);
    }

    #[test]
    fn an_endless_line_is_bounded() {
        let (mut lines, mut found) = (Lines::default(), Vec::new());
        for _ in 0..1_000 {
            lines.push(&[b'x'; 10_000], |line, bytes| found.push((line.len(), bytes)));
            assert!(lines.cutter.line.capacity() <= LINE_BYTES * 2);
        }
        lines.finish(|line, bytes| found.push((line.len(), bytes)));
        assert_eq!(found, [(LINE_BYTES, 10_000_000)]);
    }

    proptest! {
        #[test]
        fn where_the_pieces_end_makes_no_difference(
            text in r"(a|ö|\r|\n|\r\n|\x1b\[31m|\x1b|x{50}){0,60}",
            at in 0_usize..300,
        ) {
            let (first, second) = text.as_bytes().split_at(at.min(text.len()));
            prop_assert_eq!(lines(&[first, second]), lines(&[text.as_bytes()]));
        }
    }
}
