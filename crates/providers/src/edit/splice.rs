//! Pieces of new text and where they go: the last step, by which all other bytes stay as they are.

use std::ops::Range;

/// New text in place of old bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Splice {
    /// The bytes that go.
    pub range: Range<usize>,
    /// The text that comes.
    pub text: String,
}

/// Puts pieces into a text. They must be in order and must not overlap.
pub fn splice(content: &str, splices: &[Splice]) -> String {
    let added: usize = splices.iter().map(|splice| splice.text.len()).sum();
    let mut result = String::with_capacity(content.len() + added);
    let mut at = 0;
    for splice in splices {
        result.push_str(&content[at..splice.range.start]);
        result.push_str(&splice.text);
        at = splice.range.end;
    }
    result.push_str(&content[at..]);
    result
}
