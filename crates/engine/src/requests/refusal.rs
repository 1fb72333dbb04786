//! Refusals of requests that cannot be read, each with the request as it should be.

use serde_json::{Map, Value, json};

use bailiwick_contract::{CommonOption, Failure, fields};

use super::place::Fields;
use super::places::FieldPlace;
use crate::registry::Entry;

/// How a request looks.
pub(super) const EXAMPLE: &str =
    r#"Send an object such as {"scope":"app","op":"file.read","target":"README.md"}."#;
/// How much of a text an example repeats.
const MAX_CHARS: usize = 60;
/// How long a corrected request may be.
const MAX_EXAMPLE: usize = 600;

/// Shortens a client's text for a message.
pub(super) fn clip(text: &str) -> String {
    match text.char_indices().nth(MAX_CHARS) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

/// Refuses a request without an operation; where its fields fit one, names that.
pub(super) fn without_op(fields: &Map<String, Value>) -> Failure {
    let likely = |names: &[&str]| names.iter().any(|name| fields.contains_key(*name));
    let op = if likely(&["command", "cmd"]) {
        "command.run"
    } else if likely(&["old_string", "old_str", "edits"]) {
        "file.patch"
    } else if likely(&["content"]) {
        "file.write"
    } else if likely(&["query", "pattern"]) {
        "file.search"
    } else {
        return Failure::invalid("op", "`op` is missing").hint(EXAMPLE);
    };
    Failure::invalid("op", "`op` is missing").hint(format!("Add \"op\", for example {}.", json!({"op": op})))
}

/// Refuses a field that the operation does not have.
pub(super) fn unknown_field(entry: &Entry, name: &str) -> Failure {
    let (input, options) = entry.field_names();
    let shared = [CommonOption::TimeoutSeconds, CommonOption::MaxOutputBytes];
    let shared = shared.iter().chain(entry.spec.options).map(|option| option.as_str());
    let options: Vec<&str> = options.accepted.iter().map(String::as_str).chain(shared).collect();
    let input: Vec<&str> = input.accepted.iter().map(String::as_str).collect();
    let shown = clip(name);
    let failure = Failure::invalid(&shown, format!("`{}` has no field `{shown}`", entry.spec.name));
    let all = input.iter().chain(&options).copied();
    if let Some(near) = fields::nearest(name, all, 1).first() {
        let place = if input.contains(near) { "input" } else { "options" };
        return failure.hint(format!("Did you mean `{place}.{near}`?"));
    }
    let list = |part: &str, names: &[&str]| match names {
        [] => String::new(),
        names => format!("`{part}`: {}. ", names.join(", ")),
    };
    let hint = [list("input", &input), list("options", &options)].concat();
    failure.detail("accepted", [&input[..], &options[..]].concat()).hint(hint.trim_end().to_owned())
}

/// Refuses two values for one place.
pub(super) fn doubled(fields: &Fields, place: &FieldPlace, name: &str) -> Failure {
    let before = fields.sent_as(place);
    let shown = place.shown();
    let names = if before == name {
        format!("`{}` is there twice, with different values", clip(name))
    } else {
        format!("`{}` and `{}` both say `{shown}`, and differ", clip(before), clip(name))
    };
    Failure::invalid(&shown, names).hint(format!("Send `{shown}` once: {}", corrected(fields)))
}

/// Refuses what can be meant in two ways, with the request for one of them.
pub(super) fn ambiguous(fields: &Fields, field: &str, message: impl Into<String>) -> Failure {
    Failure::invalid(field, message).hint(format!("Send {}", corrected(fields)))
}

/// Writes the request as it has been read so far, long texts shortened.
pub(super) fn corrected(fields: &Fields) -> String {
    let mut envelope = Map::new();
    if let Some(scope) = &fields.scope {
        envelope.insert("scope".to_owned(), shortened(scope));
    }
    envelope.insert("op".to_owned(), json!(fields.entry.spec.name));
    if let Some(target) = &fields.target {
        envelope.insert("target".to_owned(), shortened(target));
    }
    for (part, map) in [("input", &fields.input), ("options", &fields.options)] {
        if !map.is_empty() {
            let map = map.iter().map(|(name, value)| (name.clone(), shortened(value))).collect();
            envelope.insert(part.to_owned(), Value::Object(map));
        }
    }
    let text = Value::Object(envelope).to_string();
    if text.chars().count() > MAX_EXAMPLE { fields.entry.spec.example.to_owned() } else { text }
}

fn shortened(value: &Value) -> Value {
    match value {
        Value::String(text) => Value::String(clip(text)),
        Value::Array(items) => items.iter().take(8).map(shortened).collect(),
        Value::Object(map) => {
            map.iter().take(16).map(|(name, value)| (name.clone(), shortened(value))).collect()
        }
        other => other.clone(),
    }
}
