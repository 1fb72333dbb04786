//! What RSpec's formatters for people print.

use super::super::facts::{Counts, DigestItem, Facts, Tool};
use super::super::place;
use super::router::{LineOwner, Reader};

/// Where the stream is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Outside,
    /// After `Failures:`.
    Failures,
    /// In a file that could not be loaded.
    Loading,
    /// After `Finished in`.
    Finished,
    /// After `Failed examples:`.
    Reruns,
}

/// The reader.
#[derive(Debug)]
pub struct Rspec {
    facts: Facts,
    state: State,
    block: Option<DigestItem>,
    /// Whether the place is one of the specs' own.
    placed: bool,
    read: u64,
    outside: u64,
}

impl Rspec {
    /// At the beginning of a stream.
    pub fn new() -> Self {
        Self {
            facts: Facts::of(Tool::Rspec),
            state: State::Outside,
            block: None,
            placed: false,
            read: 0,
            outside: 0,
        }
    }

    fn close(&mut self) {
        if let Some(found) = self.block.take() {
            self.facts.failures.push(found);
        }
        self.placed = false;
    }

    /// `  2) Cart is empty`, in their order.
    fn begins(&mut self, line: &str) -> bool {
        let Some((number, name)) = line.strip_prefix("  ").and_then(place::number) else { return false };
        let Some(name) = name.strip_prefix(") ").filter(|_| number == self.read + 1) else { return false };
        self.close();
        self.read = number;
        self.block = Some(DigestItem::named(name));
        true
    }

    fn in_block(&mut self, line: &str) {
        let Some(found) = &mut self.block else { return };
        let text = line.trim();
        let frame = text.strip_prefix("# ").and_then(|frame| {
            let frame = frame.split_once(":in ").map_or(frame, |(frame, _)| frame);
            place::whole(frame)
        });
        match frame {
            Some(at) if !self.placed && (found.line.is_none() || is_own(at.file)) => {
                self.placed = is_own(at.file);
                found.set_place(at.file, at.line, None);
            }
            Some(_) => {}
            None if found.line.is_none() => found.say(text.strip_prefix("Failure/Error: ").unwrap_or(text)),
            None => {}
        }
    }

    /// `6 examples, 4 failures, 1 pending, 1 error occurred outside of examples`.
    fn counts(&mut self, line: &str) -> bool {
        let examples = place::count_of(line, "examples").or_else(|| place::count_of(line, "example"));
        let failed = place::count_of(line, "failures").or_else(|| place::count_of(line, "failure"));
        let (Some(examples), Some(failed)) = (examples, failed) else { return false };
        let errors = place::count_of(line, "errors").or_else(|| place::count_of(line, "error")).unwrap_or(0);
        let pending = place::count_of(line, "pending").unwrap_or(0);
        self.facts.seen = true;
        self.facts.ended = true;
        self.facts.summarize(line);
        self.facts.declare(failed + errors);
        self.facts.counts.add(Counts {
            passed: Some(examples.saturating_sub(failed + pending)),
            failed: (failed > 0).then_some(failed),
            errors: (errors > 0).then_some(errors),
            skipped: (pending > 0).then_some(pending),
            warnings: None,
        });
        if failed != self.read || errors != self.outside {
            self.facts.doubt("other numbers of failures in the list and at the end");
        }
        (self.read, self.outside) = (0, 0);
        true
    }
}

impl Reader for Rspec {
    fn line(&mut self, line: &str) -> LineOwner {
        let outside = line.strip_prefix("An error occurred ").and_then(|rest| rest.strip_suffix('.'));
        if let (Some(rest), State::Outside | State::Loading | State::Failures) = (outside, self.state)
            && (rest.starts_with("while loading ") || rest.starts_with("in "))
        {
            self.close();
            self.outside += 1;
            let file = rest.strip_prefix("while loading ").map(ToOwned::to_owned);
            self.block = Some(DigestItem { file, ..DigestItem::default() });
            self.state = State::Loading;
            self.facts.seen = true;
            return LineOwner::Inside;
        }
        match self.state {
            State::Outside if line == "Failures:" => {
                self.state = State::Failures;
                LineOwner::Inside
            }
            State::Outside | State::Failures | State::Loading if line.starts_with("Finished in ") => {
                self.close();
                self.state = State::Finished;
                LineOwner::Inside
            }
            State::Outside => LineOwner::Pass,
            State::Failures => {
                if !self.begins(line) {
                    if self.read == 0 && !line.is_empty() {
                        // Another tool's heading.
                        self.state = State::Outside;
                        return LineOwner::Pass;
                    }
                    self.in_block(line);
                }
                LineOwner::Inside
            }
            State::Loading => {
                if line == "Failures:" {
                    self.close();
                    self.state = State::Failures;
                } else {
                    self.in_block(line);
                }
                LineOwner::Inside
            }
            State::Finished => {
                if line.is_empty() {
                    return LineOwner::Inside;
                }
                let is_counts = self.counts(line);
                self.state = if is_counts { State::Reruns } else { State::Outside };
                if is_counts { LineOwner::Inside } else { LineOwner::Pass }
            }
            State::Reruns => {
                let belongs = line.is_empty()
                    || line == "Failed examples:"
                    || line.starts_with("rspec ")
                    || line.starts_with("Randomized with seed ");
                if belongs {
                    return LineOwner::Inside;
                }
                self.state = State::Outside;
                LineOwner::Pass
            }
        }
    }

    fn finish(mut self: Box<Self>) -> Facts {
        self.close();
        if self.read + self.outside > 0 {
            self.facts.seen = true;
            self.facts.doubt("the output breaks off");
        }
        self.facts
    }
}

/// Returns whether a file is one of the specs.
fn is_own(file: &str) -> bool {
    file.ends_with("_spec.rb") || file.starts_with("./spec/")
}
