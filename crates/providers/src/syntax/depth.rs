//! Texts that are nested deeper than a grammar can take, told before it reads them.

use super::Language;

/// How many levels of blocks a text of YAML can have. The grammar's scanner writes past its buffer at 254, and
/// some marks are two levels to it.
///
/// # Source
/// tree-sitter-yaml 0.7.2, `serialize` in `src/scanner.c`: 10 bytes, and 4 for each level, of 1024.
const MAX_YAML_LEVELS: usize = 100;

/// Returns whether a text is nested too deeply for its grammar.
pub(super) fn is_too_deep(language: Language, text: &str) -> bool {
    language == Language::Yaml && yaml_levels(text) > MAX_YAML_LEVELS
}

/// Returns how many levels of blocks are open at a time, at most: each begins at a column of its own, behind the
/// indentation or behind `- `, `? ` and `: ` at the beginning of a line; a list can be in the column of its key.
fn yaml_levels(text: &str) -> usize {
    let mut columns: Vec<(usize, u8)> = Vec::new();
    let mut most = 0;
    for line in text.as_bytes().split(|byte| *byte == b'\n') {
        let mut at = 0;
        loop {
            while matches!(line.get(at), Some(b' ' | b'\t')) {
                at += 1;
            }
            let first = match line.get(at) {
                None | Some(b'#' | b'\r') => break,
                Some(first) => *first,
            };
            let is_mark = matches!(first, b'-' | b'?' | b':')
                && matches!(line.get(at + 1), None | Some(b' ' | b'\t' | b'\r'));
            let kind = if is_mark { first } else { 0 };
            while columns.last().is_some_and(|(column, _)| *column > at) {
                columns.pop();
            }
            let is_open =
                columns.iter().rev().take_while(|(column, _)| *column == at).any(|(_, it)| *it == kind);
            if !is_open {
                columns.push((at, kind));
            }
            most = most.max(columns.len());
            if !is_mark {
                break;
            }
            at += 1;
        }
    }
    most
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::super::{SyntaxTreeError, parse};
    use super::*;

    #[test]
    fn levels_are_counted_and_ordinary_texts_have_few() {
        for (text, levels) in [
            ("", 0),
            ("a: 1\nb: 2\n", 1),
            ("a:\n- b\n- c:\n  - d\n", 5),
            ("- - - a\n- b\n", 4),
            ("a: - b - c - d\n# - - - -\n", 1),
            ("text: |\n  one\n  two\n    - three\n", 4),
        ] {
            assert_eq!(yaml_levels(text), levels, "{text}");
        }
    }

    #[test]
    fn what_would_crash_the_grammar_is_refused_before_it_is_read() {
        let keys: String = (0..257).map(|level| format!("{}a:\n", " ".repeat(level))).collect();
        for text in ["- ".repeat(195), "- ".repeat(5_000), "? ".repeat(5_000), keys] {
            let until = Instant::now() + Duration::from_secs(60);
            let parsed = parse(Language::Yaml, &text, None, until);
            assert!(matches!(parsed.err(), None | Some(SyntaxTreeError::TooDeep)), "{}", text.len());
        }
        assert!(
            is_too_deep(Language::Yaml, &"- ".repeat(300)) && !is_too_deep(Language::Json, &"- ".repeat(300))
        );
    }
}
