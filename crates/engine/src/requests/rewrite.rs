//! Fields of other tools that say in several what is one here, or in other units.

use serde_json::{Value, json};

use bailiwick_contract::Failure;
use bailiwick_contract::limits::MAX_TIMEOUT_SECONDS;

use super::fit;
use super::names::{self, fold};
use super::place::Fields;
use super::places::FieldPlace;
use super::refusal;
use crate::operations::FAMILIES;

/// From here on, a `timeout` without a unit is no number of seconds that anybody means.
const MILLISECONDS_ABOVE: u64 = MAX_TIMEOUT_SECONDS;
/// Up to here it is no number of milliseconds.
const SECONDS_BELOW: u64 = 1_000;

/// Rewrites the fields that have no place of their own.
///
/// # Errors
/// `invalid_request` with the corrected request, where they can mean two things.
pub(super) fn rewrite(fields: &mut Fields) -> Result<(), Failure> {
    timeout(fields)?;
    match fields.entry.spec.name {
        "file.patch" => replacement(fields),
        "file.search" => search(fields),
        "file.write" => {
            // Elsewhere it says how to write; here a file's mode is a number.
            if fields
                .options
                .get("mode")
                .and_then(Value::as_str)
                .is_some_and(|it| matches!(it, "rewrite" | "overwrite"))
            {
                fields.options.remove("mode");
            }
            Ok(())
        }
        "file.read" => lines(fields),
        "computer.info" => {
            described(fields);
            Ok(())
        }
        "command.run" | "command.start" | "process.start" => arguments(fields),
        _ => Ok(()),
    }
}

/// What another tool calls an operation, where one is to be described.
fn described(fields: &mut Fields) {
    let canonical = |name: &mut Value| {
        let Some(text) = name.as_str() else { return };
        let is_family = FAMILIES.iter().any(|family| family.name == text);
        if let Some(entry) = names::operation(text).filter(|_| !is_family) {
            *name = Value::from(entry.spec.name);
        }
    };
    match fields.input.get_mut("family") {
        Some(Value::Array(several)) => several.iter_mut().for_each(canonical),
        Some(one) => canonical(one),
        None => {}
    }
}

/// `timeout` in seconds or milliseconds.
fn timeout(fields: &mut Fields) -> Result<(), Failure> {
    let place = || FieldPlace::Options("timeoutSeconds".to_owned());
    if let Some((name, value)) = fields.take(&["timeoutms", "timeoutmillis", "timeoutmilliseconds"]) {
        let seconds = number(&name, &value)?.div_ceil(1_000).max(1);
        return fields.put(place(), &name, json!(seconds));
    }
    let Some((name, value)) = fields.take(&["timeout"]) else { return Ok(()) };
    let time = number(&name, &value)?;
    if time > MILLISECONDS_ABOVE {
        return fields.put(place(), &name, json!(time.div_ceil(1_000)));
    }
    if time < SECONDS_BELOW {
        return fields.put(place(), &name, json!(time));
    }
    fields.put(place(), &name, json!(time.div_ceil(1_000)))?;
    Err(refusal::ambiguous(
        fields,
        "timeout",
        format!("`timeout` {time} can be seconds or milliseconds; the field is `options.timeoutSeconds`"),
    ))
}

fn number(name: &str, value: &Value) -> Result<u64, Failure> {
    let text = value.as_str().map(str::trim);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is within the range")]
    let whole = value.as_f64().filter(|it| (0.0..9e15).contains(it)).map(|it| it.ceil() as u64);
    value.as_u64().or(whole).or_else(|| text?.parse().ok()).ok_or_else(|| {
        Failure::invalid(name, format!("`{name}` must be a whole number"))
            .hint("The field is `options.timeoutSeconds`: a whole number from 1 to 3600.")
    })
}

fn boolean(value: &Value) -> Option<bool> {
    value.as_bool().or_else(|| fit::flag(value.as_str()?.trim()))
}

/// One old and one new text beside each other: an edit.
fn replacement(fields: &mut Fields) -> Result<(), Failure> {
    const OLD: &[&str] = &["old", "oldstring", "oldstr", "oldtext", "search", "find"];
    const NEW: &[&str] = &["new", "newstring", "newstr", "newtext", "replace", "replacement"];
    let all = fields.take(&["replaceall", "allowmultiple", "global"]);
    if let Some((old_name, old)) = fields.take(OLD) {
        let Some((_, new)) = fields.take(NEW) else {
            return Err(Failure::invalid("input.edits", format!("`{old_name}` has no new text beside it"))
                .hint("Send {\"edits\":[{\"old\":\"…\",\"new\":\"…\"}]} in `input`; `new` may be empty."));
        };
        let mut edit = json!({"old": old, "new": new});
        if let Some((_, expect)) = fields.take(&["expect", "expectedreplacements", "count", "occurrences"]) {
            edit["expect"] = expect;
        }
        fields.put(FieldPlace::Input("edits".to_owned()), &old_name, json!([edit]))?;
    }
    match all {
        Some((name, value)) if boolean(&value) != Some(false) => Err(refusal::ambiguous(
            fields,
            &name,
            format!(
                "`{name}` is not a field: an edit says in `expect` in how many places it changes the text"
            ),
        )
        .hint("Count the places with file.search and `countOnly`, then set `expect` in the edit.")),
        _ => Ok(()),
    }
}

