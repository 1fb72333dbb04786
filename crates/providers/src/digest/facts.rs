//! What the readers of the tools' formats find, and what speaks against believing it.

use schemars::JsonSchema;
use serde::Serialize;

/// How many failures, and how many warnings, are kept of one tool; further ones are counted.
const KEPT: usize = 5_000;
/// How many bytes of names, files and messages they may have in all.
const KEPT_BYTES: usize = 1_048_576;
/// How long a message may be, in bytes.
pub const MESSAGE_BYTES: usize = 400;
/// How long a name or the name of a file may be, in bytes.
pub const NAME_BYTES: usize = 1_000;
/// How many lines of a tool's own summary are kept.
const SUMMARY_LINES: usize = 4;

/// A tool whose output is understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tool {
    /// The compiler of Rust.
    Rustc,
    /// The same under cargo, and what cargo says itself.
    Cargo,
    /// The compiler of TypeScript.
    Tsc,
    /// The linter of JavaScript.
    Eslint,
    /// GCC, and linkers.
    Gcc,
    /// Clang, and linkers.
    Clang,
    /// `go test`, `go build`, `go vet`.
    Go,
    /// The test harness of Rust.
    CargoTest,
    /// pytest.
    Pytest,
    /// The test runner of Python's library.
    Unittest,
    /// Jest.
    Jest,
    /// Vitest.
    Vitest,
    /// Mocha.
    Mocha,
    /// PHPUnit.
    Phpunit,
    /// RSpec.
    Rspec,
    /// XCTest and Swift Testing.
    SwiftTest,
    /// `dotnet build`, `dotnet test`, MSBuild.
    Dotnet,
    /// Maven.
    Maven,
    /// Gradle.
    Gradle,
    /// mypy.
    Mypy,
    /// Ruff.
    Ruff,
    /// Whatever prints `FILE:LINE: error: message`, as compilers do.
    Compiler,
    /// GNU make.
    Make,
}

impl Tool {
    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Cargo => "cargo",
            Self::Rustc => "rustc",
            Self::Tsc => "tsc",
            Self::Eslint => "eslint",
            Self::Gcc => "gcc",
            Self::Clang => "clang",
            Self::Go => "go",
            Self::CargoTest => "cargo test",
            Self::Pytest => "pytest",
            Self::Unittest => "unittest",
            Self::Jest => "jest",
            Self::Vitest => "vitest",
            Self::Mocha => "mocha",
            Self::Phpunit => "phpunit",
            Self::Rspec => "rspec",
            Self::SwiftTest => "swift test",
            Self::Dotnet => "dotnet",
            Self::Maven => "maven",
            Self::Gradle => "gradle",
            Self::Mypy => "mypy",
            Self::Ruff => "ruff",
            Self::Compiler => "compiler",
            Self::Make => "make",
        }
    }
}

/// How many of each, as far as the output says so.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Counts {
    /// Tests that passed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub passed: Option<u64>,
    /// Tests that failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed: Option<u64>,
    /// Tests that were left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skipped: Option<u64>,
    /// Errors of compilers and linters, and tests that could not be run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub errors: Option<u64>,
    /// Warnings.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warnings: Option<u64>,
}

impl Counts {
    /// Adds the counts of another part of the output.
    pub fn add(&mut self, other: Self) {
        for (own, other) in [
            (&mut self.passed, other.passed),
            (&mut self.failed, other.failed),
            (&mut self.skipped, other.skipped),
            (&mut self.errors, other.errors),
            (&mut self.warnings, other.warnings),
        ] {
            if let Some(other) = other {
                *own = Some(own.unwrap_or(0) + other);
            }
        }
    }

    /// Adds to one of the counts.
    pub fn more(count: &mut Option<u64>, by: u64) {
        *count = Some(count.unwrap_or(0) + by);
    }
}

/// A failing test, or an error or warning with its place.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DigestItem {
    /// The name of the test or target.
    pub name: Option<String>,
    /// The file, as the text names it.
    pub file: Option<String>,
    /// The line in the file, from 1.
    pub line: Option<u64>,
    /// The column in the line, from 1.
    pub column: Option<u64>,
    /// What is wrong.
    pub message: String,
    /// Where a template is used that the error is in, as `FILE:LINE:COLUMN`.
    pub required_from: Option<String>,
}

impl DigestItem {
    /// A failing test of this name.
    pub fn named(name: &str) -> Self {
        Self { name: Some(cut(name, NAME_BYTES)), ..Self::default() }
    }

    /// Something that is wrong, in these words.
    pub fn saying(message: &str) -> Self {
        Self { message: cut(message.trim(), MESSAGE_BYTES), ..Self::default() }
    }

    /// Sets the place.
    #[must_use]
    pub fn at(mut self, file: &str, line: u64, column: Option<u64>) -> Self {
        self.set_place(file, line, column);
        self
    }

