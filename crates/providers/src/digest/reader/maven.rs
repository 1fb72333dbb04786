//! What Maven prints: its own errors, those of the compilers that it runs, and Surefire's failing tests.

use std::collections::HashSet;

use super::super::facts::{Counts, DigestItem, Facts, Tool};
use super::super::place;
use super::router::{LineOwner, Reader};

/// How many different errors are told apart.
const KNOWN: usize = 20_000;

/// The reader.
#[derive(Debug)]
pub struct Maven {
    facts: Facts,
    /// Errors that were read, since they are shown twice.
    known: HashSet<String>,
    /// The failing test whose message and frames follow.
    test: Option<DigestItem>,
    /// Whether its place is one of its own class.
    placed: bool,
    /// The error that lines with details follow.
    error: Option<DigestItem>,
    /// Whether the totals of the tests follow.
    results: bool,
    /// How many tests failed and had errors, as read and as said.
    failed: (u64, u64),
    errors: u64,
    warnings: u64,
    open: bool,
}

impl Maven {
    /// At the beginning of a stream.
    pub fn new() -> Self {
        Self {
            facts: Facts::of(Tool::Maven),
            known: HashSet::new(),
            test: None,
            placed: false,
            error: None,
            results: false,
            failed: (0, 0),
            errors: 0,
            warnings: 0,
            open: false,
        }
    }

    fn close(&mut self) {
        if let Some(found) = self.test.take() {
            self.failed.0 += 1;
            self.facts.failures.push(found);
        }
        if let Some(found) = self.error.take() {
            self.errors += 1;
            self.facts.failures.push(found);
        }
    }

    /// Returns whether a line was not there before.
    fn is_new(&mut self, told: &str) -> bool {
        self.known.len() >= KNOWN || self.known.insert(told.to_owned())
    }

    /// `Tests run: 3, Failures: 1, Errors: 1, Skipped: 0`, of a class or of all.
    fn tests(&mut self, told: &str) {
        let count = |word: &str| {
            let part = told.split(", ").find_map(|part| part.strip_prefix(word)?.strip_prefix(": "));
            let digits = part.and_then(place::number);
            digits.map_or(0, |(count, _)| count)
        };
        if !self.results || told.contains("Time elapsed:") {
            return;
        }
        self.results = false;
        let (failed, errors, skipped) = (count("Failures"), count("Errors"), count("Skipped"));
        self.failed.1 += failed + errors;
        self.facts.summarize(told);
        self.facts.counts.add(Counts {
            passed: Some(count("Tests run").saturating_sub(failed + errors + skipped)),
            failed: (failed + errors > 0).then_some(failed + errors),
            skipped: (skipped > 0).then_some(skipped),
            ..Counts::default()
        });
    }

    /// `[ERROR] …`.
    fn error(&mut self, told: &str) {
        if let Some((name, _)) = told.split_once(" <<< ").filter(|_| !told.starts_with("Tests run:")) {
            // `adds(shop.PriceTest)  Time elapsed: 0.004 s`, or `shop.PriceTest.adds -- Time elapsed: 0.004 s`.
            let name = name.split("Time elapsed:").next().unwrap_or(name).trim_end_matches([' ', '-']);
            self.close();
            self.placed = false;
            self.test = Some(DigestItem::named(name));
            return;
        }
        if told.starts_with("Tests run:") {
            self.close();
            self.tests(told);
            return;
        }
        if let Some(detail) = told.strip_prefix("  ") {
            if let Some(found) = self.error.as_mut().filter(|_| !self.results) {
                found.say(&detail.split_whitespace().collect::<Vec<_>>().join(" "));
            }
            return;
        }
        if let Some(found) = of_compiler(told) {
            self.close();
            if self.is_new(told) {
                self.error = Some(found);
            }
            return;
        }
        if let Some(goal) = told.strip_prefix("Failed to execute goal ") {
            self.close();
            let (goal, message) = goal.split_once(": ").unwrap_or((goal, ""));
            let mut found = DigestItem::named(goal);
            found.say(message.trim_end_matches(" -> [Help 1]"));
            self.errors += 1;
            self.facts.failures.push(found);
            return;
        }
        let is_heading = told.is_empty()
            || told == "COMPILATION ERROR : "
            || told == "COMPILATION ERROR :"
            || told.ends_with(" [Help 1]")
            || told.starts_with("[Help ")
            || told.starts_with("-> [Help ")
            || told.starts_with("To see the full stack trace")
            || told.starts_with("Re-run Maven using")
            || told.starts_with("For more information about the errors")
            || told.starts_with("After correcting the problems")
            || told.starts_with("Please refer to ")
            || told.starts_with("See ")
            || told.trim_end().ends_with("Failures:")
            || told.trim_end().ends_with("Errors:");
        self.close();
        if !is_heading && !self.results && self.errors == 0 && self.is_new(told) {
            // What is wrong with the project itself.
            self.error = Some(DigestItem::saying(told));
        }
    }

