//! The refusals of edits: what did not fit, and what is there instead.

use serde_json::{Value, json};

use bailiwick_contract::{ErrorCode, Failure};

use super::anchor::anchor;
use super::evidence::Doubt;
use super::nearest::nearest;
use super::text::{Text, body};

/// How many lines of one place are shown.
const SHOWN_LINES: usize = 12;
/// How many bytes of one line are shown.
const SHOWN_BYTES: usize = 240;
/// How many places are shown.
const SHOWN_PLACES: usize = 8;

/// Names an edit in messages: what it is called and its number.
#[derive(Debug, Clone, Copy)]
pub struct Name {
    /// `edit`, `hunk` or `line edit`.
    pub kind: &'static str,
    /// Its number in the request, counted from 1.
    pub number: usize,
}

impl std::fmt::Display for Name {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.kind, self.number)
    }
}

/// Makes a conflict with the file as it is.
pub fn conflict(name: Name, rule: &str, message: String) -> Failure {
    Failure::new(ErrorCode::Conflict, message).detail("rule", rule).detail(name.kind_key(), name.number)
}

/// Makes a refusal of the edit itself.
pub fn refused(name: Name, rule: &str, message: String) -> Failure {
    Failure::new(ErrorCode::InvalidRequest, message).detail("rule", rule).detail(name.kind_key(), name.number)
}

impl Name {
    fn kind_key(self) -> &'static str {
        if self.kind == "hunk" { "hunk" } else { "edit" }
    }
}

/// Says that old text fits nowhere, with the nearest places.
pub fn no_match(name: Name, text: &Text, old: &[&str]) -> Failure {
    let found = nearest(text, old);
    let failure = conflict(name, "no-match", format!("{name}: its old text is nowhere in the file"));
    if found.is_empty() {
        return failure.hint("Read the file again, and copy the old text from it.");
    }
    let places: Vec<Value> = found.iter().map(|at| place(text, *at, old.len())).collect();
    failure
        .detail("nearest", places)
        .hint("`details.nearest` shows the likeliest places as they are now: copy the old text from there.")
}

/// Says that old text is there with another indentation only, which is too little to go by.
pub fn weak_match(name: Name, text: &Text, start: usize, old: &[&str], doubt: Doubt) -> Failure {
    let (why, hint) = match doubt {
        Doubt::Little => (
            "says too little to be sure of the place",
            "Copy the old text as it is in the file, with its indentation, or add lines around it.",
        ),
        Doubt::Outdated => (
            "the file was changed since it was read",
            "Read the file again, and copy the old text from it.",
        ),
    };
    conflict(name, "weak-match", format!("{name}: its old text is in the file only with other blanks or signs, and {why}"))
        .detail("nearest", vec![place(text, start, old.len())])
        .hint(hint)
}

/// Says that old text fits in other than the expected number of places.
pub fn wrong_count(name: Name, text: &Text, starts: &[usize], lines: usize, expected: usize) -> Failure {
    let found = starts.len();
    let message = format!("{name}: its old text is in {found} places, and {expected} was expected");
    conflict(name, "match-count", message)
        .detail("found", found)
        .detail("expected", expected)
        .detail("places", places(text, starts, lines))
        .hint("Add lines around it to the old text until only the place that is meant fits.")
        .hint(format!("Set `expect` to {found} to change every one of them."))
}

/// Says that a hunk fits several places, and nothing decides between them.
pub fn ambiguous(name: Name, text: &Text, starts: &[usize], lines: usize) -> Failure {
    let found = starts.len();
    conflict(name, "ambiguous", format!("{name}: it fits {found} places, and nothing tells which is meant"))
        .detail("found", found)
        .detail("places", places(text, starts, lines))
        .hint("Add more lines of context, until only the place that is meant fits.")
        .hint("Set `options.ifVersion` to the version that the patch was made for: its line numbers then decide.")
}

fn places(text: &Text, starts: &[usize], lines: usize) -> Vec<Value> {
    starts.iter().take(SHOWN_PLACES).map(|at| place(text, *at, lines.min(3))).collect()
}

/// Shows a place: its lines, each with its anchor.
pub fn place(text: &Text, start: usize, lines: usize) -> Value {
    let end = (start + lines.clamp(1, SHOWN_LINES)).min(text.len());
    json!({"startLine": start + 1, "endLine": end, "lines": anchored(text, start, end)})
}

/// Shows lines, each with its anchor; long lines are cut.
pub fn anchored(text: &Text, start: usize, end: usize) -> String {
    let mut shown = String::new();
    for index in start..end.min(text.len()) {
        let line = body(text.line(index));
        let cut = &line[..line.floor_char_boundary(SHOWN_BYTES)];
        shown.push_str(&anchor(index as u64 + 1, line));
        shown.push('|');
        shown.push_str(cut);
        shown.push_str(if cut.len() < line.len() { "…\n" } else { "\n" });
    }
    shown
}
