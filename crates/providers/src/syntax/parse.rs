//! Parsing a text within a limit of time.

use std::ops::{ControlFlow, Range};
use std::time::Instant;

use serde::{Deserialize, Serialize};
use tree_sitter::{InputEdit, ParseOptions, ParseState, Parser, Point, Tree};

use super::Language;
use super::depth::is_too_deep;

/// The longest text that is parsed.
pub const MAX_BYTES: usize = 1 << 20;

/// Why a text has no tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum SyntaxTreeError {
    /// It is longer than [`MAX_BYTES`].
    TooLarge,
    /// The time was over.
    TooSlow,
    /// It is nested deeper than the grammar can take.
    TooDeep,
    /// The grammar failed on it: it crashed, or needed too much memory.
    Failed,
    /// No parse worker could be started.
    Unavailable,
}

impl SyntaxTreeError {
    /// Says so in a few words.
    pub fn describe(self) -> &'static str {
        match self {
            Self::TooLarge => "the file is larger than 1 MiB",
            Self::TooSlow => "it took too long",
            Self::TooDeep => "it is nested too deeply",
            Self::Failed => "the parser failed on this text",
            Self::Unavailable => "the parser cannot be started",
        }
    }
}

/// Parses a text. With an earlier text of the file and its tree, only what has changed is read again.
///
/// # Errors
/// See [`SyntaxTreeError`].
pub fn parse(
    language: Language,
    text: &str,
    earlier: Option<(&str, &Tree)>,
    until: Instant,
) -> Result<Tree, SyntaxTreeError> {
    if text.len() > MAX_BYTES {
        return Err(SyntaxTreeError::TooLarge);
    }
    if is_too_deep(language, text) {
        return Err(SyntaxTreeError::TooDeep);
    }
    let mut parser = Parser::new();
    if parser.set_language(&language.grammar()).is_err() {
        // Held by a test: every grammar is of a version that the library reads.
        return Err(SyntaxTreeError::TooSlow);
    }
    let edited = earlier.map(|(before, tree)| {
        let mut tree = tree.clone();
        if let Some(edit) = difference(before, text) {
            tree.edit(&edit);
        }
        tree
    });
    let bytes = text.as_bytes();
    let mut rest = |from: usize, _: Point| rest_of(language, bytes, from);
    let mut progress = |_: &ParseState| match Instant::now() < until {
        true => ControlFlow::Continue(()),
        false => ControlFlow::Break(()),
    };
    let options = ParseOptions::new().progress_callback(&mut progress);
    parser.parse_with_options(&mut rest, edited.as_ref(), Some(options)).ok_or(SyntaxTreeError::TooSlow)
}

/// Returns what a grammar reads from a byte on.
///
/// That of Kotlin looks for the end of a line without looking for the end of the text: it always finds one.
pub fn rest_of(language: Language, text: &[u8], from: usize) -> &[u8] {
    match text.get(from..) {
        Some([]) if language == Language::Kotlin => b"\n",
        rest => rest.unwrap_or_default(),
    }
}

/// Finds what two texts do not begin and end with in common, by bytes of each; `None` if they are the same.
pub(super) fn middle(before: &str, after: &str) -> Option<(Range<usize>, Range<usize>)> {
    if before == after {
        return None;
    }
    let (old, new) = (before.as_bytes(), after.as_bytes());
    let shorter = old.len().min(new.len());
    let mut start = common(old, new);
    while !before.is_char_boundary(start) || !after.is_char_boundary(start) {
        start -= 1;
    }
    let most = shorter - start;
    let end = old.iter().rev().zip(new.iter().rev()).take(most).take_while(|(one, other)| one == other);
    let mut end = end.count();
    while !before.is_char_boundary(old.len() - end) || !after.is_char_boundary(new.len() - end) {
        end -= 1;
    }
    Some((start..old.len() - end, start..new.len() - end))
}

/// Counts the bytes that both begin with; whole blocks are compared at once.
fn common(one: &[u8], other: &[u8]) -> usize {
    const BLOCK: usize = 256;
    let blocks = one.chunks_exact(BLOCK).zip(other.chunks_exact(BLOCK)).take_while(|(a, b)| a == b).count();
    let from = blocks * BLOCK;
    from + one[from..].iter().zip(&other[from..]).take_while(|(a, b)| a == b).count()
}

fn difference(before: &str, after: &str) -> Option<InputEdit> {
    let (old, new) = middle(before, after)?;
    let start_position = point(before, old.start);
    Some(InputEdit {
        start_byte: old.start,
        old_end_byte: old.end,
        new_end_byte: new.end,
        start_position,
        old_end_position: on_from(start_position, &before[old]),
        new_end_position: on_from(start_position, &after[new]),
    })
}

fn point(text: &str, at: usize) -> Point {
    on_from(Point { row: 0, column: 0 }, &text[..at])
}

fn on_from(start: Point, text: &str) -> Point {
    match memchr::memrchr(b'\n', text.as_bytes()) {
        None => Point { row: start.row, column: start.column + text.len() },
        Some(last) => Point {
            row: start.row + memchr::memchr_iter(b'\n', text.as_bytes()).count(),
            column: text.len() - last - 1,
        },
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use proptest::prelude::*;

    use super::*;

    fn soon() -> Instant {
        Instant::now() + Duration::from_secs(60)
    }

    proptest! {
        #[test]
        fn a_tree_from_an_earlier_one_is_the_tree_of_the_text(
            before in "[a(){};=é\n]{0,60}", at in 0..60_usize, gone in 0..8_usize, new in "[a(){};=é\n]{0,8}",
        ) {
            let chars: Vec<char> = before.chars().collect();
            let at = at.min(chars.len());
            let behind = (at + gone).min(chars.len());
            let after: String = chars[..at].iter().copied().chain(new.chars()).chain(chars[behind..].iter().copied()).collect();
            let tree = parse(Language::JavaScript, &before, None, soon()).expect("it is short");
            let step = parse(Language::JavaScript, &after, Some((&before, &tree)), soon()).expect("it is short");
            let whole = parse(Language::JavaScript, &after, None, soon()).expect("it is short");
            prop_assert_eq!(step.root_node().end_byte(), whole.root_node().end_byte());
            prop_assert_eq!(step.root_node().has_error(), whole.root_node().has_error());
        }
    }

    #[test]
    fn the_middle_is_what_differs() {
        assert_eq!(middle("abc", "abc"), None);
        assert_eq!(middle("abc", "aXc"), Some((1..2, 1..2)));
        assert_eq!(middle("aa", "aaa"), Some((2..2, 2..3)));
        // é and è share their first byte, but no character.
        assert_eq!(middle("xé", "xè"), Some((1..3, 1..3)));
    }

    #[test]
    fn a_text_of_kotlin_that_ends_within_an_annotation_has_an_end() {
        for text in ["class A @B", "class A(val b: Int) {\n    val c = 1\n    @D(", "val a = 1\n@", ""] {
            assert!(parse(Language::Kotlin, text, None, soon()).is_ok(), "{text}");
        }
    }

    #[test]
    fn what_is_too_large_or_too_slow_has_no_tree() {
        let long = " ".repeat(MAX_BYTES + 1);
        assert_eq!(parse(Language::Json, &long, None, soon()).err(), Some(SyntaxTreeError::TooLarge));
        let slow = "[".repeat(MAX_BYTES);
        assert_eq!(parse(Language::Json, &slow, None, Instant::now()).err(), Some(SyntaxTreeError::TooSlow));
    }
}
