//! A client's settings as text: what is in them, and edits that lose nothing.
//!
//! Every edit is held against what was there: if anything but the entry differs afterwards, it is not made.

use serde_json::Value;

use super::entry::Entry;
use super::kind::{ClientFacts, Format};
use super::{json_settings, toml_settings, yaml_settings};

/// Why settings are not edited.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Problem {
    /// They cannot be parsed.
    Syntax {
        /// The line, from 1.
        line: usize,
        /// The column, from 1.
        column: usize,
        /// What is wrong there.
        message: String,
    },
    /// They can be parsed, and are not as the client's settings are.
    Shape(String),
    /// The edit would have changed more than the entry.
    Loss,
}

/// What the first edit of a file made besides the entry, and what goes again when it is empty.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FirstEdit {
    /// The container of the servers.
    pub container: bool,
    /// The list of questions.
    pub prompts: bool,
}

impl FirstEdit {
    /// Finds what an edit of this text makes.
    pub fn by_editing(facts: &ClientFacts, before: &str) -> Self {
        let value = value(facts, before).unwrap_or_default();
        Self { container: value.get(facts.container).is_none(), prompts: !json_settings::has_prompts(&value) }
    }
}

/// Returns the servers that are in a text, by name.
///
/// # Errors
/// `Syntax` and `Shape`.
pub fn servers(facts: &ClientFacts, text: &str) -> Result<Vec<(String, Value)>, Problem> {
    match value(facts, text)?.get_mut(facts.container).map(Value::take) {
        None => Ok(Vec::new()),
        Some(Value::Object(servers)) => Ok(servers.into_iter().collect()),
        Some(_) => Err(Problem::Shape(format!("`{}` contains no servers by name", facts.container))),
    }
}

/// Puts an entry in, or makes the one that is there right.
///
/// # Errors
/// See [`Problem`].
pub fn put(facts: &ClientFacts, text: &str, name: &str, entry: &Entry) -> Result<String, Problem> {
    let edited = by_lines(text, |plain| match facts.format {
        Format::Json => json_settings::put(plain, facts.container, name, entry),
        Format::Toml => toml_settings::put(plain, facts.container, name, entry),
        Format::Yaml => yaml_settings::put(plain, facts, name, entry),
    })?;
    check(facts, text, &edited, name)?;
    Ok(edited)
}

/// Takes an entry out.
///
/// # Errors
/// See [`Problem`].
pub fn take_out(facts: &ClientFacts, text: &str, name: &str, made: &FirstEdit) -> Result<String, Problem> {
    let edited = by_lines(text, |plain| match facts.format {
        Format::Json => json_settings::take_out(plain, facts.container, name, made),
        Format::Toml => toml_settings::take_out(plain, facts.container, name, made),
        Format::Yaml => yaml_settings::take_out(plain, facts.container, name, made),
    })?;
    check(facts, text, &edited, name)?;
    Ok(edited)
}

/// Edits a text without its byte order mark, and with the line endings of its own.
fn by_lines(text: &str, edit: impl FnOnce(&str) -> Result<String, Problem>) -> Result<String, Problem> {
    let (mark, text) = plain(text);
    let is_crlf = text.contains("\r\n") && text.matches('\n').count() == text.matches("\r\n").count();
    let edited = if is_crlf { edit(&text.replace("\r\n", "\n"))?.replace('\n', "\r\n") } else { edit(text)? };
    Ok(format!("{mark}{edited}"))
}

/// Parts a text from its byte order mark.
fn plain(text: &str) -> (&str, &str) {
    text.split_at(if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 })
}

fn value(facts: &ClientFacts, text: &str) -> Result<Value, Problem> {
    match facts.format {
        Format::Json => json_settings::value(plain(text).1),
        Format::Toml => toml_settings::value(plain(text).1),
        Format::Yaml => yaml_settings::value(plain(text).1, facts.container),
    }
}

/// Holds an edit against what was there: the values of all else are equal, and every comment that did not stand
/// inside the entry is still there.
fn check(facts: &ClientFacts, before: &str, after: &str, name: &str) -> Result<(), Problem> {
    let rest =
        |text: &str| value(facts, text).map(|value| json_settings::without(value, facts.container, name));
    let comments = |text: &str| match facts.format {
        Format::Json => json_settings::comments(plain(text).1),
        Format::Toml => Ok(toml_settings::comments(text)),
        Format::Yaml => yaml_settings::comments(plain(text).1),
    };
    let within = match facts.format {
        Format::Json => json_settings::comments_within(plain(before).1, facts.container, name)?,
        Format::Toml | Format::Yaml => Vec::new(),
    };
    let mut left = comments(after).map_err(|_| Problem::Loss)?;
    let mut lost = Vec::new();
    for comment in comments(before)? {
        match left.iter().position(|it| *it == comment) {
            Some(at) => drop(left.remove(at)),
            None => lost.push(comment),
        }
    }
    let is_whole = lost.iter().all(|it| within.contains(it));
    if is_whole && rest(before)? == rest(after).map_err(|_| Problem::Loss)? {
        Ok(())
    } else {
        Err(Problem::Loss)
    }
}
