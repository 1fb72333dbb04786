//! Text of one byte a character: Latin-1, and Windows-1252, which has more signs in place of control codes.
//!
//! Nothing in such a file says what it is. It is taken for text only if it is surely no UTF-8 and very likely
//! Western text; what is in doubt stays binary.

use super::Encoding;

/// The characters of the bytes 0x80 to 0x9f in Windows-1252; NUL where it has none.
///
/// # Source
/// The Unicode Consortium's mapping table of code page 1252.
const WINDOWS: [char; 32] = [
    '€', '\0', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\0', 'Ž', '\0', '\0', '‘', '’', '“',
    '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\0', 'ž', 'Ÿ',
];
/// How many bytes beyond ASCII are beside each other in a word of a Western language, at most.
const USUAL_RUN: usize = 2;

/// Returns whether bytes that are no UTF-8 are text of one byte a character, and of which kind.
pub fn single_byte_text(bytes: &[u8]) -> Option<Encoding> {
    let (mut high, mut in_long_runs, mut run, mut has_signs) = (0_usize, 0_usize, 0_usize, false);
    for byte in bytes.iter().copied().chain(std::iter::once(b' ')) {
        match byte {
            b'\t' | b'\n' | b'\r' | 0x0c | 0x20..=0x7e => {
                in_long_runs += if run > USUAL_RUN { run } else { 0 };
                run = 0;
                continue;
            }
            0x80..=0x9f if WINDOWS[usize::from(byte - 0x80)] == '\0' => return None,
            0x80..=0x9f => has_signs = true,
            0xa0..=0xfe => {}
            // Control codes, and a letter that is a mark in binary files far more often.
            _ => return None,
        }
        high += 1;
        run += 1;
    }
    // Another alphabet, or two bytes a character; or UTF-8 with something broken in it.
    let western = high > 0 && high * 2 <= bytes.len() && in_long_runs * 2 <= high;
    let cut_off = std::str::from_utf8(bytes).is_err_and(|error| error.error_len().is_none());
    if !western || cut_off || bytes.utf8_chunks().any(|chunk| !chunk.valid().is_ascii()) {
        return None;
    }
    Some(if has_signs { Encoding::Windows1252 } else { Encoding::Latin1 })
}

/// Decodes text that [`single_byte_text`] has told the kind of.
pub fn decode_single_byte(bytes: &[u8]) -> String {
    bytes
        .iter()
        .map(|byte| match byte {
            0x80..=0x9f => WINDOWS[usize::from(byte - 0x80)],
            other => char::from(*other),
        })
        .collect()
}

/// Encodes text.
///
/// # Errors
/// The first character that the encoding does not have.
pub fn encode_single_byte(text: &str, encoding: Encoding) -> Result<Vec<u8>, char> {
    let sign = |character: char| WINDOWS.iter().position(|it| *it == character && character != '\0');
    text.chars()
        .map(|character| match u8::try_from(u32::from(character)) {
            Ok(byte) if !(0x80..=0x9f).contains(&byte) => Ok(byte),
            _ if encoding == Encoding::Windows1252 => {
                sign(character).and_then(|at| u8::try_from(0x80 + at).ok()).ok_or(character)
            }
            _ => Err(character),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn western_text_is_told_from_binary_content() {
        let latin = |text: &str| encode_single_byte(text, Encoding::Latin1).expect("it is Latin-1");
        let windows = |text: &str| encode_single_byte(text, Encoding::Windows1252).expect("it is text");
        for text in ["Größe", "/* Copyright © 2003 Müller & Söhne */\r\nint a;\r\n", "señor, 20 £, ¿qué?\n"]
        {
            assert_eq!(single_byte_text(&latin(text)), Some(Encoding::Latin1), "{text}");
            assert_eq!(decode_single_byte(&latin(text)), text);
        }
        for text in ["“quoted” – 5 €\n", "it’s Größe"] {
            assert_eq!(single_byte_text(&windows(text)), Some(Encoding::Windows1252), "{text}");
            assert_eq!(decode_single_byte(&windows(text)), text);
        }
        for binary in [
            &b"plain ascii"[..],
            b"ab\xff",
            b"a\xe9b\0",
            b"a\xe9b\x1b[0m",
            b"a\x81b",
            // UTF-8 that was cut off in a character, and with one broken byte.
            "größer als".as_bytes().split_at(3).0,
            b"gr\xc3\xb6\xc3\x9fe and \xe9",
            // A Russian word in its code page, and Japanese in Shift-JIS.
            b"text \xcf\xf0\xe8\xe2\xe5\xf2 and more text",
            b"// \x93\xfa\x96\x7b\x8c\xea comment",
            b"\xe9\xe8\xea",
            b"\x89PNG\r\n\x1a\n",
        ] {
            assert_eq!(single_byte_text(binary), None, "{binary:?}");
        }
    }

    #[test]
    fn every_byte_that_is_text_comes_back_as_it_was() {
        let bytes: Vec<u8> =
            (0x20..=0xfe).filter(|byte| !matches!(byte, 0x7f | 0x81 | 0x8d | 0x8f | 0x90 | 0x9d)).collect();
        let text = decode_single_byte(&bytes);
        assert_eq!(encode_single_byte(&text, Encoding::Windows1252), Ok(bytes));
        assert_eq!(encode_single_byte("a€", Encoding::Latin1), Err('€'));
        assert_eq!(encode_single_byte("a猫", Encoding::Windows1252), Err('猫'));
        assert_eq!(encode_single_byte("\u{85}", Encoding::Latin1), Err('\u{85}'));
    }
}
