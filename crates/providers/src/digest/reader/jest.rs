//! What Jest prints.

use super::super::facts::{Counts, DigestItem, Facts, Tool};
use super::super::place;
use super::router::{LineOwner, Reader};

/// Headings of blocks that are no failing tests.
const NO_TESTS: &[&str] = &[
    "Console",
    "Validation Warning:",
    "Validation Error:",
    "Deprecation Warning:",
    "Multiple configs found",
];

/// The reader.
#[derive(Debug)]
pub struct Jest {
    facts: Facts,
    inside: bool,
    /// The file of the last `FAIL` line.
    file: Option<String>,
    block: Option<DigestItem>,
    /// Whether the failing tests are listed again.
    again: bool,
    failed_tests: u64,
    failed_files: u64,
    /// What failed, until the counts are known.
    tests: u64,
    files: u64,
}

impl Jest {
    /// At the beginning of a stream.
    pub fn new() -> Self {
        Self {
            facts: Facts::of(Tool::Jest),
            inside: false,
            file: None,
            block: None,
            again: false,
            failed_tests: 0,
            failed_files: 0,
            tests: 0,
            files: 0,
        }
    }

    fn close(&mut self) {
        if let Some(found) = self.block.take() {
            self.facts.failures.push(found);
        }
    }

    fn heading(&mut self, title: &str) {
        self.close();
        if self.again || NO_TESTS.iter().any(|it| title.starts_with(it)) {
            return;
        }
        let Some(file) = &self.file else { return };
        let mut found = if title == "Test suite failed to run" {
            self.files += 1;
            DigestItem::default()
        } else {
            self.tests += 1;
            DigestItem::named(title)
        };
        found.file = Some(file.clone());
        self.block = Some(found);
    }

    fn in_block(&mut self, line: &str) {
        let Some(found) = &mut self.block else { return };
        let text = line.trim();
        if text.is_empty() {
            return;
        }
        if text.starts_with("at ") {
            if found.line.is_none()
                && let Some(at) = place::of_script_frame(text)
                && !place::is_foreign(at.file)
            {
                found.set_place(at.file, at.line, at.column);
            }
        } else if found.message.is_empty()
            || text.starts_with("Expected: ")
            || text.starts_with("Received: ")
            || text.starts_with("Expected value: ")
        {
            found.say(text);
        } else if let Some(rest) = text.strip_prefix("SyntaxError: ") {
            found.message.clear();
            found.say(text);
            let at =
                rest.strip_suffix(')').and_then(|rest| rest.rsplit_once(" (")).and_then(|(before, at)| {
                    let (line, rest) = place::number(at)?;
                    let (column, _) = place::number(rest.strip_prefix(':')?)?;
                    Some((before.split_once(": ")?.0, line, column))
                });
            if let Some((file, line, column)) = at {
                found.set_place(file, line, Some(column));
            }
        }
    }

    fn counts(&mut self, line: &str) {
        self.close();
        if let Some(told) = line.strip_prefix("Test Suites:") {
            self.failed_files = place::count_of(told, "failed").unwrap_or(0);
            self.facts.summarize(line);
        } else if let Some(told) = line.strip_prefix("Tests:") {
            self.facts.summarize(line);
            self.failed_tests = place::count_of(told, "failed").unwrap_or(0);
            let skipped = [place::count_of(told, "skipped"), place::count_of(told, "todo")];
            self.facts.counts.add(Counts {
                passed: place::count_of(told, "passed"),
                failed: (self.failed_tests > 0).then_some(self.failed_tests),
                skipped: skipped.into_iter().flatten().reduce(|one, other| one + other),
                ..Counts::default()
            });
        }
    }

    fn end(&mut self) {
        self.inside = false;
        self.facts.ended = true;
        if self.failed_tests != self.tests {
            self.facts.doubt("other numbers of failing tests in the blocks and at the end");
        }
        if self.failed_files < self.files || (self.failed_files > 0 && self.facts.failures.is_empty()) {
            self.facts.doubt("other numbers of failing files in the blocks and at the end");
        }
        (self.tests, self.files, self.again, self.file) = (0, 0, false, None);
    }
}

impl Reader for Jest {
    fn line(&mut self, line: &str) -> LineOwner {
        let first = line.as_bytes().first().copied().unwrap_or_default();
        if matches!(first, b'P' | b'F')
            && let Some(file) = file_of(line)
        {
            self.close();
            self.file = line.starts_with('F').then(|| file.to_owned());
            self.inside = true;
            self.facts.seen = true;
            return LineOwner::Inside;
        }
        if !self.inside {
            return if line.starts_with("Ran all test suites") && self.facts.ended {
                LineOwner::Line
            } else {
                LineOwner::Pass
            };
        }
        match first {
            b'S' if line == "Summary of all failing tests" => {
                self.close();
                self.again = true;
            }
            b'T' if line.starts_with("Test Suites:") || line.starts_with("Tests:") => self.counts(line),
            b'T' if line.starts_with("Time:") => {
                self.close();
                self.end();
                return LineOwner::Line;
            }
            b' ' => {
                if let Some(title) = line.strip_prefix("  ● ") {
                    self.heading(title);
                } else {
                    self.in_block(line);
                }
            }
            _ => {}
        }
        LineOwner::Inside
    }

    fn finish(mut self: Box<Self>) -> Facts {
        self.close();
        if self.inside {
            self.facts.doubt("the output breaks off");
        }
        self.facts
    }
}

/// Reads `PASS src/a.test.js (5.2 s)`.
fn file_of(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("PASS ").or_else(|| line.strip_prefix("FAIL "))?;
    let file = match rest.rsplit_once(" (") {
        Some((file, time)) if time.starts_with(|c: char| c.is_ascii_digit()) && time.ends_with(')') => file,
        _ => rest,
    };
    let is_file = file.rsplit(['/', '\\']).next().is_some_and(|name| name.contains('.'));
    (is_file && !file.starts_with([' ', ':'])).then_some(file)
}
