//! What Vitest prints: progress and counts on standard output, failures on standard error.

use super::super::facts::{Counts, DigestItem, Facts, Tool};
use super::super::place;
use super::router::{LineOwner, Reader};

/// What the stream is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Section {
    None,
    Files,
    Tests,
}

/// The reader.
#[derive(Debug)]
pub struct Vitest {
    facts: Facts,
    inside: bool,
    /// Whether this is the stream that has the progress and the counts.
    on_output: bool,
    section: Section,
    /// The failures that the lines below belong to.
    group: Vec<DigestItem>,
    /// Whether lines other than names have come.
    told: bool,
    files: u64,
    tests: u64,
    announced_files: u64,
}

impl Vitest {
    /// At the beginning of a stream.
    pub fn new() -> Self {
        Self {
            facts: Facts::of(Tool::Vitest),
            inside: false,
            on_output: false,
            section: Section::None,
            group: Vec::new(),
            told: false,
            files: 0,
            tests: 0,
            announced_files: 0,
        }
    }

    fn close(&mut self) {
        for found in self.group.drain(..) {
            self.facts.failures.push(found);
        }
        self.told = false;
    }

    /// A row of `⎯`, with or without a title.
    fn row(&mut self, line: &str) -> LineOwner {
        self.close();
        let title = line.trim_matches(['⎯', ' ']);
        let count = |rest: &str| place::number(rest.trim()).map(|(count, _)| count);
        if let Some(count) = title.strip_prefix("Failed Suites").and_then(count) {
            self.announced_files += count;
            self.section = Section::Files;
        } else if let Some(count) = title.strip_prefix("Failed Tests").and_then(count) {
            self.facts.declare(count);
            self.section = Section::Tests;
        } else if title.starts_with("Unhandled ") {
            self.facts.doubt("there are errors outside of tests");
        } else if let Some((at, of)) =
            title.strip_prefix('[').and_then(|it| it.strip_suffix(']')?.split_once('/'))
        {
            // The last failure ends what is said on standard error.
            self.inside = at != of || self.on_output;
            return if self.inside { LineOwner::Inside } else { LineOwner::Line };
        } else if !self.inside {
            return LineOwner::Pass;
        }
        self.facts.seen = true;
        self.inside = true;
        LineOwner::Inside
    }

    fn failure(&mut self, name: &str) {
        if self.told {
            self.close();
        }
        let (file, test) = match name.split_once(" > ") {
            Some((file, test)) => (file, Some(test)),
            None => (name.split_once(" [ ").map_or(name, |(file, _)| file), None),
        };
        let mut found = match test {
            Some(test) => DigestItem::named(test),
            None => DigestItem::default(),
        };
        found.file = Some(file.trim().to_owned());
        match self.section {
            Section::Files => self.files += 1,
            Section::Tests | Section::None => self.tests += 1,
        }
        if self.group.len() < 5_000 {
            self.group.push(found);
        }
    }

    fn below(&mut self, line: &str) {
        if self.group.is_empty() || line.trim().is_empty() {
            return;
        }
        self.told = true;
        let text = line.trim_start();
        let frame = line.strip_prefix(" ❯ ").or_else(|| text.strip_prefix("File: "));
        if let Some(at) = frame.and_then(place::whole) {
            for found in &mut self.group {
                if found.line.is_none() && !place::is_foreign(at.file) {
                    // A function may be before the file; the file may have spaces.
                    let own = found.file.clone().filter(|own| at.file.ends_with(own.as_str()));
                    let file =
                        own.unwrap_or_else(|| at.file.rsplit(' ').next().unwrap_or(at.file).to_owned());
                    found.set_place(&file, at.line, at.column);
                }
            }
            return;
        }
        for found in &mut self.group {
            if found.message.is_empty() || text.starts_with("Expected: ") || text.starts_with("Received: ") {
                found.say(text);
            }
        }
    }

    fn counts(&mut self, line: &str) {
        if let Some(told) = line.strip_prefix(" Test Files ") {
            self.facts.summarize(line);
            if !told.contains("passed") && !told.contains("failed") && !told.contains("skipped") {
                self.facts.doubt("the counts have another form");
            }
        } else if let Some(told) = line.strip_prefix("      Tests ") {
            self.facts.ended = true;
            self.facts.summarize(line);
            let skipped = [place::count_of(told, "skipped"), place::count_of(told, "todo")];
            self.facts.counts.add(Counts {
                passed: place::count_of(told, "passed"),
                failed: place::count_of(told, "failed"),
                skipped: skipped.into_iter().flatten().reduce(|one, other| one + other),
                ..Counts::default()
            });
        } else if line.starts_with("     Errors ") {
            self.facts.doubt("there are errors outside of tests");
        }
    }
}

impl Reader for Vitest {
    fn line(&mut self, line: &str) -> LineOwner {
        if line.starts_with('⎯') {
            return self.row(line);
        }
        if line.starts_with(" RUN  v") {
            self.facts.seen = true;
            (self.inside, self.on_output) = (true, true);
            return LineOwner::Inside;
        }
        if !self.inside {
            return LineOwner::Pass;
        }
        if let Some(name) = line.strip_prefix(" FAIL  ") {
            self.failure(name);
        } else if line.starts_with("   Duration ") {
            self.close();
            (self.inside, self.on_output) = (false, false);
            return LineOwner::Line;
        } else if line.starts_with(" Test Files ")
            || line.starts_with("      Tests ")
            || line.starts_with("     Errors ")
        {
            self.close();
            self.counts(line);
        } else {
            self.below(line);
        }
        LineOwner::Inside
    }

    fn finish(mut self: Box<Self>) -> Facts {
        self.close();
        if self.files != self.announced_files {
            self.facts.doubt("not every failing file was read");
        }
        if self.inside {
            self.facts.doubt("the output breaks off");
        }
        self.facts.declare(self.announced_files);
        self.facts
    }
}
