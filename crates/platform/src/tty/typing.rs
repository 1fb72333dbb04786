//! A line while it is typed: what each key does to it. Nothing of it is ever shown.

use bailiwick_contract::Secret;

use super::Line;

/// A line that is not finished.
#[derive(Debug, Default)]
pub(super) struct Typing {
    line: Secret,
}

/// What a byte of a key has come to.
#[derive(Debug)]
pub(super) enum Step {
    /// More is needed.
    More,
    /// The line takes no more; the byte was left out.
    Full,
    /// This is how the line has ended.
    Ended(Line),
}

impl Typing {
    /// Takes the next byte.
    pub(super) fn take(&mut self, byte: u8) -> Step {
        match byte {
            b'\r' | b'\n' => return Step::Ended(Line::Typed(std::mem::take(&mut self.line))),
            0x12 => return Step::Ended(Line::Refused),
            0x03 | 0x1c => return Step::Ended(Line::Interrupted),
            0x04 if self.line.bytes().is_empty() => return Step::Ended(Line::Interrupted),
            0x08 | 0x7f if !self.line.bytes().is_empty() => self.line.erase_character(),
            0x15 => self.line.clear(),
            // Other control characters are no part of a line.
            0x00..=0x1f | 0x7f => {}
            _ if !self.line.push(byte) => return Step::Full,
            _ => {}
        }
        Step::More
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(keys: &str) -> Option<Line> {
        let mut typing = Typing::default();
        keys.bytes().find_map(|byte| match typing.take(byte) {
            Step::Ended(line) => Some(line),
            Step::More | Step::Full => None,
        })
    }

    #[test]
    fn keys_make_edit_and_end_a_line() {
        for (keys, expected) in [
            ("a\u{fc}x\x7f\u{4f60}\x1bb\x04\rc", "a\u{fc}\u{4f60}b"),
            ("\x08\u{fc}\u{4f60}\x15z\n", "z"),
            ("s\u{fc}x\x7fe\x15secret\r", "secret"),
            ("\r", ""),
        ] {
            let line = typed(keys);
            assert!(matches!(&line, Some(Line::Typed(it)) if it.bytes() == expected.as_bytes()), "{line:?}");
        }
        for keys in ["\x03", "ab\x03", "a\x1c", "\x04"] {
            assert!(matches!(typed(keys), Some(Line::Interrupted)), "{keys:?}");
        }
        for keys in ["\x12", "ab\x12"] {
            assert!(matches!(typed(keys), Some(Line::Refused)), "{keys:?}");
        }
        assert!(typed("no end").is_none());
    }
}
