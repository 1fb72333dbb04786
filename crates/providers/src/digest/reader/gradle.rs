//! What Gradle prints: failing tests, and what went wrong. Where its streams are apart, tests are in one, their number and
//! what went wrong in the other.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use super::super::facts::{Counts, DigestItem, Facts, Tool};
use super::super::place;
use super::maven::{is_library, of_frame};
use super::router::{LineOwner, Reader};

/// How many lines of compilers are told apart.
const KNOWN: usize = 20_000;

/// Where the stream is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Outside,
    /// Below a failing test.
    Test,
    /// In lines of a compiler that are shown again, indented, after `* What went wrong:`.
    Repeated,
    /// After `* Where:`.
    Where,
    /// After `* What went wrong:`.
    Wrong,
}

/// The reader.
#[derive(Debug)]
pub struct Gradle {
    facts: Facts,
    state: State,
    test: Option<DigestItem>,
    wrong: Option<DigestItem>,
    /// How many things went wrong.
    errors: u64,
    /// Hashes of lines of compilers that came by.
    places: HashSet<u64>,
    open: bool,
}

impl Gradle {
    /// At the beginning of a stream.
    pub fn new() -> Self {
        Self {
            facts: Facts::of(Tool::Gradle),
            state: State::Outside,
            test: None,
            wrong: None,
            errors: 0,
            places: HashSet::new(),
            open: false,
        }
    }

    fn close(&mut self) {
        if let Some(found) = self.test.take() {
            self.facts.failures.push(found);
        }
        if let Some(found) =
            self.wrong.take().filter(|found| found.name.is_some() || !found.message.is_empty())
        {
            self.errors += 1;
            self.facts.failures.push(found);
        }
        self.state = State::Outside;
    }

    /// `8 tests completed, 2 failed, 1 skipped`.
    fn completed(&mut self, line: &str) -> bool {
        let Some((all, rest)) = place::number(line) else { return false };
        let told = rest.strip_prefix(" tests completed").or_else(|| rest.strip_prefix(" test completed"));
        let Some(told) = told else { return false };
        let failed = place::count_of(told, "failed").unwrap_or(0);
        let skipped = place::count_of(told, "skipped").unwrap_or(0);
        self.facts.declare(failed);
        self.facts.summarize(line);
        self.facts.counts.add(Counts {
            passed: Some(all.saturating_sub(failed + skipped)),
            failed: (failed > 0).then_some(failed),
            skipped: (skipped > 0).then_some(skipped),
            ..Counts::default()
        });
        true
    }

    /// Lines that only Gradle prints.
    fn own(&mut self, line: &str) -> bool {
        if line.starts_with("BUILD FAILED in ") || line.starts_with("BUILD SUCCESSFUL in ") {
            self.facts.ended = true;
            self.open = false;
            self.facts.summarize(line);
        } else if line == "FAILURE: Build failed with an exception." {
            self.facts.declare(1);
        } else if let Some(told) = line.strip_prefix("FAILURE: Build completed with ") {
            self.facts.declare(place::number(told).map_or(0, |(count, _)| count));
        } else if line.starts_with("> Task :") {
            self.open = true;
            // Another build, after one that has ended.
            self.facts.ended = false;
        } else {
            return self.facts.seen
                && (line.starts_with("> Configure project ")
                    || line.ends_with(" actionable tasks: 1 executed")
                    || (line.contains(" actionable task") && line.contains(" executed"))
                    || line.starts_with("* Try:")
                    || line.starts_with("> Run with --")
                    || line.starts_with("> Get more help at ")
                    || line.starts_with("* Get more help at ")
                    || line.starts_with("* Exception is:")
                    || line.ends_with(": Task failed with an exception.")
                    || (!line.is_empty() && line.trim_matches(['=', '-']).is_empty()));
        }
        self.facts.seen = true;
        true
    }

