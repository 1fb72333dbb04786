//! What mypy prints, with `--pretty` and without.

use super::super::facts::{Counts, DigestItem, Facts, Tool};
use super::super::place;
use super::router::{LineOwner, Reader};

/// How long a line of `--pretty` is at least that continues in the next one.
const WRAPPED: usize = 60;

/// The reader.
#[derive(Debug)]
pub struct Mypy {
    facts: Facts,
    /// How long the line of an error was, if the last line was one.
    wide: usize,
    /// Whether lines of a source may follow.
    shown: bool,
    open: bool,
}

impl Mypy {
    /// At the beginning of a stream.
    pub fn new() -> Self {
        Self { facts: Facts::of(Tool::Mypy), wide: 0, shown: false, open: false }
    }

    /// `FILE.py:LINE: error: message`, with a column or without; `FILE.py: error: message`.
    fn error(&mut self, line: &str) -> bool {
        let is_python = |file: &str| file.ends_with(".py") || file.ends_with(".pyi");
        if let Some(at) = place::leading(line).filter(|at| is_python(at.file)) {
            if let Some(message) = at.rest.strip_prefix("error: ") {
                self.facts.failures.push(DigestItem::saying(message).at(at.file, at.line, at.column));
                self.open = true;
            } else if !at.rest.starts_with("note: ") || !self.open {
                return false;
            }
            return true;
        }
        let Some((file, message)) = line.split_once(": error: ") else { return false };
        if !is_python(file) || file.contains(' ') {
            return false;
        }
        let mut found = DigestItem::saying(message);
        found.file = Some(file.to_owned());
        self.facts.failures.push(found);
        self.open = true;
        true
    }

    /// `Found 4 errors in 1 file (checked 1 source file)`.
    fn end(&mut self, line: &str) -> bool {
        let is_mypy = line.ends_with(" source file)")
            || line.ends_with(" source files)")
            || line.ends_with(" (errors prevented further checking)");
        let found = line.strip_prefix("Found ").filter(|_| is_mypy).and_then(place::number);
        let is_good = line.starts_with("Success: no issues found in ");
        let count = match found {
            Some((count, rest)) if rest.starts_with(" error") => count,
            _ if is_good => 0,
            _ => return false,
        };
        self.facts.seen = true;
        self.facts.ended = true;
        self.open = false;
        self.facts.summarize(line);
        self.facts.declare(count);
        self.facts.counts.add(Counts { errors: (count > 0).then_some(count), ..Counts::default() });
        true
    }
}

impl Reader for Mypy {
    fn line(&mut self, line: &str) -> LineOwner {
        let wide = std::mem::take(&mut self.wide);
        if line.contains(": ") && self.error(line) {
            (self.wide, self.shown) = (line.len(), true);
            self.facts.seen = true;
            return LineOwner::Line;
        }
        if self.end(line) {
            self.shown = false;
            return LineOwner::Line;
        }
        let is_rest = wide >= WRAPPED && !line.is_empty();
        if self.shown && (is_rest || line.starts_with("    ")) {
            // A message may take several lines.
            self.wide = if line.starts_with(' ') { 0 } else { line.len() };
            return LineOwner::Line;
        }
        self.shown = false;
        LineOwner::Pass
    }

    fn finish(self: Box<Self>) -> Facts {
        let mut facts = self.facts;
        if self.open {
            facts.doubt("the output breaks off, or is another tool's");
        }
        facts
    }
}