    fn in_test(&mut self, line: &str) {
        let Some(found) = &mut self.test else { return };
        match of_frame(line) {
            Some((class, file, number)) => {
                // The first frame of the test's own class; without one, the first that is no library's.
                let is_own = found.name.as_deref().is_some_and(|name| name.contains(class));
                if !is_library(class) && !self.placed && (is_own || found.line.is_none()) {
                    self.placed = is_own;
                    found.set_place(file, number, None);
                }
            }
            None if found.line.is_none() && !line.trim_start().starts_with("at ") => found.say(line),
            None => {}
        }
    }
}

impl Reader for Maven {
    fn line(&mut self, line: &str) -> LineOwner {
        if let Some(told) = line.strip_prefix("[ERROR]") {
            self.facts.seen = true;
            self.error(told.strip_prefix(' ').unwrap_or(told));
            return if self.test.is_some() { LineOwner::Inside } else { LineOwner::Line };
        }
        if let Some(told) = line.strip_prefix("[INFO]").or_else(|| line.strip_prefix("[WARNING]")) {
            let told = told.trim_start();
            self.close();
            match told {
                "Results:" => self.results = true,
                "BUILD FAILURE" | "BUILD SUCCESS" => {
                    self.facts.ended = true;
                    self.facts.seen = true;
                    self.facts.summarize(told);
                    self.open = false;
                }
                "Scanning for projects..." => {
                    self.facts.seen = true;
                    self.open = true;
                }
                _ if told.starts_with("Tests run:") => self.tests(told),
                _ => {}
            }
            if line.starts_with("[WARNING]")
                && let Some(found) = of_compiler(told)
                && self.is_new(told)
            {
                self.warnings += 1;
                self.facts.warnings.push(found);
            }
            return if self.facts.seen { LineOwner::Line } else { LineOwner::Pass };
        }
        if self.test.is_some() {
            if line.is_empty() {
                self.close();
                return LineOwner::Line;
            }
            self.in_test(line);
            return LineOwner::Inside;
        }
        let is_known = self.open
            && (line.starts_with("Running ")
                || line == " T E S T S"
                || (line.starts_with("-----") && line.trim_matches('-').is_empty()));
        if is_known { LineOwner::Line } else { LineOwner::Pass }
    }

    fn finish(mut self: Box<Self>) -> Facts {
        if self.test.is_some() || self.open {
            self.facts.doubt("the output breaks off");
        }
        self.close();
        let facts = &mut self.facts;
        if self.failed.0 != self.failed.1 {
            facts.doubt("other numbers of failing tests in the blocks and at the end");
        }
        if facts.seen {
            facts.counts.add(Counts {
                errors: (self.errors > 0).then_some(self.errors),
                warnings: (self.warnings > 0).then_some(self.warnings),
                ..Counts::default()
            });
        }
        self.facts
    }
}

/// Reads `FILE:[LINE,COLUMN] message`, and what the compiler of Kotlin has: `FILE: (LINE, COLUMN) message`.
fn of_compiler(told: &str) -> Option<DigestItem> {
    let (file, rest) = match told.split_once(":[") {
        Some(found) => found,
        None => told.split_once(": (").filter(|(file, _)| file.ends_with(".kt"))?,
    };
    let (line, rest) = place::number(rest)?;
    let (column, rest) = match rest.strip_prefix(',') {
        Some(rest) => place::number(rest.trim_start()).map(|(column, rest)| (Some(column), rest))?,
        None => (None, rest),
    };
    let message = rest.strip_prefix("] ").or_else(|| rest.strip_prefix(") "))?;
    let is_file = file.contains('.') && !file.contains(": ");
    is_file.then(|| DigestItem::saying(message).at(file, line, column))
}

/// Reads a frame of Java: `at shop.PriceTest.adds(PriceTest.java:12)`. Returns the class, the file and the line.
pub fn of_frame(line: &str) -> Option<(&str, &str, u64)> {
    let (method, at) = line.trim().strip_prefix("at ")?.strip_suffix(')')?.split_once('(')?;
    let at = place::whole(at)?;
    // `app//shop.PriceTest.adds`, `java.base/java.lang.Thread.run`.
    let method = method.rsplit('/').next().unwrap_or(method);
    let class = method.rsplit_once('.').map_or(method, |(class, _)| class);
    Some((class, at.file, at.line))
}

/// Returns whether a class is one of Java's, or of a library for tests.
pub fn is_library(class: &str) -> bool {
    let known = [
        "java.",
        "javax.",
        "jdk.",
        "sun.",
        "kotlin.",
        "kotlinx.",
        "scala.",
        "groovy.",
        "org.junit.",
        "junit.",
        "org.opentest4j.",
        "org.hamcrest.",
        "org.assertj.",
        "org.testng.",
        "org.mockito.",
        "org.gradle.",
        "org.apache.maven.",
        "com.google.common.truth.",
        "org.codehaus.groovy.",
        "org.spockframework.",
    ];
    known.iter().any(|known| class.starts_with(known))
}
