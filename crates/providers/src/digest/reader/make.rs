//! What GNU make says itself.

use super::super::facts::{Counts, DigestItem, Facts, Tool};
use super::super::place;
use super::router::{LineOwner, Reader};

/// The reader.
#[derive(Debug)]
pub struct Make {
    facts: Facts,
}

impl Make {
    /// At the beginning of a stream.
    pub fn new() -> Self {
        Self { facts: Facts::of(Tool::Make) }
    }

    fn failure(&mut self, told: &str) {
        self.facts.seen = true;
        self.facts.ended = true;
        if told.starts_with("Waiting for unfinished jobs") || told.ends_with("(ignored)") {
            return;
        }
        let found = of_target(told).unwrap_or_else(|| {
            let mut found = DigestItem::saying(told);
            // `No rule to make target 'x', needed by 'y'.  Stop.`
            if let Some(rest) = told.strip_prefix("No rule to make target ") {
                let name = rest.trim_start_matches(['\'', '`']).split('\'').next();
                found.name = name.map(ToOwned::to_owned);
            }
            found
        });
        self.facts.failures.push(found);
    }
}

impl Reader for Make {
    fn line(&mut self, line: &str) -> LineOwner {
        // `make: `, `make[1]: `, `gmake: `, or a makefile's own `FILE:LINE: *** `.
        if let Some(rest) = of_make(line) {
            if let Some(told) = rest.strip_prefix("*** ") {
                self.failure(told);
                return LineOwner::Line;
            }
            let own = [
                "Entering directory ",
                "Leaving directory ",
                "Nothing to be done for ",
                "Target ",
                "warning: ",
                "[",
                "'",
                "`",
            ];
            if own.iter().any(|own| rest.starts_with(own)) {
                return LineOwner::Line;
            }
            return LineOwner::Pass;
        }
        if memchr::memmem::find(line.as_bytes(), b": *** ").is_some()
            && let Some(at) = place::leading(line)
            && let Some(told) = at.rest.strip_prefix("*** ")
            && told.ends_with("Stop.")
        {
            self.facts.seen = true;
            self.facts.ended = true;
            self.facts.failures.push(DigestItem::saying(told).at(at.file, at.line, None));
            return LineOwner::Line;
        }
        LineOwner::Pass
    }

    fn finish(self: Box<Self>) -> Facts {
        let mut facts = self.facts;
        if facts.seen {
            let counts = Counts { errors: Some(facts.failures.total), ..Counts::default() };
            facts.counts = counts;
        }
        facts
    }
}

fn of_make(line: &str) -> Option<&str> {
    let rest = line.strip_prefix('g').unwrap_or(line).strip_prefix("make")?;
    let rest = match rest.strip_prefix('[') {
        Some(level) => place::number(level)?.1.strip_prefix(']')?,
        None => rest,
    };
    rest.strip_prefix(": ")
}

/// Reads `[FILE:LINE: TARGET] Error 2`.
fn of_target(told: &str) -> Option<DigestItem> {
    let (inner, error) = told.strip_prefix('[')?.rsplit_once("] ")?;
    let mut found = match place::leading(inner) {
        Some(at) => DigestItem::named(at.rest).at(at.file, at.line, None),
        None => DigestItem::named(inner),
    };
    found.say(error);
    Some(found)
}
