//! Fields of other tools that say in several what is one here, or in other units.

use serde_json::{Value, json};

use bailiwick_contract::Failure;
use bailiwick_contract::limits::MAX_TIMEOUT_SECONDS;

use super::blocks;
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
/// How many bytes a token has, about.
const BYTES_PER_TOKEN: u64 = 4;
/// The least that `maxOutputBytes` takes.
const MIN_OUTPUT_BYTES: u64 = 1_000;

/// Rewrites the fields that have no place of their own.
///
/// # Errors
/// `invalid_request` with the corrected request, where they can mean two things.
pub(super) fn rewrite(fields: &mut Fields) -> Result<(), Failure> {
    timeout(fields)?;
    ignored(fields);
    match fields.entry.spec.name {
        "file.patch" => replacement(fields),
        "file.search" => search(fields),
        "file.find" => found(fields),
        "file.move" => renamed(fields),
        "git.stage" | "git.unstage" => staged(fields),
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
        "command.run" | "command.start" | "process.start" => {
            output(fields)?;
            arguments(fields)
        }
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

/// One old and one new text beside each other, or blocks of them: edits.
fn replacement(fields: &mut Fields) -> Result<(), Failure> {
    const OLD: &[&str] = &["old", "oldstring", "oldstr", "oldtext", "search", "find"];
    const NEW: &[&str] = &["new", "newstring", "newstr", "newtext", "replace", "replacement"];
    let edits = || FieldPlace::Input("edits".to_owned());
    let all = fields.take(&["replaceall", "allowmultiple", "global", "all"]);
    if let Some((old_name, old)) = fields.take(OLD) {
        let Some((_, new)) = fields.take(NEW) else {
            return Err(Failure::invalid("input.edits", format!("`{old_name}` has no new text beside it"))
                .hint("Send {\"edits\":[{\"old\":\"…\",\"new\":\"…\"}]} in `input`; `new` may be empty."));
        };
        let mut edit = json!({"old": old, "new": new});
        if let Some((_, expect)) = fields.take(&["expect", "expectedreplacements", "count", "occurrences"]) {
            edit["expect"] = expect;
        }
        if let Some((_, all)) = &all {
            edit["replaceAll"] = all.clone();
        }
        fields.put(edits(), &old_name, json!([edit]))?;
    } else if let Some((name, value)) = all
        && boolean(&value) != Some(false)
    {
        return Err(refusal::ambiguous(
            fields,
            &name,
            format!("`{name}` belongs into the edit that it is about"),
        )
        .hint("Set it in that edit: {\"old\":\"…\",\"new\":\"…\",\"replaceAll\":true}."));
    }
    if let Some((name, value)) = fields.take(&["input"]) {
        fields.put(FieldPlace::Input("patch".to_owned()), &name, value)?;
    }
    let blocks = fields.input.get("patch").and_then(Value::as_str).and_then(blocks::edits);
    if let Some(blocks) = blocks {
        fields.input.remove("patch");
        fields.put(edits(), "patch", Value::Array(blocks))?;
    }
    Ok(())
}

/// Returns whether a text that stands alone is a patch.
pub(super) fn is_patch(text: &str) -> bool {
    let start = text.trim_start();
    ["*** Begin Patch", "--- ", "diff --git ", "@@ "].iter().any(|it| start.starts_with(it))
        || blocks::edits(text).is_some()
}

/// What other tools say of `.gitignore`, which is the opposite here.
fn ignored(fields: &mut Fields) {
    let Some((_, value)) = fields.take(&["respectgitignore", "filefilteringoptions"]) else { return };
    let value = value.get("respect_git_ignore").cloned().unwrap_or(value);
    if let Some(respects) = boolean(&value) {
        fields.imply("options.includeIgnored", json!(!respects));
    }
}

/// A glob where the folder is expected: the folder before it, and the glob.
fn split_glob(fields: &mut Fields) -> Option<String> {
    let target = fields.target.as_ref()?.as_str()?;
    // `[id]` is the name of a folder in some frameworks; a `*` is in no name that anybody gives.
    let at = target.find('*')?;
    let (folder, glob) = match target[..at].rfind('/') {
        Some(slash) => (Some(target[..slash].to_owned()), target[slash + 1..].to_owned()),
        None => (None, target.to_owned()),
    };
    fields.target = folder.filter(|it| !it.is_empty()).map(Value::String);
    Some(glob)
}

/// A glob as the target of a search for names.
fn found(fields: &mut Fields) -> Result<(), Failure> {
    case(fields)?;
    if !fields.input.contains_key("pattern")
        && let Some(glob) = split_glob(fields)
    {
        fields.put(FieldPlace::Input("pattern".to_owned()), "target", Value::String(glob))?;
    }
    Ok(())
}

/// A new name without a folder: the file stays in its own.
fn renamed(fields: &mut Fields) -> Result<(), Failure> {
    let Some((name, value)) = fields.take(&["newname"]) else { return Ok(()) };
    let target = fields.target.as_ref().and_then(Value::as_str).unwrap_or_default();
    let folder = target.rfind('/').map_or("", |at| &target[..=at]);
    let to = match value.as_str() {
        Some(new) if !new.contains('/') => json!(format!("{folder}{new}")),
        _ => value,
    };
    fields.put(FieldPlace::Input("to".to_owned()), &name, to)
}

/// One file as the target, where paths are wanted. A whole repository is staged only where `all` says so.
fn staged(fields: &mut Fields) -> Result<(), Failure> {
    let is_said = fields.input.contains_key("paths") || fields.input.contains_key("all");
    let names_a_file = |target: &Value| target.as_str().is_some_and(|it| it != "." && !it.starts_with('/'));
    if is_said || fields.sent_as(&FieldPlace::Target) != "target" {
        return Ok(());
    }
    match fields.target.take_if(|it| names_a_file(it)) {
        Some(target) => fields.put(FieldPlace::Input("paths".to_owned()), "target", json!([target])),
        None => Ok(()),
    }
}

/// How long another tool waits for output, and how much of it.
fn output(fields: &mut Fields) -> Result<(), Failure> {
    if let Some((name, value)) = fields.take(&["yieldtimems"]) {
        let seconds = number(&name, &value)?.div_ceil(1_000).max(1);
        fields.imply("options.answerWithinSeconds", json!(seconds));
    }
    if let Some((name, value)) = fields.take(&["maxoutputtokens"]) {
        let bytes = number(&name, &value)?.saturating_mul(BYTES_PER_TOKEN).max(MIN_OUTPUT_BYTES);
        fields.put(FieldPlace::Options("maxOutputBytes".to_owned()), &name, json!(bytes))?;
    }
    Ok(())
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
    let mut globs: Vec<Value> = split_glob(fields).map(Value::String).into_iter().collect();
    if let Some((_, value)) = fields.take(&["extensions", "extension", "ext"]) {
        globs.extend(texts(&value).map(|it| json!(format!("*.{}", it.trim_start_matches(['*', '.'])))));
    }
    if let Some((_, value)) = fields.take(&["exclude", "excludes", "excludepattern", "excludepatterns"]) {
        globs.extend(texts(&value).map(|it| json!(format!("!{}", it.trim_start_matches('!')))));
    }
    if !globs.is_empty() {
        let there = fields.options.remove("glob");
        globs.extend(there.iter().flat_map(texts).map(Value::from));
        fields.put(option("glob"), "glob", Value::Array(globs))?;
    }
    opposite(fields, &["isregex", "isregexp", "useregex"], "literal")?;
    case(fields)
}

fn case(fields: &mut Fields) -> Result<(), Failure> {
    opposite(fields, &["casesensitive", "matchcase"], "ignoreCase")
}

/// A flag of another tool that is the opposite of one here.
fn opposite(fields: &mut Fields, names: &[&str], place: &str) -> Result<(), Failure> {
    let Some((name, value)) = fields.take(names) else { return Ok(()) };
    let Some(flag) = boolean(&value) else {
        return Err(Failure::invalid(&name, format!("`{name}` must be true or false"))
            .hint(format!("The field is `options.{place}`.")));
    };
    fields.put(FieldPlace::Options(place.to_owned()), &name, json!(!flag))
}

/// Returns the texts of a list, or the only one.
fn texts(value: &Value) -> impl Iterator<Item = &str> {
    let several = value.as_array().into_iter().flatten().filter_map(Value::as_str);
    value.as_str().into_iter().chain(several)
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
    // Beside a number of lines, `offset` is the first of them, counted from 0 or 1; here it counts bytes.
    if let Some(offset) = fields.options.remove("offset") {
        fields.put(option("startLine"), "offset", json!(number("offset", &offset)?.max(1)))?;
    }
    let start = fields.options.get("startLine").map(|it| number("startLine", it)).transpose()?;
    let last = start.unwrap_or(1).saturating_add(count - 1);
    fields.put(option("endLine"), &name, json!(last))
}

/// A program and its arguments in two fields: one list.
fn arguments(fields: &mut Fields) -> Result<(), Failure> {
    if let Some((name, value)) = fields.take(&["commands"]) {
        let only = match &value {
            Value::Array(items) if items.len() == 1 => items[0].clone(),
            Value::String(_) => value,
            _ => {
                return Err(Failure::invalid("input.commands", format!("`{name}` must be one command"))
                    .hint("Send the first as `command`, and the others in `then`: each is a whole call."));
            }
        };
        fields.put(FieldPlace::Input("command".to_owned()), &name, only)?;
    }
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

    /// Reads both requests, of which the second is in canonical names.
    fn check(op: &str, sent: &Value, canonical: &Value) {
        let of = |fields: &Value| {
            let mut request = fields.clone();
            request["op"] = json!(op);
            super::super::read(request)
        };
        assert_eq!(of(sent), of(canonical), "{op}: {sent}");
        // What is sent beside `op` may be sent in `input` as well.
        assert_eq!(of(&json!({"input": sent})), of(canonical), "{op}, in `input`: {sent}");
    }

    #[test]
    fn every_spelling_that_is_rewritten_is_the_canonical_request() {
        let seconds = json!({"command": "ls", "options": {"timeoutSeconds": 5}});
        for (name, value) in [
            ("timeout", 5),
            ("timeout_ms", 5_000),
            ("timeoutMillis", 4_500),
            ("timeout_milliseconds", 5_000),
            ("timeout", 5_000),
        ] {
            check("command.run", &json!({"command": "ls", name: value}), &seconds);
        }
        let edit = json!({"path": "a", "input": {"edits": [{"old": "x", "new": "y"}]}});
        for old in ["old", "old_string", "oldStr", "old_text", "search", "find"] {
            for new in ["new", "new_string", "newStr", "new_text", "replace", "replacement"] {
                check("file.patch", &json!({"path": "a", old: "x", new: "y"}), &edit);
            }
        }
        let counted = json!({"path": "a", "input": {"edits": [{"old": "x", "new": "y", "expect": 2}]}});
        for name in ["expect", "expected_replacements", "count", "occurrences"] {
            check("file.patch", &json!({"path": "a", "old": "x", "new": "y", name: 2}), &counted);
        }
        let all = json!({"path": "a", "input": {"edits": [{"old": "x", "new": "y", "replaceAll": true}]}});
        for name in ["replace_all", "replaceAll", "allow_multiple", "global", "all"] {
            check("file.patch", &json!({"path": "a", "old": "x", "new": "y", name: true}), &all);
        }
        let blocks = "<<<<<<< SEARCH\nx\n=======\ny\n>>>>>>> REPLACE\n";
        let lines = json!({"path": "a", "input": {"edits": [{"old": "x\n", "new": "y\n"}]}});
        for name in ["diff", "patch", "patch_text"] {
            check("file.patch", &json!({"path": "a", name: blocks}), &lines);
        }
        for (sent, canonical) in [
            (json!({"output_mode": "files_with_matches"}), json!({"filesOnly": true})),
            (json!({"outputMode": "files"}), json!({"filesOnly": true})),
            (json!({"output_mode": "count"}), json!({"countOnly": true})),
            (json!({"-C": 2}), json!({"before": 2, "after": 2})),
            (json!({"context": 2}), json!({"before": 2, "after": 2})),
            (json!({"context_lines": 2}), json!({"before": 2, "after": 2})),
            (json!({"case_sensitive": false}), json!({"ignoreCase": true})),
            (json!({"matchCase": "false"}), json!({"ignoreCase": true})),
            (json!({"isRegex": false}), json!({"literal": true})),
            (json!({"is_regexp": false}), json!({"literal": true})),
            (json!({"use_regex": false}), json!({"literal": true})),
            (json!({"extensions": ["rs", ".md"]}), json!({"glob": ["*.rs", "*.md"]})),
            (json!({"ext": "rs"}), json!({"glob": ["*.rs"]})),
            (json!({"exclude": "a/**"}), json!({"glob": ["!a/**"]})),
            (json!({"excludePatterns": ["a", "!b"], "glob": "*.rs"}), json!({"glob": ["!a", "!b", "*.rs"]})),
            (json!({"respect_git_ignore": false}), json!({"includeIgnored": true})),
            (
                json!({"file_filtering_options": {"respect_git_ignore": true}}),
                json!({"includeIgnored": false}),
            ),
        ] {
            let mut sent = sent;
            sent["query"] = json!("x");
            check("file.search", &sent, &json!({"query": "x", "options": canonical}));
        }
        let two = json!({"path": "a", "options": {"startLine": 2, "endLine": 3}});
        for name in ["view_range", "lineRange", "lines", "range"] {
            for value in [json!([2, 3]), json!("2-3"), json!("[2,3]"), json!("2:3")] {
                check("file.read", &json!({"path": "a", name: value}), &two);
            }
        }
        for name in ["limit", "num_lines", "maxLines", "line_count"] {
            check("file.read", &json!({"path": "a", "offset": 2, name: 2}), &two);
            check("file.read", &json!({"path": "a", "startLine": 2, name: "2"}), &two);
        }
        let from_start = json!({"path": "a", "options": {"startLine": 1, "endLine": 2}});
        check("file.read", &json!({"path": "a", "offset": 0, "limit": 2}), &from_start);
        check(
            "file.find",
            &json!({"target": "src/**/*.rs"}),
            &json!({"target": "src", "input": {"pattern": "**/*.rs"}}),
        );
        check(
            "file.find",
            &json!({"pattern": "a", "case_sensitive": false}),
            &json!({"pattern": "a", "options": {"ignoreCase": true}}),
        );
        let globbed = json!({"query": "x", "target": "src", "options": {"glob": ["*.rs"]}});
        check("file.search", &json!({"query": "x", "target": "src/*.rs"}), &globbed);
        check(
            "file.move",
            &json!({"path": "a/b", "new_name": "c"}),
            &json!({"path": "a/b", "input": {"to": "a/c"}}),
        );
        check(
            "file.move",
            &json!({"path": "a/b", "newName": "d/c"}),
            &json!({"path": "a/b", "input": {"to": "d/c"}}),
        );
        check("git.stage", &json!({"target": "a"}), &json!({"input": {"paths": ["a"]}}));
        let words = json!({"input": {"command": ["ls", "-l", "3"]}});
        for name in ["args", "arguments"] {
            check("command.run", &json!({"command": "ls", name: ["-l", 3]}), &words);
            check("command.run", &json!({"program": "ls", name: "[\"-l\",\"3\"]"}), &words);
        }
        check("command.run", &json!({"commands": ["ls -l"]}), &json!({"input": {"command": "ls -l"}}));
        let patient = json!({"command": "ls", "options": {"answerWithinSeconds": 2}});
        check("command.run", &json!({"cmd": "ls", "yield_time_ms": 1_500}), &patient);
        let short = json!({"command": "ls", "options": {"maxOutputBytes": 4_000}});
        check("command.run", &json!({"cmd": "ls", "max_output_tokens": 1_000}), &short);
    }

    #[test]
    fn what_can_mean_two_things_is_not_rewritten() {
        for request in [
            json!({"op": "git.stage", "target": "."}),
            json!({"op": "git.stage", "repo_path": "app"}),
            json!({"op": "file.search", "query": "x", "target": "app/[id]"}),
        ] {
            let read = super::super::read(request.clone()).expect("it is a request");
            assert!(read.target.is_some() && read.input.get("paths").is_none(), "{request}");
        }
        for request in [
            json!({"op": "command.run", "commands": ["ls", "pwd"]}),
            json!({"op": "file.patch", "path": "a", "edits": [{"old": "x", "new": "y"}], "replace_all": true}),
            json!({"op": "command.run", "command": "ls", "timeout": 1_500}),
        ] {
            assert!(super::super::read(request.clone()).is_err(), "{request}");
        }
    }

    #[test]
    fn words_are_bare_names() {
        assert!(is_a_word("cargo") && is_a_word("g++") && is_a_word("python3.12"));
        for text in ["", "git status", "a;b", "$(x)", "a|b", "'a'", "a*"] {
            assert!(!is_a_word(text), "{text}");
        }
    }
}
