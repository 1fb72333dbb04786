//! A file's text by lines, with what is needed to store it as it was.

use crate::file::{
    Encoding, byte_order_mark, decode_single_byte, decode_utf16, encode_single_byte, single_byte_text,
};

/// A text, its lines, and how the file stores it.
#[derive(Debug, Clone)]
pub struct Text {
    encoding: Encoding,
    bom: bool,
    content: String,
    /// Where each line begins, and the end of the text.
    starts: Vec<usize>,
}

impl Text {
    /// Reads the bytes of a file.
    ///
    /// # Errors
    /// The offset of the first byte that is not text: in UTF-8, in UTF-16 with a mark, or in what is surely
    /// Latin-1 or Windows-1252.
    pub fn decode(mut bytes: Vec<u8>) -> Result<Self, usize> {
        let (mut encoding, mark) = byte_order_mark(&bytes).unwrap_or((Encoding::Utf8, 0));
        let content = match encoding {
            Encoding::Utf16Le | Encoding::Utf16Be => decode_utf16(&bytes[mark..], encoding).ok_or(mark)?,
            _ => {
                bytes.drain(..mark);
                match String::from_utf8(bytes) {
                    Ok(content) => content,
                    Err(error) => {
                        let found = if mark == 0 { single_byte_text(error.as_bytes()) } else { None };
                        encoding = found.ok_or_else(|| mark + error.utf8_error().valid_up_to())?;
                        decode_single_byte(error.as_bytes())
                    }
                }
            }
        };
        if let Some(at) = memchr::memchr(0, content.as_bytes()) {
            return Err(mark + at);
        }
        Ok(Self::stored(content, encoding, mark > 0))
    }

    /// Takes a text that is stored in UTF-8.
    pub fn new(content: String) -> Self {
        Self::stored(content, Encoding::Utf8, false)
    }

    fn stored(content: String, encoding: Encoding, bom: bool) -> Self {
        // Lines of some thirty bytes, so that most texts need no more room.
        let mut starts = Vec::with_capacity(content.len() / 32 + 2);
        starts.push(0);
        starts.extend(memchr::memchr_iter(b'\n', content.as_bytes()).map(|at| at + 1));
        if starts.last() != Some(&content.len()) {
            starts.push(content.len());
        }
        Self { encoding, bom, content, starts }
    }

    /// Returns another text that is stored in the same way.
    #[must_use]
    pub fn with_content(&self, content: String) -> Self {
        Self::stored(content, self.encoding, self.bom)
    }

    /// Returns how the file stores its text.
    pub fn encoding(&self) -> Encoding {
        self.encoding
    }

    /// Returns whether the file begins with a byte order mark.
    pub fn has_mark(&self) -> bool {
        self.bom
    }

    /// Finds a character that the file cannot store.
    pub fn unstorable(&self, new: &str) -> Option<char> {
        match self.encoding {
            Encoding::Latin1 | Encoding::Windows1252 => encode_single_byte(new, self.encoding).err(),
            Encoding::Utf8 | Encoding::Utf16Le | Encoding::Utf16Be | Encoding::Base64 => None,
        }
    }

    /// Returns the bytes of the file.
    ///
    /// # Errors
    /// A character that the file cannot store.
    pub fn encode(&self) -> Result<Vec<u8>, char> {
        let mut bytes = Vec::with_capacity(self.content.len() + 3);
        match self.encoding {
            Encoding::Latin1 | Encoding::Windows1252 => {
                return encode_single_byte(&self.content, self.encoding);
            }
            Encoding::Utf8 | Encoding::Base64 => {
                if self.bom {
                    bytes.extend_from_slice(b"\xef\xbb\xbf");
                }
                bytes.extend_from_slice(self.content.as_bytes());
            }
            Encoding::Utf16Le => {
                let units = std::iter::once(0xfeff).chain(self.content.encode_utf16());
                bytes.extend(units.flat_map(u16::to_le_bytes));
            }
            Encoding::Utf16Be => {
                let units = std::iter::once(0xfeff).chain(self.content.encode_utf16());
                bytes.extend(units.flat_map(u16::to_be_bytes));
            }
        }
        Ok(bytes)
    }

    /// Returns the whole text, without a byte order mark.
    pub fn content(&self) -> &str {
        &self.content
    }

