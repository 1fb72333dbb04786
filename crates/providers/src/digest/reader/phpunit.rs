//! What PHPUnit prints.

use super::super::facts::{Counts, DigestItem, Facts, Tool};
use super::super::place;
use super::router::{LineOwner, Reader};

/// Where the stream is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Outside,
    /// Between `PHPUnit 9.6 by …` and the end; in a list of failures or of something else.
    Running {
        failures: bool,
    },
    /// Before the line that counts.
    End,
}

/// The reader.
#[derive(Debug)]
pub struct Phpunit {
    facts: Facts,
    state: State,
    block: Option<DigestItem>,
    read: u64,
}

impl Phpunit {
    /// At the beginning of a stream.
    pub fn new() -> Self {
        Self { facts: Facts::of(Tool::Phpunit), state: State::Outside, block: None, read: 0 }
    }

    fn close(&mut self) {
        if let Some(found) = self.block.take() {
            self.read += 1;
            self.facts.failures.push(found);
        }
    }

    /// `There were 2 failures:`, `There was 1 risky test:`, `1 test triggered 1 warning:`. Returns whether these failed.
    fn list(line: &str) -> Option<bool> {
        let told = line.strip_suffix(':')?;
        if let Some(told) = told.strip_prefix("There was ").or_else(|| told.strip_prefix("There were ")) {
            let (_, what) = place::number(told)?;
            return Some(matches!(what, " error" | " errors" | " failure" | " failures"));
        }
        let (_, rest) = place::number(told)?;
        (rest.starts_with(" test triggered ") || rest.starts_with(" tests triggered ")).then_some(false)
    }

    fn in_block(&mut self, line: &str) {
        let Some(found) = &mut self.block else { return };
        match place::whole(line).filter(|at| at.file.ends_with(".php") || at.file.ends_with(".phpt")) {
            // The frame that is furthest outside is the test's own.
            Some(at) if !at.file.contains("/vendor/") && !at.file.contains("/phpunit/") => {
                found.set_place(at.file, at.line, None);
            }
            Some(_) => {}
            None if found.line.is_none() => found.say(line),
            None => {}
        }
    }

    /// `OK (5 tests, 5 assertions)`.
    fn good(&mut self, line: &str) -> bool {
        let Some(told) = line.strip_prefix("OK (") else { return false };
        let tests = place::count_of(told, "tests").or_else(|| place::count_of(told, "test"));
        self.facts.counts.add(Counts { passed: tests, ..Counts::default() });
        self.ends(line, 0);
        true
    }

    fn ends(&mut self, line: &str, failures: u64) {
        self.facts.ended = true;
        self.facts.declare(failures);
        self.facts.summarize(line);
        if self.read != failures {
            self.facts.doubt("other numbers of failures in the lists and at the end");
        }
        self.read = 0;
        self.state = State::Outside;
    }

    /// `Tests: 9, Assertions: 5, Errors: 1, Failures: 3, Skipped: 1.`
    fn counts(&mut self, line: &str) -> bool {
        let Some(told) = line.strip_prefix("Tests: ") else { return false };
        let told = format!("Tests: {}", told.trim_end_matches('.'));
        let count = |word: &str| {
            let part = told.split(", ").find_map(|part| part.strip_prefix(word)?.strip_prefix(": "));
            part.and_then(|count| count.parse::<u64>().ok()).unwrap_or(0)
        };
        let (failed, errors) = (count("Failures"), count("Errors"));
        let skipped = count("Skipped") + count("Incomplete");
        self.facts.counts.add(Counts {
            passed: Some(count("Tests").saturating_sub(failed + errors + skipped)),
            failed: (failed > 0).then_some(failed),
            errors: (errors > 0).then_some(errors),
            skipped: (skipped > 0).then_some(skipped),
            warnings: None,
        });
        self.ends(line, failed + errors);
        true
    }
}

impl Reader for Phpunit {
    fn line(&mut self, line: &str) -> LineOwner {
        match self.state {
            State::Outside => {
                if line.starts_with("PHPUnit ") && line.contains(" by Sebastian Bergmann") {
                    self.facts.seen = true;
                    self.facts.ended = false;
                    self.state = State::Running { failures: false };
                    return LineOwner::Inside;
                }
                LineOwner::Pass
            }
            State::Running { failures } => {
                if let Some(failures) = Self::list(line) {
                    self.close();
                    self.state = State::Running { failures };
                    return LineOwner::Inside;
                }
                let is_end =
                    matches!(line, "FAILURES!" | "ERRORS!" | "WARNINGS!") || line.starts_with("OK, but ");
                if is_end {
                    self.close();
                    self.state = State::End;
                    return LineOwner::Inside;
                }
                if line.starts_with("OK (") && line.ends_with(')') {
                    self.close();
                    return if self.good(line) { LineOwner::Line } else { LineOwner::Inside };
                }
                if let Some((_, name)) = place::number(line).filter(|_| failures)
                    && let Some(name) = name.strip_prefix(") ")
                {
                    self.close();
                    self.block = Some(DigestItem::named(name));
                } else if line == "--" {
                    self.close();
                } else {
                    self.in_block(line);
                }
                LineOwner::Inside
            }
            State::End => {
                if self.counts(line) {
                    return LineOwner::Line;
                }
                LineOwner::Inside
            }
        }
    }

    fn finish(mut self: Box<Self>) -> Facts {
        self.close();
        if self.state != State::Outside {
            self.facts.doubt("the output breaks off");
        }
        self.facts
    }
}