    /// Sets the place.
    pub fn set_place(&mut self, file: &str, line: u64, column: Option<u64>) {
        (self.file, self.line, self.column) = (Some(cut(file, NAME_BYTES)), Some(line), column);
    }

    /// Adds a line to the message.
    pub fn say(&mut self, line: &str) {
        let line = line.trim();
        if line.is_empty() || self.message.len() >= MESSAGE_BYTES {
            return;
        }
        if !self.message.is_empty() {
            self.message.push_str("; ");
        }
        let room = MESSAGE_BYTES.saturating_sub(self.message.len());
        self.message.push_str(&cut(line, room));
    }

    fn bytes(&self) -> usize {
        let length = |text: &Option<String>| text.as_ref().map_or(0, String::len);
        length(&self.name) + length(&self.file) + length(&self.required_from) + self.message.len()
    }
}

/// Cuts a text to at most so many bytes, with a mark where something is gone.
pub fn cut(text: &str, limit: usize) -> String {
    if text.len() <= limit {
        return text.to_owned();
    }
    match limit.checked_sub('…'.len_utf8()) {
        Some(room) if room > 0 => format!("{}…", &text[..text.floor_char_boundary(room)]),
        _ => String::new(),
    }
}

/// A bounded list; what goes over the bound is counted.
#[derive(Debug, Default)]
pub struct List {
    /// What is kept.
    pub kept: Vec<DigestItem>,
    /// How many there were in all.
    pub total: u64,
    bytes: usize,
}

impl List {
    /// Adds one.
    pub fn push(&mut self, found: DigestItem) {
        self.total += 1;
        if self.kept.len() < KEPT && self.bytes < KEPT_BYTES {
            self.bytes += found.bytes();
            self.kept.push(found);
        }
    }

    /// Returns whether there was none.
    pub fn is_empty(&self) -> bool {
        self.total == 0
    }

    fn append(&mut self, other: Self) {
        let over = other.total - other.kept.len() as u64;
        for found in other.kept {
            self.push(found);
        }
        self.total += over;
    }
}

/// What one reader found in one stream, or in both.
#[derive(Debug)]
pub struct Facts {
    /// Which tool printed it.
    pub tool: Tool,
    /// Whether there was anything that only this tool prints.
    pub seen: bool,
    /// Whether the tool came to its own end, with a summary or what stands for it.
    pub ended: bool,
    /// The counts, from the tool's own summary where it has one.
    pub counts: Counts,
    /// What failed.
    pub failures: List,
    /// The warnings.
    pub warnings: List,
    /// How many failures the tool's own summary names, in all and at least.
    pub declared: Option<(u64, u64)>,
    /// Lines of the tool's own summary.
    pub summary: Vec<String>,
    /// Whether nothing but the form of single lines says that it is this tool.
    pub weak: bool,
    /// What speaks against all of this.
    pub doubt: Option<&'static str>,
    /// What other facts are needed for: failing tests whose place is in the other stream, by name.
    pub places: Vec<DigestItem>,
    /// Runs that began and did not end; runs that are said to have ended otherwise.
    pub unfinished: (u64, u64),
}

impl Facts {
    /// Nothing yet.
    pub fn of(tool: Tool) -> Self {
        Self {
            tool,
            seen: false,
            ended: false,
            counts: Counts::default(),
            failures: List::default(),
            warnings: List::default(),
            declared: None,
            summary: Vec::new(),
            weak: false,
            doubt: None,
            places: Vec::new(),
            unfinished: (0, 0),
        }
    }

    /// Notes that the tool itself counts so many failures.
    pub fn declare(&mut self, failures: u64) {
        let (all, least) = self.declared.unwrap_or((0, 0));
        self.declared = Some((all + failures, least.max(failures)));
    }

    /// Keeps a line of the tool's summary.
    pub fn summarize(&mut self, line: &str) {
        if self.summary.len() < SUMMARY_LINES {
            let words: Vec<&str> = line.split_whitespace().collect();
            self.summary.push(cut(&words.join(" "), 200));
        }
    }

    /// Notes what speaks against this; the first counts.
    pub fn doubt(&mut self, why: &'static str) {
        self.doubt.get_or_insert(why);
    }

    /// Adds what the same reader found in the other stream.
    pub fn merge(&mut self, other: Self) {
        self.weak = (self.weak || !self.seen) && (other.weak || !other.seen);
        self.seen |= other.seen;
        self.ended |= other.ended;
        self.tool = self.tool.max(other.tool);
        self.counts.add(other.counts);
        self.failures.append(other.failures);
        self.warnings.append(other.warnings);
        self.declared = match (self.declared, other.declared) {
            (Some((all, least)), Some((more, other))) => Some((all + more, least.max(other))),
            (one, other) => one.or(other),
        };
        for line in other.summary {
            self.summarize(&line);
        }
        self.doubt = self.doubt.or(other.doubt);
        self.places.extend(other.places);
        self.unfinished.0 += other.unfinished.0;
        self.unfinished.1 += other.unfinished.1;
    }
}