/// What other searches call their forms.
fn search(fields: &mut Fields) -> Result<(), Failure> {
    let option = |name: &str| FieldPlace::Options(name.to_owned());
    if let Some((name, value)) = fields.take(&["outputmode"]) {
        let place = match value.as_str().map(fold).as_deref() {
            Some("fileswithmatches" | "files" | "filesonly") => Some("filesOnly"),
            Some("count" | "counts") => Some("countOnly"),
            _ => None,
        };
        let Some(place) = place else {
            return Err(Failure::invalid(&name, format!("`{name}` is not a field of file.search"))
                .hint("Use `options.filesOnly` or `options.countOnly`."));
        };
        fields.put(option(place), &name, json!(true))?;
    }
    if let Some((name, value)) = fields.take(&["c", "context", "contextlines"]) {
        fields.put(option("before"), &name, value.clone())?;
        fields.put(option("after"), &name, value)?;
    }
    for (names, place) in [
        (&["casesensitive", "matchcase"][..], "ignoreCase"),
        (&["isregex", "isregexp", "useregex"][..], "literal"),
    ] {
        if let Some((name, value)) = fields.take(names) {
            let Some(flag) = boolean(&value) else {
                return Err(Failure::invalid(&name, format!("`{name}` must be true or false"))
                    .hint(format!("The field is `options.{place}`.")));
            };
            fields.put(option(place), &name, json!(!flag))?;
        }
    }
    Ok(())
}

/// A range of lines as a pair, or as a first line and a number of lines.
fn lines(fields: &mut Fields) -> Result<(), Failure> {
    let option = |name: &str| FieldPlace::Options(name.to_owned());
    if let Some((name, value)) = fields.take(&["viewrange", "linerange", "lines", "range"]) {
        let value = match value.as_str() {
            Some(text) if text.trim_start().starts_with('[') => fit::json(&name, text)?,
            _ => value,
        };
        let pair = match &value {
            Value::Array(items) if items.len() == 2 => Some((items[0].clone(), items[1].clone())),
            Value::String(text) => {
                text.split_once(['-', ':', ',']).map(|(from, to)| (json!(from), json!(to)))
            }
            _ => None,
        };
        let Some((from, to)) = pair else {
            return Err(Failure::invalid(&name, format!("`{name}` must be the first and the last line"))
                .hint("Use `options.startLine` and `options.endLine`."));
        };
        fields.put(option("startLine"), &name, from)?;
        // Other tools write -1 for the end of the file.
        if to.as_i64() != Some(-1) {
            fields.put(option("endLine"), &name, to)?;
        }
    }
    let Some((name, value)) = fields.take(&["limit", "numlines", "maxlines", "linecount"]) else {
        return Ok(());
    };
    let count = number(&name, &value)?.max(1);
    let start = fields.options.get("startLine").map(|it| number("startLine", it)).transpose()?;
    if let Some(offset) = fields.options.remove("offset") {
        let first = number("offset", &offset)?.max(1);
        fields.options.insert("startLine".to_owned(), json!(first));
        fields.options.insert("endLine".to_owned(), json!(first.saturating_add(count - 1)));
        return Err(refusal::ambiguous(
            fields,
            "options.offset",
            "`offset` counts bytes here, with `length`; lines have `startLine` and `endLine`",
        ));
    }
    let last = start.unwrap_or(1).saturating_add(count - 1);
    fields.put(option("endLine"), &name, json!(last))
}

/// A program and its arguments in two fields: one list.
fn arguments(fields: &mut Fields) -> Result<(), Failure> {
    let Some((name, value)) = fields.take(&["args", "arguments", "argv"]) else { return Ok(()) };
    let value = match value.as_str() {
        Some(text) if text.trim_start().starts_with('[') => fit::json(&name, text)?,
        Some(text) if text.trim().is_empty() => return Ok(()),
        _ => value,
    };
    let words: Option<Vec<Value>> = match &value {
        Value::Array(items) => items
            .iter()
            .map(|item| match item {
                Value::String(_) => Some(item.clone()),
                Value::Number(number) => Some(json!(number.to_string())),
                _ => None,
            })
            .collect(),
        _ => None,
    };
    let mut command = match fields.input.remove("command") {
        Some(Value::String(program)) if is_a_word(&program) => vec![Value::String(program)],
        Some(Value::Array(program)) => program,
        other => {
            if let Some(other) = other {
                fields.input.insert("command".to_owned(), other);
            }
            return Err(refused(&name));
        }
    };
    command.extend(words.ok_or_else(|| refused(&name))?);
    fields.input.insert("command".to_owned(), Value::Array(command));
    Ok(())
}

/// Returns whether a text is one word to every shell: a bare name or a path without anything that a shell reads.
fn is_a_word(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|it| it.is_alphanumeric() || "._-+/".contains(it))
}

fn refused(name: &str) -> Failure {
    Failure::invalid(&format!("input.{name}"), format!("`{name}` does not go with this `command`"))
        .hint("Send the program and its arguments as one list: {\"command\":[\"git\",\"status\"]}.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_bare_names() {
        assert!(is_a_word("cargo") && is_a_word("g++") && is_a_word("python3.12"));
        for text in ["", "git status", "a;b", "$(x)", "a|b", "'a'", "a*"] {
            assert!(!is_a_word(text), "{text}");
        }
    }
}
