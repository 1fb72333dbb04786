//! What the compiler of Rust, clippy and cargo print for people.

use super::super::facts::{Counts, DigestItem, Facts, Tool};
use super::super::place;
use super::router::{LineOwner, Reader};

/// What cargo puts before a line of progress, at the right of twelve columns.
const STATUS: &[&str] = &[
    "Adding",
    "Blocking",
    "Building",
    "Checking",
    "Compiling",
    "Dirty",
    "Doc-tests",
    "Documenting",
    "Downloaded",
    "Downloading",
    "Executable",
    "Finished",
    "Fixed",
    "Fresh",
    "Generated",
    "Locking",
    "Packaging",
    "Removed",
    "Running",
    "Scraping",
    "Summary",
    "Unpacking",
    "Updating",
    "Vendoring",
    "Verifying",
    "Waiting",
];

/// The reader.
#[derive(Debug)]
pub struct Cargo {
    facts: Facts,
    /// A diagnostic whose place has not come yet, and whether it is an error.
    open: Option<(DigestItem, bool)>,
    /// Whether the stream is in the lines below a diagnostic's first.
    body: bool,
    declared_warnings: u64,
    /// Whether cargo started a program of the project, whose output is nobody's.
    ran_a_program: bool,
    /// Whether lines of `Caused by:` may follow.
    cause: bool,
}

impl Cargo {
    /// At the beginning of a stream.
    pub fn new() -> Self {
        Self {
            facts: Facts::of(Tool::Rustc),
            open: None,
            body: false,
            declared_warnings: 0,
            ran_a_program: false,
            cause: false,
        }
    }

    fn cargo(&mut self) {
        self.facts.seen = true;
        self.facts.tool = Tool::Cargo;
    }

    fn close(&mut self) {
        self.body = false;
        match self.open.take() {
            Some((found, true)) => self.facts.failures.push(found),
            Some((found, false)) => self.facts.warnings.push(found),
            None => {}
        }
    }

    /// A line that begins with `error` or `warning`.
    fn header(&mut self, line: &str) -> LineOwner {
        let Some((is_error, message)) = diagnostic(line) else { return LineOwner::Pass };
        self.close();
        if let Some(errors) = previous_errors(message) {
            self.facts.seen = true;
            self.facts.ended = true;
            if message.starts_with("could not compile") {
                self.cargo();
            }
            self.facts.declare(errors);
            self.facts.summarize(message);
            return LineOwner::Line;
        }
        if is_error && (message.starts_with("test failed") || message.starts_with("doctest failed")) {
            self.cargo();
            self.facts.ended = true;
            self.cause = true;
            return LineOwner::Line;
        }
        if is_error && (message.ends_with(" targets failed:") || message.ends_with(" target failed:")) {
            self.cargo();
            return LineOwner::Line;
        }
        if !is_error && message.starts_with('`') && message.contains(" generated ") {
            self.cargo();
            self.declared_warnings += generated(message).unwrap_or(0);
            return LineOwner::Line;
        }
        if !is_error && message.starts_with("build failed, waiting") {
            return LineOwner::Line;
        }
        if !is_error && message.ends_with(" emitted") && message.contains(" warning") {
            self.facts.seen = true;
            self.facts.ended = true;
            self.facts.summarize(message);
            self.declared_warnings += place::number(message).map_or(0, |(count, _)| count);
            return LineOwner::Line;
        }
        self.open = Some((DigestItem::saying(line.strip_prefix("error: ").unwrap_or(line)), is_error));
        self.body = true;
        LineOwner::Inside
    }

    /// A line below the first of a diagnostic.
    fn in_body(&mut self, line: &str) -> LineOwner {
        if line.is_empty() {
            self.close();
            return LineOwner::Line;
        }
        let trimmed = line.trim_start();
        if let Some(at) = trimmed.strip_prefix("--> ") {
            let Some((found, _)) = &mut self.open else { return LineOwner::Inside };
            if found.line.is_none()
                && let Some(at) = place::whole(at)
            {
                found.set_place(at.file, at.line, at.column);
                self.facts.seen = true;
            }
            return LineOwner::Inside;
        }
        let first = line.as_bytes()[0];
        let belongs = matches!(first, b' ' | b'|' | b'.' | b'=' | b'0'..=b'9')
            || ["note: ", "help: ", "Caused by:", "location searched", "required by"]
                .iter()
                .any(|it| line.starts_with(it));
        if belongs {
            return LineOwner::Inside;
        }
        self.close();
        self.outside(line)
    }

