//! What most compilers and linters print: `FILE:LINE:COLUMN: severity: message`. This reader comes last, so that those
//! who know a tool better go first.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use super::super::facts::{Counts, DigestItem, Facts, Tool};
use super::super::place::{self, TextLocation};
use super::router::{LineOwner, Reader};

/// How many different diagnostics are told apart.
const KNOWN: usize = 20_000;
/// How many lines of a source and of explanation may follow a diagnostic.
const SHOWN: u8 = 12;

/// The reader.
#[derive(Debug)]
pub struct Diagnostics {
    facts: Facts,
    known: HashSet<u64>,
    last: Option<(DigestItem, bool)>,
    /// How many lines may follow, and whether the next one may begin in any way, as a line of Java does.
    shown: (u8, bool),
    errors: u64,
    warnings: u64,
    /// How many errors in files of Java there were, and how many javac says.
    java: (u64, u64),
    /// How many errors javac says that it does not show.
    hidden: u64,
}

impl Diagnostics {
    /// At the beginning of a stream.
    pub fn new() -> Self {
        Self {
            facts: Facts::of(Tool::Compiler),
            known: HashSet::new(),
            last: None,
            shown: (0, false),
            errors: 0,
            warnings: 0,
            java: (0, 0),
            hidden: 0,
        }
    }

    fn close(&mut self) {
        let Some((found, is_error)) = self.last.take() else { return };
        let mut hasher = DefaultHasher::new();
        (&found.file, found.line, found.column, &found.message, is_error).hash(&mut hasher);
        if self.known.len() < KNOWN && !self.known.insert(hasher.finish()) {
            return;
        }
        if is_error {
            self.errors += 1;
            self.facts.failures.push(found);
        } else {
            self.warnings += 1;
            self.facts.warnings.push(found);
        }
    }

    fn diagnostic(&mut self, line: &str) -> bool {
        let (at, is_error, message) = match of_kotlin(line).or_else(|| of_severity(line)) {
            Some((at, Some(is_error), message)) => (at, is_error, message),
            // A note.
            Some((_, None, _)) if self.facts.seen => {
                self.shown = (SHOWN, false);
                return true;
            }
            _ => return false,
        };
        self.close();
        self.facts.seen = true;
        self.facts.weak = true;
        let is_java = at.file.ends_with(".java");
        self.java.0 += u64::from(is_java && is_error);
        self.shown = (SHOWN, is_java);
        self.last = Some((DigestItem::saying(message).at(at.file, at.line, at.column), is_error));
        true
    }

    /// `3 errors`, `1 warning`, and that some are not shown.
    fn count(&mut self, line: &str) -> bool {
        if self.java.0 > 0
            && let Some(told) = line.strip_prefix("only showing the first ")
            && let Some((_, all)) = told.split_once(" errors, of ")
            && let Some((all, " total; use -Xmaxerrs if you would like to see more")) = place::number(all)
        {
            self.hidden += all.saturating_sub(self.java.1);
            self.facts.summarize(line);
            return true;
        }
        match place::number(line) {
            Some((count, " error" | " errors")) if self.java.0 > 0 => {
                self.java.1 += count;
                self.facts.summarize(line);
                true
            }
            Some((_, " warning" | " warnings")) => self.facts.seen,
            _ => false,
        }
    }

    /// A line of the source, the mark below it, or an explanation.
    fn follows(&mut self, line: &str) -> bool {
        let (left, any) = self.shown;
        let is_margin = place::number(line).is_some_and(|(_, rest)| rest.trim_start().starts_with('|'));
        let belongs = left > 0 && !line.is_empty() && (any || line.starts_with([' ', '\t']) || is_margin);
        if !belongs {
            self.shown = (0, false);
            return false;
        }
        self.shown = (left - 1, false);
        let text = line.trim();
        if let Some((found, _)) = &mut self.last
            && ["symbol:", "location:", "required:", "found:", "reason:"]
                .iter()
                .any(|it| text.starts_with(it))
        {
            found.say(&text.split_whitespace().collect::<Vec<_>>().join(" "));
        }
        true
    }
}

impl Reader for Diagnostics {
    fn line(&mut self, line: &str) -> LineOwner {
        let has_colon = memchr::memchr(b':', line.as_bytes()).is_some();
        let is_own = (has_colon && self.diagnostic(line)) || self.count(line) || self.follows(line);
        if is_own { LineOwner::Line } else { LineOwner::Pass }
    }

    fn finish(mut self: Box<Self>) -> Facts {
        self.close();
        let mut facts = self.facts;
        facts.ended = facts.seen;
        facts.failures.total += self.hidden;
        if self.java.0 != self.java.1 {
            facts.doubt("other numbers of errors in the list and at the end");
        }
        if facts.seen {
            let errors = self.errors + self.hidden;
            facts.counts = Counts {
                errors: (errors > 0).then_some(errors),
                warnings: (self.warnings > 0).then_some(self.warnings),
                ..Counts::default()
            };
        }
        facts
    }
}

/// A place, whether it is an error (none for a note), and the message.
type Diagnostic<'a> = (TextLocation<'a>, Option<bool>, &'a str);

fn of_severity(line: &str) -> Option<Diagnostic<'_>> {
    let at = place::leading(line).filter(|at| is_file(at.file))?;
    for (severity, is_error) in [
        ("error: ", Some(true)),
        ("fatal error: ", Some(true)),
        ("Error: ", Some(true)),
        ("ERROR: ", Some(true)),
        ("warning: ", Some(false)),
        ("Warning: ", Some(false)),
        ("WARNING: ", Some(false)),
        ("note: ", None),
    ] {
        if let Some(message) = at.rest.strip_prefix(severity) {
            return Some((at, is_error, message));
        }
    }
    None
}

/// Reads what the compiler of Kotlin prints: `e: file:///FILE:LINE:COLUMN message`, and `e: FILE: (LINE, COLUMN): message`.
fn of_kotlin(line: &str) -> Option<Diagnostic<'_>> {
    let (is_error, rest) = match (line.strip_prefix("e: "), line.strip_prefix("w: ")) {
        (Some(rest), _) => (true, rest),
        (None, Some(rest)) => (false, rest),
        (None, None) => return None,
    };
    if let Some(path) = rest.strip_prefix("file://") {
        let (place, message) = path.split_at(path.find(" ")?);
        let at = place::whole(place.trim_end_matches(':')).filter(|at| is_file(at.file))?;
        return Some((at, Some(is_error), message.trim_start()));
    }
    let (file, rest) = rest.split_once(": (")?;
    let (line, rest) = place::number(rest)?;
    let (column, rest) = place::number(rest.strip_prefix(", ")?)?;
    let message = rest.strip_prefix("): ")?;
    is_file(file).then_some((
        TextLocation { file, line, column: Some(column), rest: message },
        Some(is_error),
        message,
    ))
}

/// Returns whether a text looks like the name of a source: with an ending, and without what is in sentences and addresses.
fn is_file(file: &str) -> bool {
    let name = file.rsplit(['/', '\\']).next().unwrap_or(file);
    let Some((stem, ending)) = name.rsplit_once('.') else { return false };
    !stem.is_empty()
        && (1..=12).contains(&ending.len())
        && ending.bytes().all(|it| it.is_ascii_alphanumeric())
        && ending.bytes().any(|it| it.is_ascii_alphabetic())
        && !file.contains("://")
        && !file.contains(": ")
        && !file.starts_with([' ', '\t'])
}
