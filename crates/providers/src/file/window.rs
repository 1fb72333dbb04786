//! The part of a text that fits an answer: whole lines while they fit, a cut line only if it is the first.

use std::fmt::Write as _;

use crate::edit::anchor;

use super::text::{json_end, json_len};

/// What is put before each line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Marks {
    /// Nothing.
    #[default]
    None,
    /// The line's number and a tab.
    LineNumbers,
    /// The line's number, the first four hexadecimal digits of its SHA-256, and `|`.
    Anchors,
}

/// How much an answer can hold.
#[derive(Debug, Clone, Copy)]
pub struct Budget {
    /// Bytes of the text inside a JSON string.
    pub json_bytes: usize,
    /// Bytes of the text itself.
    pub raw_bytes: usize,
}

/// The part that fits.
#[derive(Debug, PartialEq, Eq)]
pub struct Window {
    /// The text, with its marks.
    pub text: String,
    /// How many bytes of the source it covers.
    pub taken: usize,
    /// The number of the last line in it.
    pub last_line: u64,
    /// The number of the line at which it continues; the same as `last_line` if that was cut.
    pub next_line: u64,
}

/// Takes lines from the start of `text` while they fit. The first line has the number `first_line`.
///
/// If `goes_on`, the source has more than `text`, whose last line may then be incomplete.
pub fn take_lines(text: &str, goes_on: bool, first_line: u64, marks: Marks, budget: Budget) -> Window {
    if marks == Marks::None && !goes_on && text.len() <= budget.raw_bytes && fits(text, budget.json_bytes) {
        let feeds = memchr::memchr_iter(b'\n', text.as_bytes()).count() as u64;
        let unended = u64::from(!text.is_empty() && !text.ends_with('\n'));
        return Window {
            text: text.to_owned(),
            taken: text.len(),
            last_line: (first_line + feeds + unended).saturating_sub(1).max(first_line),
            next_line: first_line + feeds,
        };
    }
    let mut window = Window { text: String::new(), taken: 0, last_line: first_line, next_line: first_line };
    let mut json_bytes = 0;
    while window.taken < text.len() {
        let rest = &text[window.taken..];
        let end = memchr::memchr(b'\n', rest.as_bytes()).map_or(rest.len(), |at| at + 1);
        let line = &rest[..end];
        let complete = line.ends_with('\n') || !goes_on;
        let mark = mark(line, window.next_line, marks);
        let cost = json_len(line.as_bytes()) + json_len(mark.as_bytes());
        let over = json_bytes + cost > budget.json_bytes || window.taken + line.len() > budget.raw_bytes;
        if (over || !complete) && window.taken > 0 {
            return window;
        }
        window.text.push_str(&mark);
        if over {
            let room = Budget {
                json_bytes: budget.json_bytes.saturating_sub(json_len(mark.as_bytes())),
                raw_bytes: budget.raw_bytes,
            };
            let end = cut(line, room);
            window.text.push_str(&line[..end]);
            window.taken = end;
            return window;
        }
        window.text.push_str(line);
        window.taken += line.len();
        json_bytes += cost;
        window.last_line = window.next_line;
        window.next_line += u64::from(line.ends_with('\n'));
    }
    window
}

fn fits(text: &str, json_bytes: usize) -> bool {
    text.len().saturating_mul(6) <= json_bytes || json_len(text.as_bytes()) <= json_bytes
}

fn mark(line: &str, number: u64, marks: Marks) -> String {
    let mut mark = String::new();
    match marks {
        Marks::None => {}
        Marks::LineNumbers => write!(mark, "{number}\t").expect("a String takes all that is written"),
        Marks::Anchors => {
            mark.push_str(&anchor(number, line));
            mark.push('|');
        }
    }
    mark
}

/// Finds where to cut a line that is too long: before the first character that does not fit, after one at least.
fn cut(line: &str, budget: Budget) -> usize {
    let first = line.chars().next().map_or(0, char::len_utf8);
    json_end(line, budget.json_bytes).min(line.floor_char_boundary(budget.raw_bytes)).max(first)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn budget(bytes: usize) -> Budget {
        Budget { json_bytes: bytes, raw_bytes: bytes }
    }

    proptest! {
        #[test]
        fn windows_put_together_are_the_text(text in "[a\n\"é\t]{0,80}", size in 8_usize..30) {
            let (mut whole, mut at, mut line) = (String::new(), 0, 1);
            while at < text.len() {
                let window = take_lines(&text[at..], false, line, Marks::None, budget(size));
                prop_assert!(window.taken > 0);
                prop_assert!(json_len(window.text.as_bytes()) <= size);
                let feeds = window.text.matches('\n').count() as u64;
                prop_assert_eq!(window.next_line, line + feeds);
                whole.push_str(&window.text);
                at += window.taken;
                line = window.next_line;
            }
            prop_assert_eq!(whole, text);
        }
    }

    #[test]
    fn lines_are_cut_only_when_they_are_first() {
        let window = take_lines("short\nmuch longer line\n", false, 1, Marks::None, budget(12));
        assert_eq!((window.text.as_str(), window.next_line), ("short\n", 2));
        let window = take_lines("much longer line\nend\n", false, 7, Marks::None, budget(12));
        assert_eq!((window.text.as_str(), window.next_line, window.last_line), ("much longer ", 7, 7));
    }

    #[test]
    fn anchors_hash_the_line_without_its_end() {
        let unix = take_lines("a\nb", false, 9, Marks::Anchors, budget(100));
        let dos = take_lines("a\r\nb", false, 9, Marks::Anchors, budget(100));
        assert_eq!(unix.text, "9:ca97|a\n10:3e23|b");
        assert_eq!(dos.text, "9:ca97|a\r\n10:3e23|b");
    }
}
