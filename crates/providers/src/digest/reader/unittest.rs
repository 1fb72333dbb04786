//! What the test runner of Python's library prints.

use super::super::facts::{Counts, DigestItem, Facts, Tool};
use super::super::place;
use super::router::{LineOwner, Reader};

/// Where the stream is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Outside,
    /// After a row of `=`.
    Rule,
    /// In the block of a failing test.
    Block,
    /// After `Ran N tests`.
    Ran,
}

/// The reader.
#[derive(Debug)]
pub struct Unittest {
    facts: Facts,
    state: State,
    block: Option<(DigestItem, bool)>,
    /// Whether the message of the traceback has come.
    said: bool,
    framed: bool,
    failed: u64,
    errors: u64,
    ran: u64,
}

impl Unittest {
    /// At the beginning of a stream.
    pub fn new() -> Self {
        Self {
            facts: Facts::of(Tool::Unittest),
            state: State::Outside,
            block: None,
            said: false,
            framed: false,
            failed: 0,
            errors: 0,
            ran: 0,
        }
    }

    fn close(&mut self) {
        if let Some((found, is_error)) = self.block.take() {
            if is_error {
                self.errors += 1;
            } else {
                self.failed += 1;
            }
            self.facts.failures.push(found);
        }
    }

    fn in_block(&mut self, line: &str) {
        let Some((found, _)) = &mut self.block else { return };
        if line.starts_with("Traceback (most recent call last):") {
            // Of several tracebacks the last is the one that failed the test.
            (self.said, self.framed) = (false, false);
            found.message.clear();
        } else if let Some(at) = place::of_python_frame(line) {
            self.framed = true;
            if !place::is_library(at.file) || found.file.as_deref().is_none_or(place::is_library) {
                found.set_place(at.file, at.line, None);
            }
        } else if self.framed && !self.said && !line.is_empty() && !line.starts_with(' ') {
            self.said = true;
            found.say(line);
        }
    }

    fn end(&mut self, line: &str) -> LineOwner {
        let told = line.split_once(" (").map_or("", |(_, rest)| rest.trim_end_matches(')'));
        let count = |word: &str| {
            let found = told.split(", ").find_map(|part| part.strip_prefix(word)?.strip_prefix('='));
            found.and_then(|count| count.parse::<u64>().ok()).unwrap_or(0)
        };
        let (failed, errors, skipped) = (count("failures"), count("errors"), count("skipped"));
        let unexpected = count("unexpected successes");
        if failed != self.failed || errors != self.errors {
            self.facts.doubt("other numbers of failures in the blocks and at the end");
        }
        if unexpected > 0 {
            self.facts.doubt("tests passed that were expected to fail");
        }
        self.facts.declare(failed + errors);
        self.facts.ended = true;
        self.facts.summarize(&format!("Ran {} tests: {line}", self.ran));
        self.facts.counts.add(Counts {
            // A test can fail in several parts, so that what passed follows only where none did.
            passed: (failed + errors == 0).then(|| self.ran.saturating_sub(skipped)),
            failed: (failed > 0).then_some(failed),
            errors: (errors > 0).then_some(errors),
            skipped: (skipped > 0).then_some(skipped),
            warnings: None,
        });
        (self.failed, self.errors) = (0, 0);
        self.state = State::Outside;
        LineOwner::Line
    }
}

impl Reader for Unittest {
    fn line(&mut self, line: &str) -> LineOwner {
        let first = line.as_bytes().first().copied().unwrap_or_default();
        match self.state {
            State::Outside => {
                if first == b'=' && is_row(line, '=') {
                    self.state = State::Rule;
                    return LineOwner::Inside;
                }
                if first == b'R'
                    && let Some(count) = ran(line)
                {
                    (self.ran, self.state) = (count, State::Ran);
                    self.facts.seen = true;
                    return LineOwner::Inside;
                }
                let is_told = memchr::memmem::find(line.as_bytes(), b") ... ").is_some_and(|at| {
                    let told = &line[at + 6..];
                    matches!(told, "ok" | "FAIL" | "ERROR" | "expected failure")
                        || told.starts_with("skipped ")
                });
                if is_told { LineOwner::Line } else { LineOwner::Pass }
            }
            State::Rule => {
                let is_error = line.starts_with("ERROR: ");
                let name = line.strip_prefix("FAIL: ").or_else(|| line.strip_prefix("ERROR: "));
                let Some(name) = name else {
                    self.state = State::Outside;
                    return LineOwner::Pass;
                };
                (self.said, self.framed) = (false, false);
                self.facts.seen = true;
                self.block = Some((DigestItem::named(&of_test(name)), is_error));
                self.state = State::Block;
                LineOwner::Inside
            }
            State::Block => {
                if first == b'=' && is_row(line, '=') {
                    self.close();
                    self.state = State::Rule;
                } else if first == b'R'
                    && let Some(count) = ran(line)
                {
                    self.close();
                    (self.ran, self.state) = (count, State::Ran);
                } else {
                    self.in_block(line);
                }
                LineOwner::Inside
            }
            State::Ran => match line {
                "" => LineOwner::Inside,
                _ if line == "OK"
                    || line.starts_with("OK (")
                    || line == "NO TESTS RAN"
                    || line.starts_with("FAILED (") =>
                {
                    self.end(line)
                }
                _ => {
                    self.facts.doubt("the end has another form");
                    self.state = State::Outside;
                    LineOwner::Pass
                }
            },
        }
    }

    fn finish(mut self: Box<Self>) -> Facts {
        self.close();
        if self.state != State::Outside && self.facts.seen {
            self.facts.doubt("the output breaks off");
        }
        self.facts
    }
}

/// Returns the name by which a test can be run, out of `method (module.Class.method) (part=1)`.
fn of_test(told: &str) -> String {
    let shorter = told.split_once(" (").and_then(|(method, rest)| {
        let (path, rest) = rest.split_once(')')?;
        path.strip_suffix(method)?.ends_with('.').then(|| format!("{path}{rest}"))
    });
    shorter.unwrap_or_else(|| told.to_owned())
}

fn is_row(line: &str, mark: char) -> bool {
    line.len() == 70 && line.chars().all(|c| c == mark)
}

fn ran(line: &str) -> Option<u64> {
    let (count, rest) = place::number(line.strip_prefix("Ran ")?)?;
    (rest.starts_with(" test in ") || rest.starts_with(" tests in ")).then_some(count)
}