    /// Counts the lines; an empty text has none.
    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// Returns whether there is no text.
    pub fn is_empty(&self) -> bool {
        self.content.is_empty()
    }

    /// Returns a line, counted from 0, with what ends it.
    pub fn line(&self, index: usize) -> &str {
        &self.content[self.starts[index]..self.starts[index + 1]]
    }

    /// Returns where a line begins; for the number of lines, the end of the text.
    pub fn start(&self, index: usize) -> usize {
        self.starts[index]
    }

    /// Returns the number of the line, counted from 0, that holds a byte of the text.
    pub fn line_at(&self, offset: usize) -> usize {
        let after = self.starts.partition_point(|start| *start <= offset);
        after.saturating_sub(1).min(self.len().saturating_sub(1))
    }

    /// Returns how many lines begin before a byte of the text.
    pub(super) fn lines_before(&self, offset: usize) -> usize {
        self.starts[..self.len()].partition_point(|start| *start < offset)
    }

    /// Returns where the line begins that a byte of the text belongs to; the end of the text belongs to a last line that
    /// has no end.
    pub(super) fn line_start(&self, offset: usize) -> usize {
        memchr::memrchr(b'\n', &self.content.as_bytes()[..offset]).map_or(0, |at| at + 1)
    }

    /// Returns where the line ends that a byte of the text belongs to.
    pub(super) fn line_end(&self, offset: usize) -> usize {
        let rest = &self.content.as_bytes()[offset..];
        memchr::memchr(b'\n', rest).map_or(self.content.len(), |at| offset + at + 1)
    }

    /// Returns what ends new text at a line: as the lines around it end, or as most lines do.
    pub fn ending_near(&self, index: usize) -> &'static str {
        let known = |index: usize| (index < self.len()).then(|| ending(self.line(index)));
        let near = [Some(index), index.checked_sub(1), Some(index + 1)];
        near.into_iter()
            .flatten()
            .filter_map(known)
            .find(|ending| !ending.is_empty())
            .unwrap_or_else(|| self.usual_ending())
    }

    fn usual_ending(&self) -> &'static str {
        let crlf = self.content.matches("\r\n").count();
        if crlf * 2 > memchr::memchr_iter(b'\n', self.content.as_bytes()).count() { "\r\n" } else { "\n" }
    }

    /// Returns whether the last line has no end.
    pub fn is_unended(&self) -> bool {
        !self.content.is_empty() && !self.content.ends_with('\n')
    }
}

/// Returns what ends a line: `\r\n`, `\n`, or nothing.
pub(super) fn ending(line: &str) -> &'static str {
    match (line.ends_with("\r\n"), line.ends_with('\n')) {
        (true, _) => "\r\n",
        (false, true) => "\n",
        (false, false) => "",
    }
}

/// Returns a line without what ends it.
pub(super) fn body(line: &str) -> &str {
    &line[..line.len() - ending(line).len()]
}

/// Takes a text apart into lines, each with what ends it.
pub(super) fn lines_of(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_can_be_read_is_stored_as_it_was(text in "[a\r\né猫\u{1f600}]{0,40}", form in 0..4) {
            let units = |to_bytes: fn(u16) -> [u8; 2]| -> Vec<u8> {
                std::iter::once(0xfeff).chain(text.encode_utf16()).flat_map(to_bytes).collect()
            };
            let bytes = match form {
                0 => text.clone().into_bytes(),
                1 => format!("\u{feff}{text}").into_bytes(),
                2 => units(u16::to_le_bytes),
                _ => units(u16::to_be_bytes),
            };
            let decoded = Text::decode(bytes.clone()).expect("it is text");
            prop_assert_eq!(decoded.content(), &text);
            prop_assert_eq!(decoded.encode(), Ok(bytes));
            let lines: String = (0..decoded.len()).map(|at| decoded.line(at)).collect();
            prop_assert_eq!(lines, text);
        }
    }

    #[test]
    fn binary_content_is_refused_with_its_place() {
        assert_eq!(Text::decode(b"ab\xff".to_vec()).map(|_| ()), Err(2));
        assert_eq!(Text::decode(b"a\0".to_vec()).map(|_| ()), Err(1));
        assert_eq!(Text::decode(b"\xff\xfea".to_vec()).map(|_| ()), Err(2));
    }
}
