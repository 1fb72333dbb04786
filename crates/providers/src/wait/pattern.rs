//! What is looked for in a line of output: a text or a regular expression.

use memchr::memmem::Finder;
use regex::bytes::{Regex, RegexBuilder};
use regex_syntax::hir::Look;

/// The longest text or pattern.
pub const MAX_PATTERN_BYTES: usize = 1_000;
/// How large the compiled patterns of one wait may be together: it bounds what looking costs for each byte of
/// output, and what waits take of the memory.
const MAX_COMPILED_BYTES: usize = 2 << 20;
/// How deep a pattern may nest.
const MAX_NESTING: u32 = 50;

/// A text or a regular expression, ready to be looked for.
#[derive(Debug)]
pub struct Pattern(Kind);

#[derive(Debug)]
enum Kind {
    Text(Box<Finder<'static>>),
    Regex {
        regex: Regex,
        /// Whether what follows a match can undo it: `$`, `\b` and their like are in it.
        looks_ahead: bool,
    },
}

/// Why a text or a pattern cannot be looked for.
#[derive(Debug, thiserror::Error)]
pub enum PatternError {
    /// It is empty, or longer than [`MAX_PATTERN_BYTES`].
    #[error("it must have 1 to {MAX_PATTERN_BYTES} bytes")]
    Length,
    /// A text over several lines.
    #[error("output is checked line by line, and it has a line break")]
    LineBreak,
    /// The regular expression is wrong or too large.
    #[error("{0}")]
    Regex(String),
}

/// How much is known of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineKnowledge {
    /// All of it.
    Whole,
    /// More may come.
    Beginning,
}

impl Pattern {
    /// Creates one that finds this very text.
    ///
    /// # Errors
    /// When it is empty, too long, or has a line break.
    pub fn text(text: &str) -> Result<Self, PatternError> {
        check_length(text)?;
        if text.contains(['\n', '\r']) {
            return Err(PatternError::LineBreak);
        }
        Ok(Self(Kind::Text(Box::new(Finder::new(text).into_owned()))))
    }

    /// Creates one that finds what a regular expression describes, in time that grows with the line alone. It is
    /// one of `count` in the same wait.
    ///
    /// # Errors
    /// When it is empty, too long, malformed, or too large when compiled.
    pub fn regex(pattern: &str, count: usize) -> Result<Self, PatternError> {
        let max_bytes = MAX_COMPILED_BYTES / count.max(1);
        check_length(pattern)?;
        let wrong = |error: String| PatternError::Regex(error);
        let form = regex_syntax::ParserBuilder::new()
            .nest_limit(MAX_NESTING)
            .utf8(false)
            .build()
            .parse(pattern)
            .map_err(|error| wrong(error.to_string()))?;
        let mut looks = form.properties().look_set();
        // What is before a match does not change any more.
        for behind in [Look::Start, Look::StartLF, Look::StartCRLF] {
            looks = looks.remove(behind);
        }
        let regex = RegexBuilder::new(pattern)
            .nest_limit(MAX_NESTING)
            .size_limit(max_bytes)
            .dfa_size_limit(max_bytes)
            .build()
            .map_err(|error| wrong(error.to_string()))?;
        Ok(Self(Kind::Regex { regex, looks_ahead: !looks.is_empty() }))
    }

    /// Looks for it in a line, and gives the place of its first byte.
    ///
    /// What it finds in the beginning of a line is in the whole line too.
    pub fn find(&self, line: &[u8], known: LineKnowledge) -> Option<usize> {
        match &self.0 {
            Kind::Text(finder) => finder.find(line),
            Kind::Regex { regex, looks_ahead } => {
                if known == LineKnowledge::Whole || !looks_ahead {
                    return Some(regex.find(line)?.start());
                }
                // The rest of the last character may not have come.
                let line = &line[..whole_characters(line)];
                // A match that does not reach the end has seen everything on which it depends.
                let found = regex.find(line)?;
                (found.end() < line.len()).then_some(found.start())
            }
        }
    }

