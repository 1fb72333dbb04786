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

/// Creates a conflict with the file as it is.
pub fn conflict(name: Name, rule: &str, message: String) -> Failure {
    Failure::new(ErrorCode::Conflict, message).detail("rule", rule).detail(name.kind_key(), name.number)
}

/// Creates a refusal of the edit itself.
pub fn refused(name: Name, rule: &str, message: String) -> Failure {
    Failure::new(ErrorCode::InvalidRequest, message).detail("rule", rule).detail(name.kind_key(), name.number)
}

impl Name {
    fn kind_key(self) -> &'static str {
        if self.kind == "hunk" { "hunk" } else { "edit" }
    }
}

/// The most failures of one call that are shown.
const SHOWN_FAILURES: usize = 20;
/// How many bytes of places all failures of one call show.
const SHOWN_FAILURES_BYTES: usize = 16_000;
/// What shows the lines of a file.
const PLACES: [&str; 6] = ["nearest", "places", "lines", "base", "yours", "theirs"];

/// Collects what becomes of many edits, so that a failure names all that do not fit.
#[derive(Debug, Default)]
pub struct Failures(Vec<Failure>);

impl Failures {
    /// Takes what came of one edit.
    ///
    /// # Errors
    /// What ends all work at once, and all failures together when there are too many.
    pub fn take<T>(&mut self, result: Result<T, Failure>) -> Result<Option<T>, Failure> {
        match result {
            Ok(value) => Ok(Some(value)),
            Err(failure) if matches!(failure.code, ErrorCode::Timeout | ErrorCode::Cancelled) => Err(failure),
            Err(failure) => {
                self.0.push(failure);
                if self.0.len() < SHOWN_FAILURES {
                    Ok(None)
                } else {
                    Err(joined(std::mem::take(&mut self.0), true))
                }
            }
        }
    }

    /// # Errors
    /// All failures, if there are any.
    pub fn check(self) -> Result<(), Failure> {
        if self.0.is_empty() { Ok(()) } else { Err(joined(self.0, false)) }
    }
}

/// Creates one failure of several: the first one, with all of them in `details.failures`.
fn joined(failures: Vec<Failure>, more: bool) -> Failure {
    let mut all: Vec<Value> = Vec::new();
    for failure in &failures {
        match failure.details.get("failures").and_then(Value::as_array) {
            Some(several) => all.extend(several.iter().cloned()),
            None => {
                let mut entry = failure.details.clone();
                entry.insert("message".to_owned(), failure.message.clone().into());
                all.push(Value::Object(entry));
            }
        }
    }
    let mut failures = failures.into_iter();
    let Some(mut first) = failures.next() else { return Failure::new(ErrorCode::Conflict, "no edit fits") };
    if all.len() < 2 {
        return first;
    }
    let left_out = all.len().saturating_sub(SHOWN_FAILURES);
    all.truncate(SHOWN_FAILURES);
    let mut room = SHOWN_FAILURES_BYTES;
    for entry in &mut all {
        let Some(entry) = entry.as_object_mut() else { continue };
        for key in PLACES {
            let size = entry.get(key).map_or(0, |value| value.to_string().len());
            if size > room {
                entry.remove(key);
            }
            room = room.saturating_sub(size);
        }
    }
    if !first.details.contains_key("failures") {
        for hint in failures.flat_map(|failure| failure.hints) {
            if !first.hints.contains(&hint) {
                first.hints.push(hint);
            }
        }
    }
    let count = all.len() + left_out - 1;
    let more = if more { " at least" } else { "" };
    let plural = if count == 1 { "edit does" } else { "edits do" };
    let message = all[0].get("message").and_then(Value::as_str).unwrap_or_default();
    first.message = format!("{message};{more} {count} more {plural} not fit (`details.failures`)");
    first.details.insert("failures".to_owned(), all.into());
    first
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
        Doubt::Unread => (
            "nobody has read the file here: it may be the text of another place",
            "Read the file by file.read, and copy the old text as it is there, with its indentation.",
        ),
        Doubt::Outdated => {
            ("the file was changed since it was read", "Read the file again, and copy the old text from it.")
        }
        Doubt::Done => (
            "it is within the new text, which is there already",
            "Read the file: the edit was made before. To make it again there, copy the old text from the file.",
        ),
    };
    conflict(
        name,
        "weak-match",
        format!("{name}: its old text is in the file only with other blanks or signs, and {why}"),
    )
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
    conflict(name, "ambiguous", format!("{name}: it fits {found} places, and nothing shows which is meant"))
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

#[cfg(test)]
mod tests {
    use bailiwick_contract::Cancel;

    use super::super::{Basis, Edits, TextEdit, apply};
    use super::*;

    fn failure(file: &str, olds: &[&str]) -> Failure {
        let edits: Vec<TextEdit> = olds
            .iter()
            .enumerate()
            .map(|(at, old)| TextEdit {
                number: at + 1,
                old: (*old).to_owned(),
                new: "x".to_owned(),
                expect: 1,
            })
            .collect();
        let cancel = Cancel::after(std::time::Duration::from_secs(3_600));
        let text = Text::new(file.to_owned());
        apply(&text, Edits::Texts(&edits), Basis::Unknown, &cancel)
            .map(|it| it.text)
            .expect_err("one does not fit")
    }

    #[test]
    fn every_edit_that_does_not_fit_is_named_with_its_places() {
        let one = failure("first line\nsecond line\nfirst line\n", &["second line", "no such line at all"]);
        assert!(!one.details.contains_key("failures"), "{one:?}");
        let all = failure(
            "first line\nsecond line\nfirst line\n",
            &["second lime", "second line", "first line", ""],
        );
        assert_eq!(all.rule(), Some("no-match"));
        assert_eq!(
            all.message,
            "edit 1: its old text is nowhere in the file; 2 more edits do not fit (`details.failures`)"
        );
        let parts = all.details["failures"].as_array().expect("a list");
        let of = |key: &str| parts.iter().map(|it| it[key].clone()).collect::<Vec<_>>();
        assert_eq!(of("edit"), [1, 3, 4].map(Value::from));
        assert_eq!(of("rule"), ["no-match", "match-count", "empty-old"].map(Value::from));
        assert_eq!(parts[0]["nearest"][0]["startLine"], 2);
        assert_eq!(parts[1]["places"].as_array().map(Vec::len), Some(2));
        assert!(all.hints.len() >= 3, "{:?}", all.hints);
    }

    #[test]
    fn no_more_failures_are_shown_than_can_be_read() {
        let long = format!("{}\n", "a long line of the file ".repeat(30));
        let old = long.replace("file ", "text ");
        let all = failure(&long.repeat(20), &vec![old.as_str(); 60]);
        let parts = all.details["failures"].as_array().expect("a list");
        assert_eq!(parts.len(), SHOWN_FAILURES);
        assert!(all.message.contains("at least 19 more edits"), "{}", all.message);
        let size: usize = parts.iter().map(|it| it.to_string().len()).sum();
        assert!(size < SHOWN_FAILURES_BYTES * 2, "{size}");
    }
}
