//! What kind of text bytes are: encoding, byte order mark, line endings, lines.

use schemars::JsonSchema;
use serde::Serialize;

/// How the text of a file is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub enum Encoding {
    /// UTF-8, with or without a byte order mark.
    #[serde(rename = "utf-8")]
    Utf8,
    /// UTF-16, little end first, with a byte order mark.
    #[serde(rename = "utf-16le")]
    Utf16Le,
    /// UTF-16, big end first, with a byte order mark.
    #[serde(rename = "utf-16be")]
    Utf16Be,
    /// Latin-1 (ISO 8859-1), as far as can be told.
    #[serde(rename = "latin1")]
    Latin1,
    /// Windows-1252, as far as can be told.
    #[serde(rename = "windows-1252")]
    Windows1252,
    /// Any bytes, given in base64.
    #[serde(rename = "base64")]
    Base64,
}

/// How lines end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LineEnding {
    /// Line feeds.
    Lf,
    /// Carriage return and line feed.
    Crlf,
    /// Both.
    Mixed,
    /// There is no line end.
    None,
}

impl Encoding {
    /// Returns the name for people.
    pub fn describe(self) -> &'static str {
        match self {
            Self::Utf8 => "UTF-8",
            Self::Utf16Le | Self::Utf16Be => "UTF-16",
            Self::Latin1 => "Latin-1",
            Self::Windows1252 => "Windows-1252",
            Self::Base64 => "base64",
        }
    }
}

/// The UTF-8 byte order mark.
pub const UTF8_BOM: &[u8] = b"\xef\xbb\xbf";

/// Recognizes a byte order mark; gives the encoding and the mark's length.
pub fn byte_order_mark(bytes: &[u8]) -> Option<(Encoding, usize)> {
    match bytes {
        [0xef, 0xbb, 0xbf, ..] => Some((Encoding::Utf8, UTF8_BOM.len())),
        // FF FE 00 00 would be UTF-32, which is answered as binary.
        [0xff, 0xfe, 0, 0, ..] => None,
        [0xff, 0xfe, ..] => Some((Encoding::Utf16Le, 2)),
        [0xfe, 0xff, ..] => Some((Encoding::Utf16Be, 2)),
        _ => None,
    }
}

/// Decodes UTF-16 without its mark; `None` if it is not well-formed.
pub fn decode_utf16(bytes: &[u8], encoding: Encoding) -> Option<String> {
    if !bytes.len().is_multiple_of(2) {
        return None;
    }
    let unit = |pair: &[u8]| match encoding {
        Encoding::Utf16Be => u16::from_be_bytes([pair[0], pair[1]]),
        _ => u16::from_le_bytes([pair[0], pair[1]]),
    };
    char::decode_utf16(bytes.chunks_exact(2).map(unit)).collect::<Result<String, _>>().ok()
}

/// Counts lines and finds out how they end, in one pass over the line feeds.
pub fn lines_of(bytes: &[u8]) -> (u64, LineEnding) {
    let (mut all, mut crlf) = (0_u64, 0_u64);
    for at in memchr::memchr_iter(b'\n', bytes) {
        all += 1;
        crlf += u64::from(at > 0 && bytes[at - 1] == b'\r');
    }
    let ending = line_ending_of(all, crlf);
    let unended = bytes.last().is_some_and(|last| *last != b'\n');
    (all + u64::from(unended), ending)
}

/// Returns how lines end of which so many end, and so many of these by CR LF.
pub const fn line_ending_of(all: u64, crlf: u64) -> LineEnding {
    match (all, crlf) {
        (0, _) => LineEnding::None,
        (_, 0) => LineEnding::Lf,
        (all, crlf) if all == crlf => LineEnding::Crlf,
        _ => LineEnding::Mixed,
    }
}

/// Finds out how the lines of a text end.
pub fn line_ending(text: &str) -> LineEnding {
    lines_of(text.as_bytes()).1
}

/// Counts the bytes that a text takes inside a JSON string.
pub fn json_len(text: &[u8]) -> usize {
    text.iter()
        .map(|byte| match byte {
            b'"' | b'\\' | b'\n' | b'\r' | b'\t' | 0x08 | 0x0c => 2,
            0..0x20 => 6,
            _ => 1,
        })
        .sum()
}

/// Returns how many bytes of a text, up to the end of a character, take at most so many inside a JSON string.
pub fn json_end(text: &str, json_bytes: usize) -> usize {
    let mut room = json_bytes;
    let is_over = |(at, character): &(usize, char)| {
        let bytes = json_len(&text.as_bytes()[*at..at + character.len_utf8()]);
        match room.checked_sub(bytes) {
            Some(left) => {
                room = left;
                false
            }
            None => true,
        }
    };
    text.char_indices().find(is_over).map_or(text.len(), |(at, _)| at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_endings_are_told_apart() {
        for (text, lines, ending) in [
            ("", 0, LineEnding::None),
            ("a", 1, LineEnding::None),
            ("a\n", 1, LineEnding::Lf),
            ("a\r\nb", 2, LineEnding::Crlf),
            ("a\r\nb\n", 2, LineEnding::Mixed),
            ("a\rb", 1, LineEnding::None),
        ] {
            assert_eq!(lines_of(text.as_bytes()), (lines, ending), "{text:?}");
        }
    }

    #[test]
    fn the_length_in_json_is_exact() {
        for text in ["plain", "a\"b\\c\n\r\t\u{8}\u{c}\u{1}\u{7f}", "größe 猫"] {
            let json = serde_json::to_string(text).expect("text serializes");
            assert_eq!(json_len(text.as_bytes()) + 2, json.len(), "{text:?}");
        }
    }
}
