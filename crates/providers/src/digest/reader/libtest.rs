//! What the test harness of Rust prints: `cargo test`, and a test binary on its own.

use std::collections::HashMap;

use super::super::facts::{Counts, DigestItem, Facts, Tool};
use super::super::place;
use super::router::{LineOwner, Reader};

/// How many blocks of failing tests of one run are kept.
const BLOCKS: usize = 5_000;
/// How many lines a panic's message is followed for.
const MESSAGE_LINES: u8 = 4;

/// Where in a run the stream is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Outside,
    /// `test … ok` lines.
    Tests,
    /// `---- NAME stdout ----` blocks.
    Blocks,
    /// The list of the names.
    Names,
}

/// The reader.
#[derive(Debug)]
pub struct Libtest {
    facts: Facts,
    state: State,
    announced: u64,
    blocks: HashMap<String, DigestItem>,
    block: Option<DigestItem>,
    names: Vec<String>,
    /// A panic that was printed outside of a block, with how many lines of its message may follow.
    panic: Option<(DigestItem, u8)>,
}

impl Libtest {
    /// At the beginning of a stream.
    pub fn new() -> Self {
        Self {
            facts: Facts::of(Tool::CargoTest),
            state: State::Outside,
            announced: 0,
            blocks: HashMap::new(),
            block: None,
            names: Vec::new(),
            panic: None,
        }
    }

    fn close_block(&mut self) {
        if let Some(block) = self.block.take()
            && let Some(name) = block.name.clone()
            && self.blocks.len() < BLOCKS
        {
            self.blocks.insert(name, block);
        }
    }

    fn close_panic(&mut self) {
        if let Some((panic, _)) = self.panic.take()
            && self.facts.places.len() < BLOCKS
        {
            self.facts.places.push(panic);
        }
    }

    /// A line of the block of a failing test.
    fn in_block(&mut self, line: &str) {
        let Some(block) = &mut self.block else { return };
        if let Some((_, at)) = panicked(line) {
            // The first panic is the cause; a test of the documentation has the place of its example already.
            if block.line.is_none() {
                match at {
                    PanicPlace::Before(found) => block.set_place(found.file, found.line, found.column),
                    PanicPlace::After(message, found) => {
                        block.set_place(found.file, found.line, found.column);
                        block.say(message);
                    }
                }
                if block.message.is_empty() {
                    self.panic = Some((DigestItem::default(), MESSAGE_LINES));
                }
            } else if block.message.is_empty() {
                self.panic = Some((DigestItem::default(), MESSAGE_LINES));
            }
            return;
        }
        if let Some((_, left)) = &mut self.panic {
            if *left == 0 || ends_message(line) {
                self.panic = None;
            } else {
                *left -= 1;
                block.say(line);
                return;
            }
        }
        if block.message.is_empty() {
            if let Some(rest) = line.strip_prefix("note: test did not panic as expected") {
                block.say("test did not panic as expected");
                if let Some(found) = rest.strip_prefix(" at ").and_then(place::whole) {
                    block.set_place(found.file, found.line, found.column);
                }
            } else if line.starts_with("Error: ") || line.starts_with("error") {
                block.say(line);
            }
        }
    }

    fn end_run(&mut self, result: &str) {
        self.close_block();
        self.state = State::Outside;
        self.facts.unfinished.0 -= 1;
        let count = |word| place::count_of(result.split_once(". ").map_or("", |(_, rest)| rest), word);
        let (Some(passed), Some(failed), Some(ignored)) =
            (count("passed"), count("failed"), count("ignored"))
        else {
            self.facts.doubt("a result of tests has another form");
            return;
        };
        if passed + failed + ignored + count("measured").unwrap_or(0) != self.announced {
            self.facts.doubt("other numbers of tests at the beginning and at the end");
        }
        if failed != self.names.len() as u64 {
            self.facts.doubt("not every failing test is named");
        }
        for name in self.names.drain(..) {
            let found = self.blocks.remove(&name).unwrap_or_else(|| DigestItem::named(&name));
            self.facts.failures.push(found);
        }
        self.blocks.clear();
        self.facts.declare(failed);
        let counts = Counts {
            passed: Some(passed),
            failed: Some(failed),
            skipped: Some(ignored),
            ..Counts::default()
        };
        self.facts.counts.add(counts);
        self.facts.ended = true;
    }
}

