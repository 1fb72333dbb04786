//! The parse check of the operations that write text: errors that a change brings are said, or stop it.

use std::time::{Duration, Instant};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::registry::Context;
use bailiwick_contract::{Capability, ErrorCode, Failure};
use bailiwick_policy::Permit;
use bailiwick_providers::parser::ParserPool;
use bailiwick_providers::syntax::{Fault, Language, Region, Side, SyntaxInput};

/// How long a check may take that only reports.
const REPORT_TIME: Duration = Duration::from_secs(1);
/// How long a check may take that decides.
const REFUSE_TIME: Duration = Duration::from_secs(3);
/// How many errors of one file are told.
const MAX_TOLD: usize = 10;

/// What happens with syntax errors that a change brings.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Check {
    /// They are reported.
    #[default]
    Report,
    /// Nothing is written. A file that cannot be checked is not written either.
    Refuse,
    /// They are not looked for.
    Off,
}

/// What the parse check says of a file; left out where it has nothing to say.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Syntax {
    /// The language, as the file's name tells.
    pub language: &'static str,
    /// The errors that the file has now and did not have before, at most 10.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<SyntaxError>,
    /// How many more errors there are than `errors` tells.
    #[serde(skip_serializing_if = "is_zero")]
    pub more: usize,
    /// How many errors the file had before and has no more.
    #[serde(skip_serializing_if = "is_zero")]
    pub repaired: usize,
    /// Why it could not be checked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_checked: Option<&'static str>,
}

/// A syntax error.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct SyntaxError {
    /// The line, counted from 1.
    pub line: usize,
    /// The column in characters, counted from 1.
    pub column: usize,
    /// What is wrong.
    pub message: String,
    /// The text of the line from there on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes fields by reference")]
fn is_zero(number: &usize) -> bool {
    *number == 0
}

/// A file that is about to be written.
pub struct Subject<'a> {
    /// Its path.
    pub path: String,
    /// Its text, and the version that this is; `None` for a new file.
    pub before: Option<Side<'a>>,
    /// The text that it gets.
    pub after: Side<'a>,
    /// The lines that change; empty if they are not known.
    pub regions: Vec<Region>,
}

/// Does the work that writes files, checks them, and warns. What is only reported is checked meanwhile.
///
/// Returns one entry for each subject.
///
/// # Errors
/// Those of the work; `invalid_request` for errors of syntax, if they are to be refused.
pub fn around<T>(
    cx: &Context,
    permit: &Permit,
    check: Check,
    subjects: &[Subject<'_>],
    work: impl FnOnce() -> Result<T, Failure>,
) -> Result<(T, Vec<Option<Syntax>>), Failure> {
    if check == Check::Off || !subjects.iter().any(|it| has_grammar(&it.path)) {
        return Ok((work()?, vec![None; subjects.len()]));
    }
    let told = may_read(permit);
    let (done, found) = if check == Check::Refuse {
        let found = all(&cx.service.parsers, subjects, REFUSE_TIME, told);
        refuse(subjects, &found)?;
        (work()?, found)
    } else {
        std::thread::scope(|scope| {
            let checking = scope.spawn(|| all(&cx.service.parsers, subjects, REPORT_TIME, told));
            let done = work();
            // A check that fails takes nothing back of what was done.
            done.map(|done| (done, checking.join().unwrap_or_else(|_| vec![None; subjects.len()])))
        })?
    };
    for (subject, syntax) in subjects.iter().zip(&found) {
        if let Some(warning) = syntax.as_ref().and_then(|syntax| warning(&subject.path, syntax)) {
            cx.warn(warning);
        }
    }
    Ok((done, found))
}

/// Returns whether files of this name can be checked.
pub fn has_grammar(path: &str) -> bool {
    !Language::of_path(path).is_empty()
}

/// Returns whether the caller may see lines of files.
pub fn may_read(permit: &Permit) -> bool {
    permit.allows(Capability::FsRead)
}

fn all(parsers: &ParserPool, subjects: &[Subject<'_>], time: Duration, told: bool) -> Vec<Option<Syntax>> {
    let until = Instant::now() + time;
    subjects.iter().map(|subject| one(parsers, subject, until, told)).collect()
}

fn one(parsers: &ParserPool, subject: &Subject<'_>, until: Instant, told: bool) -> Option<Syntax> {
    let checked = SyntaxInput {
        path: &subject.path,
        before: subject.before,
        after: subject.after,
        regions: &subject.regions,
    };
    let found = parsers.check(&checked, until)?;
    let language = found.language.name();
    let mut syntax = Syntax { language, errors: Vec::new(), more: 0, repaired: 0, not_checked: None };
    match found.new {
        Err(unparsed) => syntax.not_checked = Some(unparsed.describe()),
        Ok(new) if new.is_empty() => {
            syntax.repaired = found.before.saturating_sub(found.after);
            if syntax.repaired == 0 {
                return None;
            }
        }
        Ok(new) => {
            syntax.more = new.len().saturating_sub(MAX_TOLD);
            syntax.errors = new.into_iter().take(MAX_TOLD).map(|fault| error(fault, told)).collect();
        }
    }
    Some(syntax)
}

fn error(fault: Fault, told: bool) -> SyntaxError {
    let Fault { line, column, message, near, .. } = fault;
    SyntaxError { line, column, message, text: Some(near).filter(|near| told && !near.is_empty()) }
}

fn warning(path: &str, syntax: &Syntax) -> Option<String> {
    if let Some(why) = syntax.not_checked {
        return Some(format!("`{path}` was not checked for syntax errors: {why}."));
    }
    let said = first_of(syntax)?;
    Some(format!("By this change `{path}` has {said}."))
}

/// Returns how many errors there are, and the first of them.
fn first_of(syntax: &Syntax) -> Option<String> {
    let first = syntax.errors.first()?;
    let SyntaxError { line, column, message, .. } = first;
    Some(match syntax.errors.len() + syntax.more {
        1 => format!("a new syntax error in line {line}, column {column} ({message})"),
        many => {
            format!("{many} new syntax errors, the first in line {line}, column {column} ({message})")
        }
    })
}

fn refuse(subjects: &[Subject<'_>], found: &[Option<Syntax>]) -> Result<(), Failure> {
    for (subject, syntax) in subjects.iter().zip(found) {
        let Some(syntax) = syntax else { continue };
        let path = &subject.path;
        if let Some(why) = syntax.not_checked {
            return Err(Failure::new(
                ErrorCode::InvalidRequest,
                format!("`{path}` cannot be checked for syntax errors: {why}"),
            )
            .detail("rule", "syntax-unchecked")
            .detail("path", path.as_str())
            .hint("Set `options.check` to \"report\" to write it all the same."));
        }
        if let Some(said) = first_of(syntax) {
            return Err(Failure::new(ErrorCode::InvalidRequest, format!("`{path}` would have {said}"))
                .detail("rule", "syntax-errors")
                .detail("path", path.as_str())
                .detail("syntax", serde_json::to_value(syntax).unwrap_or_default())
                .hint("Correct what `details.syntax` names, and send the change again.")
                .hint("Set `options.check` to \"report\" to write it all the same."));
        }
    }
    Ok(())
}
