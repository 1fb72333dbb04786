//! What MSBuild, the compilers below it and `dotnet test` print.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use super::super::facts::{Counts, DigestItem, Facts, Tool};
use super::super::place;
use super::router::{LineOwner, Reader};

/// How many different diagnostics are told apart.
const KNOWN: usize = 20_000;

/// Where a failing test is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Outside,
    Message,
    Stack,
    /// What the test printed.
    Printed,
}

/// The reader.
#[derive(Debug)]
pub struct Dotnet {
    facts: Facts,
    state: State,
    known: HashSet<u64>,
    test: Option<DigestItem>,
    /// How many different errors and warnings of builds were read, and how many MSBuild says.
    errors: (u64, Option<u64>),
    warnings: u64,
    failed: (u64, u64),
    /// Whether the totals of a run follow, a line each.
    has_totals: bool,
}

impl Dotnet {
    /// At the beginning of a stream.
    pub fn new() -> Self {
        Self {
            facts: Facts::of(Tool::Dotnet),
            state: State::Outside,
            known: HashSet::new(),
            test: None,
            errors: (0, None),
            warnings: 0,
            failed: (0, 0),
            has_totals: false,
        }
    }

    fn close(&mut self) {
        if let Some(found) = self.test.take() {
            self.failed.0 += 1;
            self.facts.failures.push(found);
        }
        self.state = State::Outside;
    }

    /// `FILE(LINE,COLUMN): error CODE: message [PROJECT]`, `PROJECT : error CODE: message`.
    fn diagnostic(&mut self, line: &str) -> bool {
        let line = line.trim_start();
        let (before, is_error, after) = match (line.split_once(": error "), line.split_once(": warning ")) {
            (Some((before, after)), _) => (before, true, after),
            (None, Some((before, after))) => (before, false, after),
            (None, None) => return false,
        };
        let Some((code, message)) = after.split_once(": ") else { return false };
        let letters = code.bytes().take_while(u8::is_ascii_uppercase).count();
        let is_code =
            letters >= 2 && code.len() > letters && code.bytes().skip(letters).all(|it| it.is_ascii_digit());
        if !is_code || code.starts_with("TS") {
            return false;
        }
        let (message, project) = match message.rsplit_once(" [") {
            Some((message, project)) if project.ends_with(']') => (message, project),
            _ => (message, ""),
        };
        let mut found = DigestItem::saying(&format!("{code}: {message}"));
        match of_brackets(before) {
            Some((file, line, column)) => found.set_place(file, line, column),
            None => found.file = before.strip_suffix(' ').map(ToOwned::to_owned),
        }
        self.facts.seen = true;
        // Errors are shown when they come and again at the end.
        let mut hasher = DefaultHasher::new();
        (&found.file, found.line, found.column, &found.message, project, is_error).hash(&mut hasher);
        if self.known.len() < KNOWN && !self.known.insert(hasher.finish()) {
            return true;
        }
        if is_error {
            self.errors.0 += 1;
            self.facts.failures.push(found);
        } else {
            self.warnings += 1;
            self.facts.warnings.push(found);
        }
        true
    }

    /// The end of a build.
    fn built(&mut self, line: &str) -> bool {
        if line == "Build FAILED." || line == "Build succeeded." {
            self.facts.seen = true;
            self.facts.summarize(line);
            return true;
        }
        let text = line.trim_start();
        if let Some(told) = text.strip_prefix("Build failed with ") {
            let count = place::number(told).filter(|(_, rest)| rest.starts_with(" error(s)")).map(|it| it.0);
            self.errors.1 = count.map(|count| count + self.errors.1.unwrap_or(0)).or(self.errors.1);
            self.facts.seen |= count.is_some();
            self.facts.summarize(line);
            return count.is_some();
        }
        match place::number(text) {
            Some((count, " Error(s)")) if self.facts.seen => {
                self.errors.1 = Some(count + self.errors.1.unwrap_or(0));
                true
            }
            Some((_, " Warning(s)")) => self.facts.seen,
            _ => false,
        }
    }

    /// `  Failed Shop.Tests.PriceTests.Adds [5 ms]`.
    fn begins(&mut self, line: &str) -> bool {
        let Some(told) = line.strip_prefix("  Failed ") else { return false };
        let Some((name, time)) = told.rsplit_once(" [") else { return false };
        if !time.ends_with("s]") {
            return false;
        }
        self.close();
        self.facts.seen = true;
        self.test = Some(DigestItem::named(name));
        self.state = State::Printed;
        true
    }

