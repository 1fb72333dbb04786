//! Taking the control sequences of terminals out of a program's output, while it streams.
//!
//! Colours and cursor movements say nothing to a reader of text. What is no sequence stays as it is.

/// How long a sequence may be. A longer one is none: what follows is shown again.
const MAX_SEQUENCE_BYTES: usize = 4_096;

/// Where in a sequence the stream is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum State {
    /// In no sequence.
    #[default]
    Text,
    /// After ESC.
    Escape,
    /// After ESC and an intermediate byte, such as `ESC ( `.
    Intermediate,
    /// After `ESC [`.
    Control,
    /// In a string that ends with BEL or `ESC \`: titles, links, device strings.
    String,
    /// After an ESC inside such a string.
    StringEscape,
}

/// Takes sequences out of a stream that comes in pieces.
///
/// # Source
/// ECMA-48, 5th edition, 5.3 to 5.6: escape sequences, control sequences, control strings.
#[derive(Debug, Default)]
pub struct Stripper {
    state: State,
    length: usize,
}

impl Stripper {
    /// Returns whether it is in no sequence.
    pub fn is_between(&self) -> bool {
        self.state == State::Text
    }

    /// Gives what is text in the next piece of the stream, in order, to `keep`.
    pub fn strip(&mut self, mut piece: &[u8], mut keep: impl FnMut(&[u8])) {
        while !piece.is_empty() {
            if self.state == State::Text {
                let end = memchr::memchr(0x1b, piece).unwrap_or(piece.len());
                if end > 0 {
                    keep(&piece[..end]);
                }
                if end == piece.len() {
                    return;
                }
                (self.state, self.length) = (State::Escape, 0);
                piece = &piece[end + 1..];
                continue;
            }
            let byte = piece[0];
            self.length += 1;
            let (next, taken) = match (self.state, byte) {
                // A sequence never goes over the end of a line, nor beyond its bound.
                (_, b'\n') => (State::Text, false),
                _ if self.length > MAX_SEQUENCE_BYTES => (State::Text, false),
                (State::Escape, b'[') => (State::Control, true),
                (State::Escape, b']' | b'P' | b'X' | b'^' | b'_') => (State::String, true),
                (State::Escape | State::Intermediate, 0x20..=0x2f) => (State::Intermediate, true),
                (State::Escape | State::Intermediate, 0x30..=0x7e) => (State::Text, true),
                (State::Control, 0x20..=0x3f) => (State::Control, true),
                (State::Control, 0x40..=0x7e) => (State::Text, true),
                (State::String, 0x07) => (State::Text, true),
                (State::StringEscape, b'\\') => (State::Text, true),
                (State::String, 0x1b) => (State::StringEscape, true),
                (State::String, _) => (State::String, true),
                // An escape in the middle starts over; anything else ends what was no sequence.
                (_, 0x1b) => (State::Escape, true),
                (State::StringEscape, _) => (State::Escape, false),
                _ => (State::Text, false),
            };
            self.state = next;
            if taken {
                piece = &piece[1..];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn strip(pieces: &[&[u8]]) -> String {
        let mut stripper = Stripper::default();
        let mut kept = Vec::new();
        for piece in pieces {
            stripper.strip(piece, |text| kept.extend_from_slice(text));
        }
        String::from_utf8(kept).expect("tests use text")
    }

    #[test]
    fn sequences_are_taken_out_and_text_stays() {
        for (stream, text) in [
            ("plain [31m", "plain [31m"),
            ("\x1b[1;31mred\x1b[0m and \x1b[38;5;12mblue\x1b[m", "red and blue"),
            ("\x1b[2K\x1b[1Gdone\n", "done\n"),
            ("\x1b]0;title\x07text", "text"),
            ("\x1b]8;;http://x.example\x1b\\link\x1b]8;;\x1b\\", "link"),
            ("\x1b(Bascii\x1b=\x1b>", "ascii"),
            ("\x1bPq#0;2\x1b\\after", "after"),
            ("größe\x1b[0m 猫", "größe 猫"),
            ("\x1b]an endless title\nnext line", "\nnext line"),
            ("\x1b\x1b[31mtwice", "twice"),
            ("tail\x1b", "tail"),
        ] {
            assert_eq!(strip(&[stream.as_bytes()]), text, "{stream:?}");
        }
    }

    #[test]
    fn an_endless_sequence_hides_no_more_than_its_bound() {
        let stream = format!("\x1b]{}", "x".repeat(10_000));
        assert!(strip(&[stream.as_bytes()]).len() > 5_000);
    }

    proptest! {
        #[test]
        fn where_the_pieces_end_makes_no_difference(
            stream in r"(\x1b|\[|\]|\\|\x07|\n|[0-9;mKPa-c]|ö){0,60}",
            at in 0_usize..200,
        ) {
            let (first, second) = stream.as_bytes().split_at(at.min(stream.len()));
            let mut stripper = Stripper::default();
            let mut apart = Vec::new();
            for piece in [first, second] {
                stripper.strip(piece, |text| apart.extend_from_slice(text));
            }
            let mut whole = Vec::new();
            Stripper::default().strip(stream.as_bytes(), |text| whole.extend_from_slice(text));
            prop_assert_eq!(apart, whole);
        }
    }
}
