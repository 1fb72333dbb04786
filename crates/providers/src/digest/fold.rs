//! Text of no known form, made short: its beginning, its end, and lines that repeat told once.

use std::collections::VecDeque;
use std::fmt::Write;

/// How much of one line is kept.
const LINE_BYTES: usize = 400;

/// Keeps the beginning and the end of a text by lines, within a bound, with lines that differ only in numbers folded.
#[derive(Debug)]
pub struct Fold {
    head_limit: usize,
    tail_limit: usize,
    head: String,
    tail: VecDeque<String>,
    tail_bytes: usize,
    /// Whether the beginning is full.
    is_full: bool,
    dropped_lines: u64,
    shape: u64,
    /// How many lines of the last one's shape have come after the first two.
    repeated: u64,
    in_run: u64,
    last: String,
}

impl Fold {
    /// Keeps at most so many bytes of the beginning and of the end.
    pub fn new(head_limit: usize, tail_limit: usize) -> Self {
        Self {
            head_limit,
            tail_limit,
            head: String::new(),
            tail: VecDeque::new(),
            tail_bytes: 0,
            is_full: false,
            dropped_lines: 0,
            shape: 0,
            repeated: 0,
            in_run: 0,
            last: String::new(),
        }
    }

    /// Takes the next line.
    pub fn line(&mut self, line: &str) {
        let line = &line[..line.floor_char_boundary(LINE_BYTES)];
        let shape = shape(line);
        if self.in_run > 0 && shape == self.shape {
            self.in_run += 1;
            if self.in_run > 2 {
                self.repeated += 1;
                self.last.clear();
                self.last.push_str(line);
                return;
            }
        } else {
            self.end_run();
            (self.shape, self.in_run) = (shape, 1);
        }
        self.keep(line);
    }

    /// Takes note of lines that follow and are not given: what comes after them is the end.
    pub fn leave_out(&mut self, lines: u64) {
        self.end_run();
        self.is_full = true;
        self.dropped_lines += lines + self.tail.len() as u64;
        self.tail.clear();
        self.tail_bytes = 0;
    }

    /// Returns whether nothing was kept.
    pub fn is_empty(&self) -> bool {
        self.head.trim().is_empty() && self.tail.is_empty()
    }

    /// Returns the text in at most so many bytes, or nothing where that is too little for anything.
    pub fn text(&mut self, limit: usize) -> Option<String> {
        self.end_run();
        let whole = self.head.len() + self.tail_bytes;
        if self.dropped_lines == 0 && whole <= limit {
            return (!self.is_empty())
                .then(|| self.tail.iter().fold(self.head.clone(), |all, line| all + line));
        }
        let room = limit.checked_sub(60).filter(|room| *room >= 200)?;
        let mut dropped = self.dropped_lines;
        // A quarter for the beginning, by whole lines.
        let mut text = String::new();
        let mut rest: VecDeque<&str> =
            self.head.split_inclusive('\n').chain(self.tail.iter().map(String::as_str)).collect();
        let heads = self.head.split_inclusive('\n').count();
        for _ in 0..heads {
            match rest.front() {
                Some(line) if text.len() + line.len() <= room / 4 => text.push_str(line),
                _ => break,
            }
            rest.pop_front();
        }
        let (mut size, mut from) = (text.len(), rest.len());
        while from > 0 && size + rest[from - 1].len() <= room {
            from -= 1;
            size += rest[from].len();
        }
        if from == rest.len() {
            return None;
        }
        dropped += from as u64;
        let _ = writeln!(text, "[… {dropped} lines left out …]");
        text.extend(rest.range(from..).copied());
        Some(text)
    }

    fn end_run(&mut self) {
        match std::mem::take(&mut self.repeated) {
            0 => {}
            1 => {
                let line = std::mem::take(&mut self.last);
                self.keep(&line);
            }
            more => self.keep(&format!("[… {more} lines like it …]")),
        }
        self.in_run = 0;
    }

    fn keep(&mut self, line: &str) {
        if !self.is_full && self.head.len() + line.len() < self.head_limit {
            self.head.push_str(line);
            self.head.push('\n');
            return;
        }
        self.is_full = true;
        self.tail_bytes += line.len() + 1;
        let mut kept = if self.tail_bytes > self.tail_limit { self.tail.pop_front() } else { None };
        if let Some(old) = &mut kept {
            // Its memory is used again.
            self.tail_bytes -= old.len();
            self.dropped_lines += 1;
            old.clear();
        }
        let mut kept = kept.unwrap_or_default();
        kept.push_str(line);
        kept.push('\n');
        self.tail.push_back(kept);
        while self.tail_bytes > self.tail_limit
            && let Some(old) = self.tail.pop_front()
        {
            self.tail_bytes -= old.len();
            self.dropped_lines += 1;
        }
    }
}

/// Returns what a line looks like, whatever its numbers are.
fn shape(line: &str) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut in_number = false;
    for byte in line.bytes() {
        if byte.is_ascii_digit() {
            if std::mem::replace(&mut in_number, true) {
                continue;
            }
            hash ^= 1;
        } else {
            in_number = false;
            hash ^= u64::from(byte);
        }
        hash = hash.wrapping_mul(0x0100_0000_01b3);
    }
    hash
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folded(text: &str, limit: usize) -> String {
        let mut fold = Fold::new(1_000, 2_000);
        text.lines().for_each(|line| fold.line(line));
        fold.text(limit).unwrap_or_default()
    }

    #[test]
    fn lines_that_repeat_are_told_once() {
        let text: String = (0..100).map(|n| format!("step {n} of 100\n")).collect();
        let all = format!("begin\n{text}end\n");
        assert_eq!(folded(&all, 1_000), "begin\nstep 0 of 100\nstep 1 of 100\n[… 98 lines like it …]\nend\n");
        assert_eq!(folded("a 1\na 2\na 3\nb\n", 1_000), "a 1\na 2\na 3\nb\n");
    }

    #[test]
    fn a_long_text_keeps_its_beginning_and_its_end() {
        let word = |n: usize| ["ape", "bear", "cat", "dog", "eel"][n % 5].repeat(1 + n / 5 % 7);
        let all: String = (0..2_000).map(|n| format!("{}\n", word(n))).collect();
        let text = folded(&all, 600);
        assert!(text.len() <= 600, "{}", text.len());
        assert!(text.starts_with("ape\nbear\n") && text.ends_with(&format!("{}\n", word(1_999))));
        assert_eq!(text.matches(" lines left out ").count(), 1);
    }

    #[test]
    fn memory_is_bounded() {
        let mut fold = Fold::new(1_000, 2_000);
        for n in 0..100_000_u32 {
            fold.line(&format!("{} {}", "x".repeat(n as usize % 700), if n % 2 == 0 { "a" } else { "b" }));
            assert!(fold.head.len() <= 1_000 && fold.tail_bytes <= 2_000 && fold.tail.len() <= 2_000);
        }
    }
}
