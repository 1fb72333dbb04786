//! Gives each line to the reader whose it is. A reader that is inside its own output sees every line first, so that
//! what a test printed is not taken for the output of another tool.

use super::super::facts::Facts;
use super::super::fold::Fold;
use super::{
    cargo::Cargo, compiler::Compiler, diagnostics::Diagnostics, dotnet::Dotnet, eslint::Eslint, go::Go,
    gradle::Gradle, jest::Jest, libtest::Libtest, make::Make, maven::Maven, mocha::Mocha, mypy::Mypy,
    phpunit::Phpunit, pytest::Pytest, rspec::Rspec, ruff::Ruff, swift::Swift, tsc::Tsc, unittest::Unittest,
    vitest::Vitest,
};

/// Whose a line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineOwner {
    /// Not this reader's.
    Pass,
    /// This reader's, and no more.
    Line,
    /// This reader's, and the next line comes to it first.
    Inside,
}

/// A reader of one format, for one stream.
pub trait Reader: Send {
    /// Looks at the next line.
    fn line(&mut self, line: &str) -> LineOwner;
    /// Returns what was found when the stream has ended.
    fn finish(self: Box<Self>) -> Facts;
}

/// All readers of one stream.
pub struct Router {
    readers: Vec<Box<dyn Reader>>,
    inside: Option<usize>,
    /// How many bytes the lines had that are no reader's.
    pub other_bytes: u64,
    /// These lines, folded.
    pub other: Fold,
}

impl Router {
    /// All readers, those first whose lines no other could claim.
    pub fn new() -> Self {
        let readers: Vec<Box<dyn Reader>> = vec![
            Box::new(Libtest::new()),
            Box::new(Pytest::new()),
            Box::new(Unittest::new()),
            Box::new(Jest::new()),
            Box::new(Vitest::new()),
            Box::new(Mocha::new()),
            Box::new(Phpunit::new()),
            Box::new(Rspec::new()),
            Box::new(Swift::new()),
            Box::new(Maven::new()),
            Box::new(Gradle::new()),
            Box::new(Go::new()),
            Box::new(Cargo::new()),
            // Before the one of TypeScript, whose last line is like theirs.
            Box::new(Mypy::new()),
            Box::new(Ruff::new()),
            Box::new(Tsc::new()),
            Box::new(Eslint::new()),
            Box::new(Make::new()),
            Box::new(Compiler::new()),
            Box::new(Dotnet::new()),
            Box::new(Diagnostics::new()),
        ];
        Self { readers, inside: None, other_bytes: 0, other: Fold::new(2_048, 6_144) }
    }

    /// Takes the next line, which has so many bytes in the stream.
    pub fn line(&mut self, line: &str, bytes: u64) {
        let first = self.inside.take();
        if let Some(at) = first
            && self.offer(at, line)
        {
            return;
        }
        for at in 0..self.readers.len() {
            if Some(at) != first && self.offer(at, line) {
                return;
            }
        }
        self.other_bytes += bytes;
        if !line.trim().is_empty() {
            self.other.line(line);
        }
    }

    /// Returns what every reader found, and the lines that are none's.
    pub fn finish(self) -> (Vec<Facts>, Fold, u64) {
        let facts = self.readers.into_iter().map(Reader::finish).collect();
        (facts, self.other, self.other_bytes)
    }

    fn offer(&mut self, at: usize, line: &str) -> bool {
        match self.readers[at].line(line) {
            LineOwner::Pass => return false,
            LineOwner::Line => {}
            LineOwner::Inside => self.inside = Some(at),
        }
        true
    }
}
