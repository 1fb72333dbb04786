//! Cutting one stream of output into lines while it comes in pieces, with the place of each.
//!
//! Where the pieces end makes no difference to the lines. Control sequences of terminals are taken out, since
//! colours in the middle of a word would hide it.

use crate::command::Stripper;

/// The longest line that is checked whole; a longer one comes in pieces of this size.
pub const MAX_LINE_BYTES: usize = 16 << 10;
/// How much of a piece of a long line the next one begins with, so that what lies across both is found.
pub const OVERLAP_BYTES: usize = 1 << 10;

/// The lines of one stream.
#[derive(Debug, Default)]
pub struct Lines {
    stripper: Stripper,
    text: Vec<u8>,
    /// The place of the first byte of the unfinished line, once it has one.
    start: Option<u64>,
    after_return: bool,
}

impl Lines {
    /// Takes the next piece, whose first byte has this place, and gives each line that it finishes to `look`,
    /// with the place where the line begins and the place behind it. It stops where `look` says so.
    ///
    /// `\n`, `\r\n` and a lone `\r` end a line: progress bars are lines too.
    pub fn feed<Found>(
        &mut self,
        mut position: u64,
        mut piece: &[u8],
        mut look: impl FnMut(&[u8], u64, u64) -> Option<Found>,
    ) -> Option<Found> {
        while let Some(&first) = piece.first() {
            if first == b'\n' && self.after_return {
                self.after_return = false;
                (position, piece) = (position + 1, &piece[1..]);
                continue;
            }
            self.after_return = false;
            let start = *self.start.get_or_insert(position);
            let end = memchr::memchr2(b'\n', b'\r', piece).unwrap_or(piece.len());
            let (line, rest) = piece.split_at(end);
            position += line.len() as u64;
            if let Some(found) = self.extend(line, |text| look(text, start, position)) {
                return Some(found);
            }
            let border = *rest.first()?;
            position += 1;
            piece = &rest[1..];
            if border == b'\n' {
                // It ends what was no sequence.
                self.stripper.strip(b"\n", |_| {});
            }
            self.after_return = border == b'\r';
            let found = look(&self.text, start, position);
            self.text.clear();
            self.start = None;
            if found.is_some() {
                return found;
            }
        }
        None
    }

    /// Adds to the unfinished line, and gives it away in pieces where it is too long.
    fn extend<Found>(&mut self, line: &[u8], mut look: impl FnMut(&[u8]) -> Option<Found>) -> Option<Found> {
        let (text, mut found) = (&mut self.text, None);
        self.stripper.strip(line, |mut shown| {
            while text.len() + shown.len() > MAX_LINE_BYTES {
                let (now, later) = shown.split_at(MAX_LINE_BYTES - text.len());
                text.extend_from_slice(now);
                found = found.take().or_else(|| look(text));
                text.drain(..MAX_LINE_BYTES - OVERLAP_BYTES);
                shown = later;
            }
            text.extend_from_slice(shown);
        });
        found
    }

    /// Returns the unfinished line and the place where it begins, if there is one.
    pub fn unfinished(&self) -> Option<(&[u8], u64)> {
        self.start.map(|start| (self.text.as_slice(), start))
    }

    /// Forgets the unfinished line: the stream continues elsewhere.
    pub fn reset(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Returns the lines of a stream with their places, the unfinished one last.
    fn lines(pieces: &[&[u8]]) -> Vec<(String, u64, u64)> {
        let (mut lines, mut all, mut position) = (Lines::default(), Vec::new(), 100);
        for piece in pieces {
            let none: Option<()> = lines.feed(position, piece, |text, start, end| {
                all.push((String::from_utf8_lossy(text).into_owned(), start, end));
                None
            });
            assert_eq!(none, None);
            position += piece.len() as u64;
        }
        if let Some((text, start)) = lines.unfinished() {
            all.push((String::from_utf8_lossy(text).into_owned(), start, 0));
        }
        all
    }

    #[test]
    fn every_kind_of_line_end_ends_a_line() {
        let line = |text: &str, start, end| (text.to_owned(), start, end);
        assert_eq!(
            lines(&[b"one\ntwo\r\n\nthree\rfour"]),
            [
                line("one", 100, 104),
                line("two", 104, 108),
                line("", 109, 110),
                line("three", 110, 116),
                line("four", 116, 0)
            ]
        );
        assert_eq!(lines(&[b""]), []);
    }

    #[test]
    fn colours_hide_no_word_and_places_count_every_byte() {
        let stream = b"\x1b[32mgreen\x1b[0m wo\x1b[1mrd\nnext";
        assert_eq!(lines(&[stream])[0], ("green word".to_owned(), 100, 100 + stream.len() as u64 - 4));
    }

    #[test]
    fn a_long_line_comes_in_pieces_that_overlap() {
        let stream = [vec![b'a'; MAX_LINE_BYTES - 3], b"needle".to_vec(), vec![b'b'; 10]].concat();
        let found = lines(&[&stream]);
        assert_eq!(found.len(), 2);
        assert!(!found[0].0.contains("needle") && found[1].0.contains("needle"));
        assert_eq!((found[0].1, found[1].1), (100, 100));
    }

    proptest! {
        #[test]
        fn where_the_pieces_end_makes_no_difference(
            stream in r"(a|bc|\r|\n|\r\n|ö|\x1b\[1m|\x1b\]t\x07|\x1b){0,40}",
            cuts in proptest::collection::vec(0_usize..120, 0..6),
        ) {
            let whole = lines(&[stream.as_bytes()]);
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(stream.len())).collect();
            cuts.sort_unstable();
            let mut pieces = Vec::new();
            let mut from = 0;
            for cut in cuts {
                pieces.push(&stream.as_bytes()[from..cut]);
                from = cut;
            }
            pieces.push(&stream.as_bytes()[from..]);
            prop_assert_eq!(lines(&pieces), whole);
        }
    }
}
