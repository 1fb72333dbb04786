//! Reads the text that programs hang on their windows. What comes out has no control characters and an end.

use crate::screen::plain::plain;

/// Which encoding a property is said to have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Encoding {
    /// `UTF8_STRING`, and anything unknown.
    Utf8,
    /// `STRING`.
    Latin1,
    /// `COMPOUND_TEXT`.
    Compound,
}

/// Reads a text.
pub(super) fn decode(bytes: &[u8], encoding: Encoding) -> String {
    match encoding {
        Encoding::Utf8 => plain(&String::from_utf8_lossy(bytes)),
        Encoding::Latin1 => plain(&bytes.iter().map(|byte| char::from(*byte)).collect::<String>()),
        Encoding::Compound => plain(&compound(bytes)),
    }
}

/// Reads the class of `WM_CLASS`: the second of two texts that end with zero; the first if there is no second.
pub(super) fn class(bytes: &[u8]) -> String {
    let mut parts = bytes.split(|byte| *byte == 0).filter(|part| !part.is_empty());
    let (instance, class) = (parts.next().unwrap_or_default(), parts.next());
    let text = class.unwrap_or(instance);
    decode(text, if std::str::from_utf8(text).is_ok() { Encoding::Utf8 } else { Encoding::Latin1 })
}

/// Reads the instance out of `WM_CLASS`, which is its first text.
pub(super) fn instance(bytes: &[u8]) -> String {
    decode(bytes.split(|byte| *byte == 0).next().unwrap_or_default(), Encoding::Latin1)
}

/// Reads ASCII, Latin-1 and UTF-8 parts; a character of another set becomes a replacement character.
///
/// # Source
///
/// Compound Text Encoding, X.Org: ASCII on the left and Latin-1 on the right at the beginning; `ESC % G` begins
/// UTF-8, `ESC % @` ends it; `ESC - A` puts Latin-1 on the right.
fn compound(mut bytes: &[u8]) -> String {
    let mut text = String::new();
    let mut latin1 = true;
    let (mut left_is_ascii, mut wide) = (true, false);
    while let Some((byte, rest)) = bytes.split_first() {
        if *byte != 0x1b {
            bytes = rest;
            match byte {
                0x00..=0x20 => text.push(char::from(*byte)),
                0x21..=0x7f if left_is_ascii => text.push(char::from(*byte)),
                0x80..=0xff if latin1 => text.push(char::from(*byte)),
                _ => {
                    text.push(char::REPLACEMENT_CHARACTER);
                    // Sets of two bytes a character.
                    bytes = rest.get(usize::from(wide && !rest.is_empty())..).unwrap_or_default();
                }
            }
            continue;
        }
        if let Some(utf8) = rest.strip_prefix(b"%G") {
            let end = utf8.windows(3).position(|part| part == b"\x1b%@").unwrap_or(utf8.len());
            text.push_str(&String::from_utf8_lossy(&utf8[..end]));
            bytes = utf8.get(end + 3..).unwrap_or_default();
            continue;
        }
        // ESC, intermediates 0x20-0x2f, one final byte.
        let middle = rest.iter().take_while(|byte| (0x20..0x30).contains(*byte)).count();
        let (intermediates, last) = (&rest[..middle], rest.get(middle).copied());
        bytes = rest.get(middle + 1..).unwrap_or_default();
        match (intermediates, last) {
            (b"(", Some(b'B' | b'J')) => left_is_ascii = true,
            (b"(" | b"$(" | b"$", _) => (left_is_ascii, wide) = (false, intermediates != b"("),
            (b"-", Some(b'A')) => latin1 = true,
            (b"-" | b")" | b"$)", _) => (latin1, wide) = (false, intermediates == b"$)"),
            _ => {}
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{Encoding, class, decode, instance};

    #[test]
    fn titles_are_read_in_the_encoding_they_state() {
        assert_eq!(decode("héllo 世界".as_bytes(), Encoding::Utf8), "héllo 世界");
        assert_eq!(decode(b"h\xe9llo", Encoding::Latin1), "héllo");
        assert_eq!(decode(b"h\xe9llo \x1b%G\xe4\xb8\x96\x1b%@!", Encoding::Compound), "héllo 世!");
        // Cyrillic on the right is not read, and does not pass as Latin-1; what follows is.
        assert_eq!(decode(b"a\x1b-L\xbf\x1b-A\xe9", Encoding::Compound), "a\u{fffd}é");
        assert_eq!(decode(b"\x1b$(A0!0!\x1b(Bz", Encoding::Compound), "\u{fffd}\u{fffd}z");
        assert_eq!(decode(b"\x1b", Encoding::Compound), "");
    }

    #[test]
    fn a_title_cannot_hold_a_new_line_or_turn_text_round() {
        assert_eq!(decode(b"a\nb\x1b[31m\0", Encoding::Utf8), "a b [31m");
        assert_eq!(decode("x\u{202e}y".as_bytes(), Encoding::Utf8), "x y");
        assert_eq!(decode(&[b'a'; 5000], Encoding::Utf8).len(), 300);
    }

    #[test]
    fn the_class_of_a_window_is_the_second_of_its_names() {
        assert_eq!(class(b"navigator\0Firefox\0"), "Firefox");
        assert_eq!(class(b"alone\0"), "alone");
        assert_eq!(class(b""), "");
        assert_eq!(instance(b"navigator\0Firefox\0"), "navigator");
        assert_eq!(instance(b""), "");
    }
}