    fn outside(&mut self, line: &str) -> LineOwner {
        match line.as_bytes().first() {
            Some(b'e' | b'w') if line.starts_with("error") || line.starts_with("warning") => {
                self.header(line)
            }
            Some(b'F' | b'S')
                if line.starts_with("For more information about this error, try `rustc")
                    || line.starts_with("For more information about an error, try `rustc")
                    || line.starts_with("Some errors have detailed explanations: E") =>
            {
                LineOwner::Line
            }
            Some(b'C') if self.cause && line == "Caused by:" => LineOwner::Line,
            Some(b' ') => self.status(line),
            _ => self.short(line),
        }
    }

    /// A line of progress, or what became of a test binary.
    fn status(&mut self, line: &str) -> LineOwner {
        let text = line.trim_start();
        if self.cause {
            if let Some(ended) = text.strip_prefix("process didn't exit successfully: `") {
                self.facts.unfinished.1 += 1;
                let mut found = DigestItem::saying("process didn't exit successfully");
                found.say(ended.rsplit_once("` ").map_or(ended, |(_, how)| how));
                self.facts.failures.push(found);
                self.facts.declare(1);
                return LineOwner::Line;
            }
            if text.starts_with('`') {
                return LineOwner::Line;
            }
        }
        let Some((word, rest)) = text.split_once(' ') else { return self.short(line) };
        // Twelve columns, so that the words of running text are not taken for it.
        let column = line.len() - text.len() + word.len();
        if column != 12 || !STATUS.contains(&word) {
            return self.short(line);
        }
        self.cargo();
        match word {
            "Finished" => {
                self.facts.ended = true;
                self.facts.summarize(text);
            }
            "Running" if rest.starts_with('`') => self.ran_a_program = true,
            _ => {}
        }
        LineOwner::Line
    }

    /// A diagnostic of `--message-format short`.
    fn short(&mut self, line: &str) -> LineOwner {
        if memchr::memmem::find(line.as_bytes(), b".rs:").is_none() {
            return LineOwner::Pass;
        }
        let Some(at) = place::leading(line).filter(|at| at.file.ends_with(".rs")) else {
            return LineOwner::Pass;
        };
        let Some((is_error, message)) = diagnostic(at.rest) else { return LineOwner::Pass };
        let said = if is_error && at.rest.starts_with("error: ") { message } else { at.rest };
        let found = DigestItem::saying(said).at(at.file, at.line, at.column);
        self.facts.seen = true;
        if is_error {
            self.facts.failures.push(found);
        } else {
            self.facts.warnings.push(found);
        }
        LineOwner::Line
    }
}

impl Reader for Cargo {
    fn line(&mut self, line: &str) -> LineOwner {
        if self.body { self.in_body(line) } else { self.outside(line) }
    }

    fn finish(mut self: Box<Self>) -> Facts {
        self.close();
        let facts = &mut self.facts;
        if self.ran_a_program {
            facts.doubt("a program of the project ran");
        }
        // What cargo itself refuses, it says once, and counts nothing.
        if facts.declared.is_none() && !facts.failures.is_empty() && facts.seen {
            facts.ended = true;
        }
        if facts.seen {
            let warnings =
                if self.declared_warnings > 0 { self.declared_warnings } else { facts.warnings.total };
            if facts.warnings.total < warnings {
                facts.doubt("not every warning was read");
            }
            let errors = facts.failures.total;
            facts.counts.add(Counts {
                errors: (errors > 0).then_some(errors),
                warnings: (warnings > 0).then_some(facts.warnings.total),
                ..Counts::default()
            });
        }
        self.facts
    }
}

/// Reads `error: …`, `error[E0308]: …`, `warning: …`.
fn diagnostic(line: &str) -> Option<(bool, &str)> {
    let (is_error, rest) = match line.strip_prefix("error") {
        Some(rest) => (true, rest),
        None => (false, line.strip_prefix("warning")?),
    };
    if let Some(message) = rest.strip_prefix(": ") {
        return Some((is_error, message));
    }
    let (_, message) = rest.strip_prefix('[')?.split_once("]: ")?;
    Some((is_error, message))
}

/// Reads how many errors there were from `could not compile … due to 2 previous errors`, `aborting due to …`.
fn previous_errors(message: &str) -> Option<u64> {
    if !message.starts_with("could not compile `") && !message.starts_with("aborting due to ") {
        return None;
    }
    let (_, rest) = message.split_once("due to ")?;
    if rest.starts_with("previous error") || rest.starts_with("one previous error") {
        return Some(1);
    }
    let (count, rest) = place::number(rest)?;
    rest.starts_with(" previous error").then_some(count)
}

/// Reads how many warnings of a crate were shown.
fn generated(message: &str) -> Option<u64> {
    let (count, rest) = place::number(message.split_once(" generated ")?.1)?;
    let again = rest.split_once('(').and_then(|(_, rest)| place::number(rest));
    let again = again.filter(|(_, rest)| rest.starts_with(" duplicate")).map_or(0, |(again, _)| again);
    Some(count.saturating_sub(again))
}
