//! What the compiler of TypeScript prints, with `--pretty` and without.

use super::super::facts::{Counts, DigestItem, Facts, Tool};
use super::super::place;
use super::router::{LineOwner, Reader};

/// Where the stream is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Outside,
    /// Below an error without `--pretty`.
    Plain,
    /// From the first error with `--pretty` to the count.
    Pretty,
    /// In the table of files after the count.
    Table,
}

/// The reader.
#[derive(Debug)]
pub struct Tsc {
    facts: Facts,
    state: State,
}

impl Tsc {
    /// At the beginning of a stream.
    pub fn new() -> Self {
        Self { facts: Facts::of(Tool::Tsc), state: State::Outside }
    }

    /// An error, and whether it is a pretty one.
    fn error(&mut self, line: &str) -> Option<bool> {
        let (at, is_pretty) = match memchr::memmem::find(line.as_bytes(), b"error TS") {
            Some(0) => {
                let (_, message) = line["error TS".len()..].split_once(": ")?;
                let found = DigestItem::saying(&format!("TS{}", &line["error TS".len()..]));
                (!message.is_empty()).then_some(())?;
                self.facts.failures.push(found);
                return Some(false);
            }
            Some(at) => match line[..at].strip_suffix("): ") {
                Some(place) => (of_brackets(place)?, false),
                None => (place::whole(line[..at].strip_suffix(" - ")?)?, true),
            },
            None => return None,
        };
        let message = line.split_once("error TS")?.1;
        self.facts.failures.push(DigestItem::saying(&format!("TS{message}")).at(at.file, at.line, at.column));
        Some(is_pretty)
    }
}

impl Reader for Tsc {
    fn line(&mut self, line: &str) -> LineOwner {
        if let Some(is_pretty) = self.error(line) {
            self.facts.seen = true;
            self.state = if is_pretty { State::Pretty } else { State::Plain };
            return LineOwner::Inside;
        }
        if line.starts_with("Found ")
            && let Some(count) = found(line)
        {
            self.facts.seen = true;
            self.facts.ended = true;
            self.facts.summarize(line);
            self.facts.declare(count);
            self.state = State::Table;
            return LineOwner::Inside;
        }
        let belongs = match self.state {
            State::Outside => false,
            State::Plain => line.starts_with("  "),
            State::Pretty => true,
            State::Table => line.is_empty() || line.starts_with("Errors  Files") || line.starts_with("   "),
        };
        if belongs {
            return LineOwner::Inside;
        }
        self.state = State::Outside;
        LineOwner::Pass
    }

    fn finish(self: Box<Self>) -> Facts {
        let mut facts = self.facts;
        if self.state == State::Pretty {
            facts.doubt("the output breaks off");
        }
        facts.ended |= !facts.failures.is_empty();
        if facts.seen {
            facts.counts = Counts { errors: Some(facts.failures.total), ..Counts::default() };
        }
        facts
    }
}

/// Reads `FILE(LINE,COLUMN` before its closing bracket.
fn of_brackets(text: &str) -> Option<place::TextLocation<'_>> {
    let (file, numbers) = text.rsplit_once('(')?;
    let (line, rest) = place::number(numbers)?;
    let (column, rest) = place::number(rest.strip_prefix(',')?)?;
    (rest.is_empty() && !file.is_empty()).then_some(place::TextLocation {
        file,
        line,
        column: Some(column),
        rest: "",
    })
}

/// Reads `Found 3 errors in 2 files.`.
fn found(line: &str) -> Option<u64> {
    let (count, rest) = place::number(line.strip_prefix("Found ")?)?;
    (rest.starts_with(" error in ")
        || rest.starts_with(" errors in ")
        || rest.starts_with(" errors.")
        || rest.starts_with(" error."))
    .then_some(count)
}