    /// Returns whether the beginning of a line may not be enough to find what the whole line has.
    pub fn needs_whole_lines(&self) -> bool {
        matches!(self.0, Kind::Regex { looks_ahead: true, .. })
    }
}

fn check_length(text: &str) -> Result<(), PatternError> {
    if text.is_empty() || text.len() > MAX_PATTERN_BYTES { Err(PatternError::Length) } else { Ok(()) }
}

/// Returns the length of a text without a character at its end whose rest is missing.
fn whole_characters(text: &[u8]) -> usize {
    let tail = text.len().saturating_sub(3);
    let Some(at) = text[tail..].iter().rposition(|byte| *byte >= 0xc0) else { return text.len() };
    let lead = text[tail + at];
    let needs = match lead {
        0xf0.. => 4,
        0xe0.. => 3,
        _ => 2,
    };
    if text.len() - (tail + at) < needs { tail + at } else { text.len() }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn found(pattern: &str, line: &str, known: LineKnowledge) -> Option<usize> {
        Pattern::regex(pattern, 1).expect("a pattern").find(line.as_bytes(), known)
    }

    #[test]
    fn what_cannot_be_looked_for_is_refused_with_the_reason() {
        assert!(matches!(Pattern::text(""), Err(PatternError::Length)));
        assert!(matches!(Pattern::text("a\nb"), Err(PatternError::LineBreak)));
        assert!(matches!(Pattern::regex(&"x".repeat(1_001), 1), Err(PatternError::Length)));
        for pattern in ["(", "a{1000}{1000}", r"\p{L}{900}", &"(".repeat(60), r"(a)\1", "(?=a)"] {
            assert!(matches!(Pattern::regex(pattern, 32), Err(PatternError::Regex(_))), "{pattern}");
        }
    }

    #[test]
    fn what_is_usually_looked_for_is_small_enough() {
        for pattern in [
            r"(?i)listening on .*:(\d+)\b",
            r"Local:\s+https?://\S+",
            r"^\s*(✓|✔|PASS)\b.*\bpassed\b",
            r"(?i)(error|warning)(\[\w+\])?: .{1,80}",
            r"^\w+(\.\w+)* finished in \d+(\.\d+)?s$",
            r"[\w.+-]+@[\w-]+\.[\w.-]+",
            r"\p{Lu}\w{2,10}",
        ] {
            assert!(Pattern::regex(pattern, 2).is_ok(), "{pattern}");
        }
    }

    #[test]
    fn a_match_that_more_output_could_undo_waits_for_it() {
        for (pattern, line, beginning) in [
            ("ready", "is ready", Some(3)),
            ("^ready", "ready", Some(0)),
            ("ready$", "is ready", None),
            (r"\bready\b", "ready", None),
            (r"\bready\b", "ready.", Some(0)),
            (r"port \d+\b", "port 51", None),
            (r"port \d+\b", "port 51 ", Some(0)),
        ] {
            assert_eq!(found(pattern, line, LineKnowledge::Beginning), beginning, "{pattern}");
            assert!(found(pattern, line, LineKnowledge::Whole).is_some(), "{pattern}");
        }
        let half = [b"ready".as_slice(), &"é".as_bytes()[..1]].concat();
        let word = Pattern::regex(r"ready\b", 1).expect("a pattern");
        assert_eq!(word.find(&half, LineKnowledge::Beginning), None);
    }

    proptest! {
        #[test]
        fn what_a_beginning_has_the_whole_line_has(
            pattern in r"(\^|\$|\\b|\\B|a|b|é|\.|\(a\|ab\)|b\?|a\*|\[\^a\]){1,5}",
            line in "[abé ]{0,8}",
            cut in 0_usize..12,
        ) {
            let Ok(pattern) = Pattern::regex(&pattern, 1) else { return Ok(()) };
            let cut = cut.min(line.len());
            if pattern.find(&line.as_bytes()[..cut], LineKnowledge::Beginning).is_some() {
                prop_assert!(pattern.find(line.as_bytes(), LineKnowledge::Whole).is_some());
            }
        }
    }
}