impl Reader for Libtest {
    fn line(&mut self, line: &str) -> LineOwner {
        if self.state == State::Outside {
            if let Some((panic, left)) = &mut self.panic {
                if *left > 0 && !ends_message(line) {
                    *left -= 1;
                    panic.say(line);
                    return LineOwner::Line;
                }
                self.close_panic();
            }
            if let Some(count) = beginning(line) {
                self.announced = count;
                self.state = State::Tests;
                self.facts.seen = true;
                self.facts.unfinished.0 += 1;
                self.names.clear();
                return LineOwner::Inside;
            }
            if line.starts_with("thread '")
                && let Some((name, at)) = panicked(line)
            {
                self.panic = Some(of_thread(name, &at));
                return LineOwner::Line;
            }
            return LineOwner::Pass;
        }
        if line.starts_with("test result: ") {
            self.panic = None;
            self.end_run(line);
            return LineOwner::Line;
        }
        if line == "failures:" {
            self.panic = None;
            self.close_block();
            self.state = if self.state == State::Tests { State::Blocks } else { State::Names };
            self.names.clear();
            return LineOwner::Inside;
        }
        match self.state {
            State::Blocks | State::Names => {
                if let Some(name) = line.strip_prefix("---- ").and_then(|line| line.strip_suffix(" ----")) {
                    self.panic = None;
                    self.close_block();
                    let name =
                        name.strip_suffix(" stdout").or_else(|| name.strip_suffix(" stderr")).unwrap_or(name);
                    self.state = State::Blocks;
                    self.block = Some(of_name(name));
                } else if self.block.is_some() && self.state == State::Blocks {
                    self.in_block(line);
                } else if let Some(name) = line.strip_prefix("    ").filter(|name| !name.is_empty()) {
                    // Without output of failing tests there is one list only.
                    if self.names.len() < BLOCKS {
                        self.names.push(name.to_owned());
                    }
                }
            }
            State::Outside | State::Tests => {
                if let Some((panic, left)) = &mut self.panic {
                    if *left > 0 && !ends_message(line) {
                        *left -= 1;
                        panic.say(line);
                        return LineOwner::Inside;
                    }
                    self.close_panic();
                }
                if line.contains("panicked at ")
                    && let Some((name, at)) = panicked(line)
                {
                    self.panic = Some(of_thread(name, &at));
                }
            }
        }
        LineOwner::Inside
    }

    fn finish(mut self: Box<Self>) -> Facts {
        self.close_panic();
        if self.facts.unfinished.0 > 0 {
            // The list of a run that did not end names nothing.
            self.names.clear();
        }
        self.facts
    }
}

fn beginning(line: &str) -> Option<u64> {
    let (count, rest) = place::number(line.strip_prefix("running ")?)?;
    matches!(rest, " tests" | " test").then_some(count)
}

fn ends_message(line: &str) -> bool {
    line.is_empty()
        || line.starts_with("note: ")
        || line.starts_with("stack backtrace:")
        || line.starts_with("thread '")
        || line.starts_with("test ")
}

/// Where a panic says it was.
enum PanicPlace<'a> {
    /// The place; the message follows on lines of its own.
    Before(place::TextLocation<'a>),
    /// The message before the place, as it was until Rust 1.72.
    After(&'a str, place::TextLocation<'a>),
}

/// Reads `thread 'NAME' (ID) panicked at FILE:LINE:COLUMN:`.
fn panicked(line: &str) -> Option<(&str, PanicPlace<'_>)> {
    let (before, after) = line.split_once(" panicked at ")?;
    let name = before.rsplit_once("thread '")?.1.rsplit_once('\'')?.0;
    if let Some(found) = after.strip_suffix(':').and_then(place::whole) {
        return Some((name, PanicPlace::Before(found)));
    }
    let (message, at) = after.rsplit_once(", ")?;
    Some((name, PanicPlace::After(message.trim_matches('\''), place::whole(at)?)))
}

fn of_thread(name: &str, at: &PanicPlace<'_>) -> (DigestItem, u8) {
    let mut found = DigestItem::named(name);
    match at {
        PanicPlace::Before(place) => {
            found.set_place(place.file, place.line, place.column);
            (found, MESSAGE_LINES)
        }
        PanicPlace::After(message, place) => {
            found.set_place(place.file, place.line, place.column);
            found.say(message);
            (found, 0)
        }
    }
}

/// Begins a block. An example of the documentation has its place in its name: `FILE - ITEM (line LINE)`.
fn of_name(name: &str) -> DigestItem {
    let found = DigestItem::named(name);
    let example = name.split_once(" - ").and_then(|(file, rest)| {
        let (line, after) = place::number(rest.rsplit_once("(line ")?.1)?;
        after.starts_with(')').then_some((file, line))
    });
    match example {
        Some((file, line)) => found.at(file, line, None),
        None => found,
    }
}
