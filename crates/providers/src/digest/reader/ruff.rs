//! What `ruff check` prints in its formats for people, `full` and `concise`.

use super::super::facts::{Counts, DigestItem, Facts, Tool};
use super::super::place;
use super::router::{LineOwner, Reader};

/// The reader.
#[derive(Debug)]
pub struct Ruff {
    facts: Facts,
    /// `CODE message`, whose place is in the next line.
    said: Option<String>,
    /// Whether lines of a source may follow.
    shown: bool,
    read: u64,
}

impl Ruff {
    /// At the beginning of a stream.
    pub fn new() -> Self {
        Self { facts: Facts::of(Tool::Ruff), said: None, shown: false, read: 0 }
    }

    fn keep(&mut self, found: DigestItem) {
        self.read += 1;
        self.shown = true;
        self.facts.seen = true;
        self.facts.failures.push(found);
    }

    /// `Found 3 errors.`, `Found 3 errors (1 fixed, 2 remaining).`, `All checks passed!`
    fn end(&mut self, line: &str) -> bool {
        let count = if line == "All checks passed!" {
            0
        } else {
            let found = line.strip_prefix("Found ").and_then(place::number);
            let Some((count, rest)) = found.filter(|_| self.read > 0) else { return false };
            match rest {
                " error." | " errors." => count,
                _ if rest.starts_with(" error") && rest.ends_with(" remaining).") => {
                    place::count_of(rest, "remaining).").unwrap_or_else(|| {
                        let told = rest.trim_end_matches(").");
                        place::count_of(told, "remaining").unwrap_or(count)
                    })
                }
                _ => return false,
            }
        };
        self.facts.seen = true;
        self.facts.ended = true;
        self.facts.declare(count);
        self.facts.summarize(line);
        self.facts.counts.add(Counts { errors: (count > 0).then_some(count), ..Counts::default() });
        self.read = 0;
        true
    }
}

impl Reader for Ruff {
    fn line(&mut self, line: &str) -> LineOwner {
        if let Some(said) = self.said.take()
            && let Some(at) = line.trim_start().strip_prefix("--> ").and_then(place::whole)
        {
            self.keep(DigestItem::saying(&said).at(at.file, at.line, at.column));
            return LineOwner::Line;
        }
        if is_coded(line) {
            self.said = Some(line.to_owned());
            // It is another's, unless a place follows; then it is said with that.
            return if self.facts.seen { LineOwner::Line } else { LineOwner::Pass };
        }
        if let Some(at) = place::leading(line).filter(|at| at.column.is_some() && is_coded(at.rest)) {
            self.keep(DigestItem::saying(at.rest).at(at.file, at.line, at.column));
            return LineOwner::Line;
        }
        if self.end(line) {
            self.shown = false;
            return LineOwner::Line;
        }
        if self.facts.seen && (line.starts_with("[*] ") || line.starts_with("No fixes available (")) {
            return LineOwner::Line;
        }
        let is_source = line.is_empty()
            || line.starts_with(' ')
            || line.starts_with("help: ")
            || place::number(line).is_some_and(|(_, rest)| rest.trim_start().starts_with(['|', '+', '-']));
        if self.shown && is_source {
            return LineOwner::Line;
        }
        self.shown = false;
        LineOwner::Pass
    }

    fn finish(self: Box<Self>) -> Facts {
        let mut facts = self.facts;
        if self.read > 0 {
            facts.doubt("the output breaks off");
        }
        facts
    }
}

/// Returns whether a line begins with the code of a rule and a message: `F401 [*] …`, `invalid-syntax: …`.
fn is_coded(line: &str) -> bool {
    let Some((code, rest)) = line.split_once(' ') else { return false };
    let letters = code.bytes().take_while(u8::is_ascii_uppercase).count();
    let digits = code.len() - letters;
    let is_code = (1..=5).contains(&letters)
        && (2..=4).contains(&digits)
        && code.bytes().skip(letters).all(|it| it.is_ascii_digit());
    !rest.is_empty() && (is_code || code == "invalid-syntax:" || code == "SyntaxError:")
}