    /// `Failed!  - Failed:     2, Passed:     3, Skipped:     0, Total:     5, Duration: 12 ms - x.dll (net8.0)`.
    fn tested(&mut self, line: &str) -> bool {
        let told = line.strip_prefix("Failed!").or_else(|| line.strip_prefix("Passed!"));
        let Some(told) = told.and_then(|told| told.trim_start().strip_prefix("- ")) else { return false };
        let count = |word: &str| {
            let part = told.split(", ").find_map(|part| part.strip_prefix(word)?.strip_prefix(':'));
            part.and_then(|count| count.trim().parse::<u64>().ok())
        };
        let (Some(failed), Some(passed)) = (count("Failed"), count("Passed")) else { return false };
        self.close();
        self.facts.seen = true;
        self.failed.1 += failed;
        self.facts.summarize(line);
        self.facts.counts.add(Counts {
            passed: Some(passed),
            failed: (failed > 0).then_some(failed),
            skipped: count("Skipped").filter(|count| *count > 0),
            ..Counts::default()
        });
        true
    }

    /// `Total tests: 8` and the lines below it, which a more detailed logger prints instead.
    fn totals(&mut self, line: &str) -> bool {
        if matches!(line, "Test Run Failed." | "Test Run Successful.") {
            self.close();
            self.facts.seen = true;
            self.facts.summarize(line);
            return true;
        }
        if line.starts_with("Total tests: ") {
            self.close();
            (self.facts.seen, self.has_totals) = (true, true);
            self.facts.summarize(line);
            return true;
        }
        let text = line.trim_start();
        if !self.has_totals || text.len() == line.len() {
            self.has_totals = false;
            return false;
        }
        let Some((word, count)) = text.split_once(": ") else { return false };
        let mut counts = Counts::default();
        let count = count.trim().parse::<u64>().ok();
        match word {
            "Passed" => counts.passed = count,
            "Failed" => {
                counts.failed = count;
                self.failed.1 += count.unwrap_or(0);
            }
            "Skipped" => counts.skipped = count,
            "Total time" => self.has_totals = false,
            _ => return false,
        }
        self.facts.counts.add(counts);
        true
    }

    fn in_test(&mut self, line: &str) {
        self.state = match line.trim() {
            "Error Message:" => State::Message,
            "Stack Trace:" => State::Stack,
            "Standard Output Messages:" | "Standard Error Messages:" | "Debug Trace:" => State::Printed,
            text => {
                let Some(found) = &mut self.test else { return };
                match self.state {
                    State::Message => found.say(text),
                    // The outermost frame with a place is the test's own.
                    State::Stack => {
                        if let Some((_, at)) = text.rsplit_once(" in ")
                            && let Some((file, line)) = at.rsplit_once(":line ")
                            && let Ok(line) = line.parse()
                        {
                            found.set_place(file, line, None);
                        }
                    }
                    State::Printed | State::Outside => {}
                }
                self.state
            }
        };
    }
}

impl Reader for Dotnet {
    fn line(&mut self, line: &str) -> LineOwner {
        if self.begins(line) {
            return LineOwner::Inside;
        }
        if self.tested(line) || self.totals(line) {
            return LineOwner::Line;
        }
        // xUnit says the same as the run does, between its lines.
        if line.starts_with("[xUnit.net ") {
            return if self.test.is_some() { LineOwner::Inside } else { LineOwner::Line };
        }
        if self.test.is_some() {
            let is_other = line.starts_with("  Passed ") || line.starts_with("  Skipped ");
            if is_other && line.ends_with("s]") {
                self.close();
                return LineOwner::Line;
            }
            self.in_test(line);
            return LineOwner::Inside;
        }
        let has_colon = memchr::memchr(b':', line.as_bytes()).is_some();
        if (has_colon && self.diagnostic(line)) || self.built(line) {
            return LineOwner::Line;
        }
        LineOwner::Pass
    }

    fn finish(mut self: Box<Self>) -> Facts {
        if self.test.is_some() {
            self.facts.doubt("the output breaks off");
        }
        let facts = &mut self.facts;
        facts.ended = facts.seen;
        if self.failed.0 != self.failed.1 || self.errors.1.is_some_and(|said| said != self.errors.0) {
            facts.doubt("other numbers of failures in the list and at the end");
        }
        if facts.seen {
            facts.counts.add(Counts {
                errors: (self.errors.0 > 0).then_some(self.errors.0),
                warnings: (self.warnings > 0).then_some(self.warnings),
                ..Counts::default()
            });
        }
        self.facts
    }
}

/// Reads `FILE(LINE)`, `FILE(LINE,COLUMN)` and `FILE(LINE,COLUMN,LINE,COLUMN)`.
fn of_brackets(text: &str) -> Option<(&str, u64, Option<u64>)> {
    let (file, numbers) = text.strip_suffix(')')?.rsplit_once('(')?;
    let mut numbers = numbers.split(',').map(|number| number.parse::<u64>());
    let line = numbers.next()?.ok()?;
    let column = numbers.next().and_then(Result::ok);
    (!file.is_empty()).then_some((file, line, column))
}