    fn in_test(&mut self, line: &str) {
        let Some(found) = &mut self.test else { return };
        let text = line.trim();
        if let Some((class, file, number)) = of_frame(text) {
            if found.line.is_none() && !is_library(class) {
                found.set_place(file, number, None);
            }
            return;
        }
        // `java.lang.AssertionError at PriceTest.java:15`.
        if found.message.is_empty()
            && let Some((_, at)) = text.rsplit_once(" at ")
            && let Some(at) = place::whole(at).filter(|at| !at.file.contains(' '))
        {
            found.set_place(at.file, at.line, None);
        }
        if found.line.is_none() || found.message.is_empty() {
            found.say(text);
        }
    }

    /// Returns whether a line is one of a compiler that came by before.
    fn repeats(&self, line: &str) -> bool {
        line.starts_with("  ") && is_place(line) && self.places.contains(&hash(line))
    }

    fn in_wrong(&mut self, line: &str) {
        let found = self.wrong.get_or_insert_default();
        let text = line.trim().trim_start_matches("> ");
        match line.strip_prefix("Execution failed for task '").and_then(|rest| rest.split_once('\'')) {
            Some((task, _)) if found.name.is_none() => {
                let at = std::mem::take(found);
                *found = DigestItem { file: at.file, line: at.line, ..DigestItem::named(task) };
            }
            _ => found.say(text),
        }
    }
}

impl Reader for Gradle {
    fn line(&mut self, line: &str) -> LineOwner {
        if self.own(line) {
            self.close();
            return LineOwner::Line;
        }
        match line {
            "* Where:" if self.facts.seen => {
                self.close();
                self.state = State::Where;
                return LineOwner::Inside;
            }
            "* What went wrong:" if self.facts.seen => {
                if self.state != State::Where {
                    self.close();
                }
                self.state = State::Wrong;
                return LineOwner::Inside;
            }
            _ => {}
        }
        if self.completed(line) {
            self.close();
            return LineOwner::Line;
        }
        let name = line.strip_suffix(" FAILED").filter(|name| name.contains(" > ") && !name.starts_with(' '));
        if let Some(name) = name.filter(|_| self.open) {
            self.close();
            self.test = Some(DigestItem::named(name));
            self.state = State::Test;
            return LineOwner::Inside;
        }
        match self.state {
            State::Outside => {
                if is_place(line) && self.places.len() < KNOWN {
                    self.places.insert(hash(line));
                }
                LineOwner::Pass
            }
            State::Test if line.starts_with("    ") || line.is_empty() => {
                self.in_test(line);
                LineOwner::Inside
            }
            State::Where => {
                // `Build file '/p/build.gradle' line: 12`.
                if let Some((file, number)) = line.rsplit_once("' line: ")
                    && let Some((_, file)) = file.split_once('\'')
                    && let Ok(number) = number.parse()
                {
                    self.wrong = Some(DigestItem::default().at(file, number, None));
                }
                LineOwner::Inside
            }
            State::Wrong if !line.is_empty() && !is_place(line) => {
                self.in_wrong(line);
                LineOwner::Inside
            }
            State::Wrong | State::Repeated if self.repeats(line) => {
                self.close();
                self.state = State::Repeated;
                LineOwner::Inside
            }
            State::Repeated if line.starts_with("  ") && !is_place(line) => LineOwner::Inside,
            State::Test | State::Wrong | State::Repeated => {
                self.close();
                LineOwner::Pass
            }
        }
    }

    fn finish(mut self: Box<Self>) -> Facts {
        self.close();
        let facts = &mut self.facts;
        if facts.seen && self.errors > 0 {
            facts.counts.add(Counts { errors: Some(self.errors), ..Counts::default() });
        }
        self.facts
    }
}

fn hash(line: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    line.trim().hash(&mut hasher);
    hasher.finish()
}

/// Returns whether a line is a compiler's.
fn is_place(line: &str) -> bool {
    place::leading(line.trim_start()).is_some() || line.starts_with("e: ") || line.starts_with("w: ")
}
