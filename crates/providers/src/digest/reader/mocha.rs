//! What Mocha's reporters for people print at the end.

use super::super::facts::{Counts, DigestItem, Facts, Tool};
use super::super::place;
use super::router::{LineOwner, Reader};

/// Where the stream is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Outside,
    /// After `N passing`.
    Counts,
    /// In the titles of a failing test.
    Titles,
    /// Below them.
    Below,
}

/// The reader.
#[derive(Debug)]
pub struct Mocha {
    facts: Facts,
    state: State,
    failing: u64,
    read: u64,
    titles: Vec<String>,
    found: DigestItem,
}

impl Mocha {
    /// At the beginning of a stream.
    pub fn new() -> Self {
        Self {
            facts: Facts::of(Tool::Mocha),
            state: State::Outside,
            failing: 0,
            read: 0,
            titles: Vec::new(),
            found: DigestItem::default(),
        }
    }

    fn end_titles(&mut self) {
        let name = self.titles.join(" ");
        self.titles.clear();
        self.found = DigestItem::named(name.strip_suffix(':').unwrap_or(&name));
        self.state = State::Below;
    }

    fn close(&mut self) {
        if self.state == State::Titles {
            self.end_titles();
        }
        if self.state == State::Below {
            self.facts.failures.push(std::mem::take(&mut self.found));
        }
        self.state = State::Counts;
    }

    /// The first line of the next failing test: `  2) title`.
    fn begins(&mut self, line: &str) -> bool {
        let Some((number, title)) = line.strip_prefix("  ").and_then(place::number) else { return false };
        let Some(title) = title.strip_prefix(") ") else { return false };
        if number != self.read + 1 || number > self.failing {
            return false;
        }
        self.close();
        self.read = number;
        self.titles.push(title.to_owned());
        self.state = State::Titles;
        true
    }

    fn below(&mut self, line: &str) {
        let text = line.trim();
        if text.starts_with("at ") {
            if self.found.line.is_none()
                && let Some(at) = place::of_script_frame(text)
                && !place::is_foreign(at.file)
            {
                self.found.set_place(at.file, at.line, at.column);
            }
        } else if self.found.message.is_empty() {
            self.found.say(text);
        }
    }
}

impl Reader for Mocha {
    fn line(&mut self, line: &str) -> LineOwner {
        match self.state {
            State::Outside => {
                if line.starts_with("  ")
                    && let Some((count, rest)) = place::number(&line[2..])
                    && rest.starts_with(" passing (")
                {
                    self.facts.seen = true;
                    self.facts.ended = true;
                    self.facts.summarize(line);
                    Counts::more(&mut self.facts.counts.passed, count);
                    (self.state, self.failing, self.read) = (State::Counts, 0, 0);
                    return LineOwner::Inside;
                }
                let text = line.trim_start();
                if text.len() < line.len() && (text.starts_with("✔ ") || text.starts_with("✓ ")) {
                    return LineOwner::Line;
                }
                LineOwner::Pass
            }
            State::Counts => {
                if line.is_empty() || self.begins(line) {
                    return LineOwner::Inside;
                }
                if let Some((count, word)) = line.strip_prefix("  ").and_then(place::number) {
                    match word {
                        " pending" => {
                            self.facts.summarize(line);
                            Counts::more(&mut self.facts.counts.skipped, count);
                            return LineOwner::Inside;
                        }
                        " failing" => {
                            self.facts.summarize(line);
                            Counts::more(&mut self.facts.counts.failed, count);
                            self.facts.declare(count);
                            self.failing = count;
                            return LineOwner::Inside;
                        }
                        _ => {}
                    }
                }
                self.state = State::Outside;
                LineOwner::Pass
            }
            State::Titles => {
                let indent = 5 + 2 * self.titles.len();
                let belongs = line.len() > indent
                    && line.as_bytes()[..indent].iter().all(|byte| *byte == b' ')
                    && self.titles.len() < 100;
                if belongs {
                    self.titles.push(line[indent..].to_owned());
                } else {
                    self.end_titles();
                    self.below(line);
                }
                LineOwner::Inside
            }
            State::Below => {
                if self.begins(line) {
                    return LineOwner::Inside;
                }
                // What is not indented any more is somebody else's, once the last failure is read.
                let is_last = self.read == self.failing && self.found.line.is_some();
                if is_last && !line.is_empty() && !line.starts_with(' ') {
                    self.close();
                    self.state = State::Outside;
                    return LineOwner::Pass;
                }
                self.below(line);
                LineOwner::Inside
            }
        }
    }

    fn finish(mut self: Box<Self>) -> Facts {
        if matches!(self.state, State::Titles | State::Below) {
            self.close();
        }
        self.facts
    }
}
