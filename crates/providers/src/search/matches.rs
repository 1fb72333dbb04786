//! Collecting the matches of one file, each line bounded.

use std::io;

use grep_matcher::Matcher;
use grep_regex::RegexMatcher;
use grep_searcher::{Searcher, Sink, SinkContext, SinkContextKind, SinkFinish, SinkMatch};

/// How many characters of a line are shown; a longer one is cut around the match.
const LINE_CHARS: usize = 300;
/// How many characters of a match of several lines are shown.
const LINES_CHARS: usize = 1_200;

/// What is wanted of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MatchMode {
    /// Each line that matches.
    Lines,
    /// Whether any line matches.
    Files,
    /// How many lines match.
    Counts,
}

/// A line that matches, or several if the match spans lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MatchedLine {
    /// Its number, from 1.
    pub line: u64,
    /// The number of the last line, where the match spans lines.
    pub end_line: Option<u64>,
    /// Where in the line the first match begins, in characters from 1.
    pub column: u64,
    /// The text without its line ending, cut around the match if it is long.
    pub preview: String,
    /// Lines before it that were not shown already.
    pub before: Vec<String>,
    /// Lines after it.
    pub after: Vec<String>,
}

impl MatchedLine {
    /// Returns less than what it takes in an answer, in bytes.
    fn weight(&self) -> usize {
        let lines = self.before.iter().chain(&self.after).map(|line| line.len() + 2);
        self.preview.len() + lines.sum::<usize>()
    }
}

/// Takes what the searcher finds in one file.
#[derive(Debug)]
pub(super) struct FileSink<'a> {
    matcher: &'a RegexMatcher,
    mode: MatchMode,
    bounds: FileBounds,
    /// The lines that matched, with [`MatchMode::Lines`].
    pub lines: Vec<MatchedLine>,
    /// How many lines matched, as far as was looked.
    pub count: u64,
    /// What the lines weigh in an answer.
    pub weight: usize,
    /// Whether a NUL byte was met.
    pub binary: bool,
    before: Vec<String>,
}

/// Which of the lines of one file that match are taken.
#[derive(Debug, Clone, Copy)]
pub(super) struct FileBounds {
    /// How many are passed over first: an earlier answer has given them.
    pub given: usize,
    /// How many are taken then.
    pub max_lines: usize,
    /// How many bytes of an answer they may take, about.
    pub max_weight: usize,
}

impl<'a> FileSink<'a> {
    pub fn new(matcher: &'a RegexMatcher, mode: MatchMode, bounds: FileBounds) -> Self {
        Self {
            matcher,
            mode,
            bounds,
            lines: Vec::new(),
            count: 0,
            weight: 0,
            binary: false,
            before: Vec::new(),
        }
    }
}

impl Sink for FileSink<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> Result<bool, io::Error> {
        match self.mode {
            MatchMode::Files => {
                self.count = 1;
                return Ok(false);
            }
            MatchMode::Counts => {
                self.count += 1;
                return Ok(true);
            }
            MatchMode::Lines => {}
        }
        if self.count < self.bounds.given as u64 {
            self.count += 1;
            self.before.clear();
            return Ok(true);
        }
        // Only the next match ends it, so that the lines after the last one are still seen.
        if self.lines.len() >= self.bounds.max_lines || self.weight >= self.bounds.max_weight {
            return Ok(false);
        }
        let line = matched_line(self.matcher, found, std::mem::take(&mut self.before))?;
        self.weight += line.weight();
        self.count += 1;
        self.lines.push(line);
        Ok(true)
    }

    fn context(&mut self, _: &Searcher, context: &SinkContext<'_>) -> Result<bool, io::Error> {
        if self.mode != MatchMode::Lines {
            return Ok(true);
        }
        let text = cut(without_ending(context.bytes()), 0, LINE_CHARS);
        match (context.kind(), self.lines.last_mut()) {
            (SinkContextKind::After, Some(last)) => {
                self.weight += text.len() + 2;
                last.after.push(text);
            }
            (SinkContextKind::Before, _) => self.before.push(text),
            (SinkContextKind::After | SinkContextKind::Other, _) => {}
        }
        Ok(true)
    }

    fn binary_data(&mut self, _: &Searcher, _: u64) -> Result<bool, io::Error> {
        self.binary = true;
        Ok(false)
    }

    fn finish(&mut self, _: &Searcher, finish: &SinkFinish) -> Result<(), io::Error> {
        self.binary |= finish.binary_byte_offset().is_some();
        Ok(())
    }
}

fn matched_line(
    matcher: &RegexMatcher,
    found: &SinkMatch<'_>,
    before: Vec<String>,
) -> Result<MatchedLine, io::Error> {
    let range = found.bytes_range_in_buffer();
    // With the text around it, so that anchors and word borders mean the same as in the search.
    let first = matcher.find_at(found.buffer(), range.start).map_err(io::Error::other)?;
    let at = first.map_or(0, |first| first.start().saturating_sub(range.start));
    let text = without_ending(found.bytes());
    let at = at.min(text.len());
    let line_start = text[..at].iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    let line = found.line_number().unwrap_or(0);
    let spans = text.iter().filter(|byte| **byte == b'\n').count() as u64;
    let limit = if spans > 0 { LINES_CHARS } else { LINE_CHARS };
    Ok(MatchedLine {
        line,
        end_line: (spans > 0).then_some(line + spans),
        column: characters(&text[line_start..at]) + 1,
        preview: cut(text, at, limit),
        before,
        after: Vec::new(),
    })
}

fn without_ending(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

fn characters(text: &[u8]) -> u64 {
    text.utf8_chunks()
        .map(|chunk| chunk.valid().chars().count() as u64 + u64::from(!chunk.invalid().is_empty()))
        .sum()
}

/// Shows at most `limit` characters of a text, those around `at`.
fn cut(text: &[u8], at: usize, limit: usize) -> String {
    if text.len() <= limit {
        return String::from_utf8_lossy(text).into_owned();
    }
    // A third of the room is before the match, all of it at a match near the beginning.
    let mut start = if at < limit { 0 } else { at - limit / 3 };
    while start > 0 && text[start] & 0b1100_0000 == 0b1000_0000 {
        start -= 1;
    }
    let window = &text[start..text.len().min(start + 4 * limit)];
    let shown = String::from_utf8_lossy(window);
    let end = shown.char_indices().nth(limit).map_or(shown.len(), |(end, _)| end);
    let mut result = String::with_capacity(end + 6);
    if start > 0 {
        result.push('…');
    }
    result.push_str(&shown[..end]);
    if end < shown.len() || start + window.len() < text.len() {
        result.push('…');
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_line_is_cut_around_the_match() {
        let line = format!("{}needle{}", "a".repeat(1_000), "b".repeat(1_000));
        let shown = cut(line.as_bytes(), 1_000, 30);
        assert_eq!(shown, format!("…{}needle{}…", "a".repeat(10), "b".repeat(14)));
    }

    #[test]
    fn cutting_keeps_characters_whole() {
        let line = "ä".repeat(1_000);
        for at in 0..200 {
            let shown = cut(line.as_bytes(), at, 30);
            assert!(shown.chars().all(|c| c == 'ä' || c == '…'), "{at}: {shown}");
        }
        assert_eq!(cut(b"a\xffb", 0, 30), "a\u{fffd}b");
    }

    #[test]
    fn columns_count_characters() {
        assert_eq!(characters("grö".as_bytes()), 3);
        assert_eq!(characters(b"a\xff\xffb"), 4);
    }
}
