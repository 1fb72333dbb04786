//! What `swift test` prints: XCTest and Swift Testing.

use super::super::facts::{Counts, DigestItem, Facts, Tool};
use super::super::place;
use super::router::{LineOwner, Reader};

/// The reader.
#[derive(Debug)]
pub struct Swift {
    facts: Facts,
    /// Assertions that failed in XCTest, as read since its last total and as said.
    read: u64,
    /// Whether tests of XCTest run.
    running: bool,
    issues: u64,
}

impl Swift {
    /// At the beginning of a stream.
    pub fn new() -> Self {
        Self { facts: Facts::of(Tool::SwiftTest), read: 0, running: false, issues: 0 }
    }

    /// `/p/PriceTests.swift:12: error: PriceTests.testAdds : XCTAssertEqual failed: …`.
    fn assertion(&mut self, line: &str) -> bool {
        // An error that is thrown has no place.
        let is_swift = |file: &str| file.ends_with(".swift") || file.starts_with('<');
        let Some(at) = place::leading(line).filter(|at| self.running && is_swift(at.file)) else {
            return false;
        };
        let told = at.rest.strip_prefix("error: ").and_then(|told| told.split_once(" : "));
        let Some((name, message)) = told.filter(|(name, _)| name.contains('.') && !name.contains(": "))
        else {
            return false;
        };
        let mut found = DigestItem::named(name);
        if !at.file.starts_with('<') {
            found.set_place(at.file, at.line, at.column);
        }
        found.say(message.trim_end_matches([' ', '-']));
        self.read += 1;
        self.facts.failures.push(found);
        true
    }

    /// What XCTest says of tests and suites.
    fn suite(&mut self, line: &str) -> bool {
        if line.starts_with("Test Suite '") || line.starts_with("Test Case '") {
            self.facts.seen = true;
            self.running = true;
            if line.starts_with("Test Suite 'All tests' ") || line.starts_with("Test Suite 'Selected tests' ")
            {
                self.facts.ended = !line.contains(" started at ");
            }
            return true;
        }
        // Totals of each suite and of all: the last, which is indented least, is that of all.
        let Some(told) = line.trim_start().strip_prefix("Executed ").filter(|_| self.running) else {
            return false;
        };
        let (Some((tests, _)), Some((_, failures))) = (place::number(told), told.split_once(", with "))
        else {
            return false;
        };
        let skipped = place::number(failures).filter(|(_, rest)| rest.starts_with(" test")).map(|it| it.0);
        let failures = failures.split_once(" and ").map_or(failures, |(_, rest)| rest);
        let Some((failed, rest)) = place::number(failures) else { return false };
        if self.facts.ended && rest.starts_with(" failure") {
            if failed != self.read {
                self.facts.doubt("other numbers of failures in the list and at the end");
            }
            self.facts.declare(failed);
            self.facts.summarize(line);
            self.facts.counts.add(Counts {
                passed: (failed == 0).then(|| tests.saturating_sub(skipped.unwrap_or(0))),
                failed: (failed > 0).then_some(failed),
                skipped: skipped.filter(|count| *count > 0),
                ..Counts::default()
            });
            (self.read, self.running) = (0, false);
        }
        true
    }

    /// What Swift Testing says: `✘ Test adds() recorded an issue at PriceTests.swift:12:9: Expectation failed: …`.
    fn testing(&mut self, line: &str) -> bool {
        let Some((mark, told)) = line.split_once(' ') else { return false };
        if !matches!(mark, "✘" | "✔" | "◇" | "➜" | "↳" | "⚠") {
            return false;
        }
        let told = told.trim_start();
        if let Some(run) = told.strip_prefix("Test run with ") {
            let Some((tests, _)) = place::number(run) else { return false };
            let issues = run.rsplit_once(" with ").and_then(|(_, rest)| place::number(rest));
            let issues = issues.filter(|_| mark == "✘").map_or(0, |(count, _)| count);
            self.facts.seen = true;
            self.facts.ended = true;
            if issues != self.issues {
                self.facts.doubt("other numbers of issues in the list and at the end");
            }
            self.facts.declare(issues);
            self.facts.summarize(told);
            self.facts.counts.add(Counts {
                passed: (issues == 0).then_some(tests),
                failed: (issues > 0).then_some(issues),
                ..Counts::default()
            });
            self.issues = 0;
            return true;
        }
        if mark == "✘"
            && let Some((name, rest)) = told.split_once(" recorded an issue")
        {
            let name = name.strip_prefix("Test ").unwrap_or(name);
            let found = match of_issue(rest) {
                Some(at) => {
                    let mut found = DigestItem::named(name).at(at.file, at.line, at.column);
                    found.say(at.rest);
                    found
                }
                // An error that is thrown elsewhere has no place.
                None => {
                    let mut found = DigestItem::named(name);
                    found.say(rest.trim_start_matches([':', ' ']));
                    found
                }
            };
            self.issues += 1;
            self.facts.seen = true;
            self.facts.failures.push(found);
            return true;
        }
        ["Test ", "Suite ", "Testing Library Version", "Target Platform"]
            .iter()
            .any(|it| told.starts_with(it))
    }
}

impl Reader for Swift {
    fn line(&mut self, line: &str) -> LineOwner {
        let is_own = match line.as_bytes().first() {
            None => false,
            Some(b'T' | b'\t' | b' ' | b'E') if self.suite(line) => true,
            Some(0xe2) => self.testing(line),
            Some(_) => self.assertion(line),
        };
        if is_own { LineOwner::Line } else { LineOwner::Pass }
    }

    fn finish(self: Box<Self>) -> Facts {
        let mut facts = self.facts;
        if self.read + self.issues > 0 || self.running {
            facts.doubt("the output breaks off");
        }
        facts
    }
}

/// Finds the place in what follows an issue: ` at FILE:LINE:COLUMN: …`, perhaps behind ` with 1 argument n → 3`.
fn of_issue(rest: &str) -> Option<place::TextLocation<'_>> {
    let places = rest.match_indices(" at ").filter_map(|(at, word)| place::leading(&rest[at + word.len()..]));
    let mut places = places.filter(|at| at.file.ends_with(".swift") && !at.file.contains(": "));
    places.next()
}
