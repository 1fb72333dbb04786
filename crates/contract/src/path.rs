//! Paths as they arrive and as they are shown: unchecked text, with a lossless form for odd names.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A path as a client wrote it. No provider accepts one: the policy judges it first.
///
/// Relative to the scope's first root, or `rootName:path` for another one. `/` separates. A byte
/// that is not UTF-8 is written `\xHH` (see [`encode_name`]).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct RawPath(pub String);

/// Shows the bytes of a path as text that [`decode_name`] turns back into the same bytes.
///
/// Valid UTF-8 stays as it is. Every other byte becomes `\xHH`; a backslash that already begins such
/// a mark becomes `\x5c`, so that both directions are exact.
pub fn encode_name(bytes: &[u8]) -> String {
    let mut shown = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        let text = chunk.valid();
        let mut copied = 0;
        for (at, _) in text.match_indices('\\') {
            if marked_byte(&text.as_bytes()[at..]).is_some() {
                shown.push_str(&text[copied..at]);
                shown.push_str("\\x5c");
                copied = at + 1;
            }
        }
        shown.push_str(&text[copied..]);
        for byte in chunk.invalid() {
            shown.push_str(&format!("\\x{byte:02x}"));
        }
    }
    shown
}

/// Turns the text of [`encode_name`] back into bytes.
pub fn decode_name(text: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some(&first) = rest.first() {
        if let Some(byte) = marked_byte(rest) {
            bytes.push(byte);
            rest = &rest[4..];
        } else {
            bytes.push(first);
            rest = &rest[1..];
        }
    }
    bytes
}

/// Reads a mark `\xHH` whose byte is a backslash or not ASCII; other text is not a mark.
fn marked_byte(text: &[u8]) -> Option<u8> {
    let [b'\\', b'x', high, low, ..] = text else { return None };
    let digit = |byte: u8| (byte as char).to_digit(16).filter(|_| !byte.is_ascii_uppercase());
    let byte = u8::try_from(digit(*high)? * 16 + digit(*low)?).ok()?;
    (byte >= 0x80 || byte == b'\\').then_some(byte)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_name_survives_the_round_trip(bytes in proptest::collection::vec(any::<u8>(), 0..40)) {
            prop_assert_eq!(decode_name(&encode_name(&bytes)), bytes);
        }

        #[test]
        fn names_that_look_like_marks_survive(text in r"(\\x[0-9a-f]{2}|\\|x|5c|a){0,12}") {
            prop_assert_eq!(decode_name(&encode_name(text.as_bytes())), text.as_bytes());
        }
    }

    #[test]
    fn plain_names_are_shown_as_they_are() {
        assert_eq!(encode_name("src/größe.rs".as_bytes()), "src/größe.rs");
        assert_eq!(encode_name(b"a\xffb"), r"a\xffb");
        assert_eq!(encode_name(br"a\x41"), r"a\x41");
        assert_eq!(encode_name(br"a\xff"), r"a\x5cxff");
    }
}
