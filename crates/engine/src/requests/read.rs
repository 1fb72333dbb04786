//! From JSON to an envelope in canonical names.

use serde_json::{Map, Value};

use bailiwick_contract::envelope::{check_depth, kind};
use bailiwick_contract::json::read_unambiguous;
use bailiwick_contract::{Envelope, ErrorCode, Failure, TargetRule};

use super::fit::{self, fit};
use super::place::{EnvelopePart, Fields};
use super::{choose, names, places, refusal, rewrite};
use crate::registry::Entry;

/// The names of the operation's name.
const OPS: &[&str] = &["operation", "tool", "tool_name", "toolName", "action"];
/// The names of a whole envelope in another object, and of `input`.
const WRAPPERS: &[&str] = &["input", "arguments", "args", "params", "parameters", "request", "envelope"];
/// The names of `input`.
const INPUTS: &[&str] = &["arguments", "args", "params", "parameters", "inputs", "data", "kwargs"];

/// Reads a request from the bytes of a JSON text.
///
/// # Errors
/// As [`read`]; broken JSON, and a key that an object has twice, are an `invalid_request` with line and column.
pub fn read_json(bytes: &[u8]) -> Result<Envelope, Failure> {
    let value = read_unambiguous(bytes).map_err(|error| {
        let problem = if error.is_data() { "is ambiguous" } else { "is not valid JSON" };
        Failure::invalid("", format!("the request {problem}: {error}"))
    })?;
    read(value)
}

/// Reads a request into the envelope that it means.
///
/// # Errors
/// `invalid_request` that names the field, for what has no form of a request or can mean two things;
/// `unknown_operation` with what to do instead.
pub fn read(value: Value) -> Result<Envelope, Failure> {
    check_depth(&value)?;
    let mut fields = unwrapped(value)?;
    let Some(name) = op(&mut fields)? else {
        return Err(refusal::without_op(&fields));
    };
    for part in ["input", "options"] {
        if let Some(Value::String(text)) = fields.get(part)
            && text.trim_start().starts_with('{')
            // What is wrong with it is said where the operation is known.
            && let Ok(read) = read_unambiguous(text.as_bytes())
        {
            fields.insert(part.to_owned(), read);
        }
    }
    let chosen = choose::chosen(&name, &mut fields);
    let entry = names::operation(chosen.unwrap_or(&name));
    let entry = entry.map(|entry| {
        choose::instead(entry.spec.name, &mut fields).and_then(names::operation).unwrap_or(entry)
    });
    let Some(entry) = entry else {
        let envelope = Envelope {
            scope: fields.remove("scope").and_then(|it| fit::text("scope", it).ok().flatten()),
            op: name,
            target: fields.remove("target").and_then(|it| fit::text("target", it).ok().flatten()),
            ..Envelope::default()
        };
        return match names::advice(&envelope.op) {
            Some(advice) => Err(Failure::new(
                ErrorCode::UnknownOperation,
                format!("there is no operation `{}`", refusal::clip(&envelope.op)),
            )
            .hint(advice)
            .asked(&envelope)),
            // The policy has the words for it.
            None => Ok(envelope),
        };
    };
    let scope = fields.get("scope").and_then(Value::as_str).map(str::to_owned);
    let target = fields.get("target").and_then(Value::as_str).map(str::to_owned);
    of(entry, &name, fields).map_err(|failure| {
        failure.asked(&Envelope { scope, op: entry.spec.name.to_owned(), target, ..Envelope::default() })
    })
}

/// Reads the fields of a request for an operation.
fn of(entry: &'static Entry, name: &str, mut top: Map<String, Value>) -> Result<Envelope, Failure> {
    let (input_names, option_names) = entry.field_names();
    let mut bags = vec![(EnvelopePart::Input, bag(entry, "input", top.remove("input"))?)];
    bags.push((EnvelopePart::Options, bag(entry, "options", top.remove("options"))?));
    for name in INPUTS {
        let is_bag = match top.get(*name) {
            Some(Value::Object(_)) => true,
            Some(Value::String(text)) => text.trim_start().starts_with('{'),
            _ => false,
        };
        if is_bag && !input_names.accepted.iter().any(|it| it == name) {
            bags.push((EnvelopePart::Input, bag(entry, name, top.remove(*name))?));
        }
    }
    bags.insert(0, (EnvelopePart::Top, top));
    let count: usize = bags.iter().map(|(_, map)| map.len()).sum();
    if count > fit::MAX_FIELDS {
        return Err(Failure::invalid(
            "",
            format!("the request has {count} fields; no operation takes so many"),
        ));
    }

    let mut fields = Fields::of(entry);
    for (_, map) in &mut bags {
        places::rename(entry.spec.name, map);
    }
    // What has its own name in its own place comes first: nothing takes that from it.
    for own in [true, false] {
        for (bag, map) in &mut bags {
            let names: Vec<String> = map.keys().cloned().collect();
            for name in names {
                if fields.is_own(*bag, &name) == own
                    && let Some(value) = map.remove(&name)
                {
                    fields.add(*bag, &name, value)?;
                }
            }
        }
    }
    rewrite::rewrite(&mut fields)?;
    for (place, value) in names::implied(name, entry.spec.name) {
        fields.imply(place, value);
    }
    let Fields { scope, target, mut input, mut options, loose, .. } = fields;
    for (bag, name, value) in loose {
        match bag {
            EnvelopePart::Top => return Err(refusal::unknown_field(entry, &name)),
            EnvelopePart::Input => drop(input.insert(name, value)),
            EnvelopePart::Options => drop(options.insert(name, value)),
        }
    }
    let input = fitted("input", input, &input_names.schema)?;
    let options = fitted("options", options, &option_names.schema)?;
    let target = match target {
        Some(value) => fit::text("target", value)?,
        None => None,
    };
    let target = match entry.spec.target {
        TargetRule::Path(_) | TargetRule::PathOrRoot(_) => target.map(fit::path),
        _ => target,
    };
    let scope = match scope {
        Some(value) => fit::text("scope", value)?,
        None => None,
    };
    let envelope = Envelope { scope, op: entry.spec.name.to_owned(), target, input, options };
    for part in [&envelope.input, &envelope.options] {
        part.values().try_for_each(check_depth)?;
    }
    Ok(envelope)
}

fn fitted(part: &str, fields: Map<String, Value>, schema: &Value) -> Result<Map<String, Value>, Failure> {
    let property = |name: &str| schema["properties"].get(name);
    fields
        .into_iter()
        .map(|(name, value)| {
            let value = match property(&name) {
                Some(wanted) => fit(&format!("{part}.{name}"), value, wanted, schema)?,
                None => shared(&name, value),
            };
            Ok((name, value))
        })
        .collect()
}

/// Returns a shared option its form.
fn shared(name: &str, value: Value) -> Value {
    match (name, &value) {
        ("timeoutSeconds" | "maxOutputBytes", Value::String(text)) => {
            text.trim().parse::<u64>().map_or(value.clone(), Value::from)
        }
        ("timeoutSeconds" | "maxOutputBytes", Value::Number(number)) => match number.as_f64() {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "it is whole and small"
            )]
            Some(whole) if number.is_f64() && whole.fract() == 0.0 && (0.0..9e15).contains(&whole) => {
                Value::from(whole as u64)
            }
            _ => value,
        },
        ("dryRun", Value::String(text)) => fit::flag(text.trim()).map_or(value.clone(), Value::from),
        ("cursor", Value::Number(number)) => Value::from(number.to_string()),
        ("detail", Value::String(text)) => Value::from(text.to_lowercase()),
        _ => value,
    }
}

/// Takes the envelope out of a text, or out of the field of an object that holds nothing else.
fn unwrapped(value: Value) -> Result<Map<String, Value>, Failure> {
    let value = match value {
        Value::String(text) if text.trim_start().starts_with('{') => {
            let read = fit::json("", &text)?;
            check_depth(&read)?;
            read
        }
        other => other,
    };
    let Value::Object(mut fields) = value else {
        return Err(Failure::invalid("", "the request must be a JSON object").hint(refusal::EXAMPLE));
    };
    fields.retain(|_, value| !value.is_null());
    if fields.len() == 1
        && let Some(name) = fields.keys().next().cloned()
        && WRAPPERS.contains(&name.as_str())
    {
        let inner = match &fields[&name] {
            Value::Object(inner) => Some(inner.clone()),
            Value::String(text) if text.trim_start().starts_with('{') => match fit::json(&name, text)? {
                Value::Object(inner) => Some(inner),
                _ => None,
            },
            _ => None,
        };
        if let Some(inner) = inner.filter(|it| it.contains_key("op")) {
            return Ok(inner);
        }
    }
    Ok(fields)
}

/// Takes the operation's name.
fn op(fields: &mut Map<String, Value>) -> Result<Option<String>, Failure> {
    if let Some(value) = fields.remove("op") {
        match value {
            Value::Null => {}
            Value::String(name) if name.is_empty() => {}
            Value::String(name) => return Ok(Some(name)),
            other => {
                return Err(Failure::invalid("op", format!("`op` must be a text, not {}", kind(&other))));
            }
        }
    }
    let named: Vec<String> = OPS
        .iter()
        .filter(|name| {
            fields.get(**name).and_then(Value::as_str).is_some_and(|it| names::operation(it).is_some())
        })
        .map(|name| (*name).to_owned())
        .collect();
    Ok(match named.as_slice() {
        [only] => fields.remove(only).and_then(|it| it.as_str().map(str::to_owned)),
        _ => None,
    })
}

/// Reads `input` or `options`: an object, its JSON text, or the only value that the operation must have.
fn bag(entry: &Entry, name: &str, value: Option<Value>) -> Result<Map<String, Value>, Failure> {
    let value = match value {
        None | Some(Value::Null) => return Ok(Map::new()),
        Some(Value::Object(map)) => return Ok(map),
        Some(Value::String(text)) if text.trim().is_empty() => return Ok(Map::new()),
        Some(Value::String(text)) if text.trim_start().starts_with('{') => fit::json(name, &text)?,
        Some(other) => other,
    };
    let value = match value {
        Value::Object(map) => return Ok(map),
        other => other,
    };
    let is_plain = matches!(value, Value::String(_) | Value::Array(_));
    if name == "input" && is_plain {
        let (names, _) = entry.field_names();
        let only = match (names.required.as_slice(), entry.spec.name) {
            ([only], _) => Some(only.as_str()),
            (_, "process.write") if value.is_string() => Some("text"),
            (_, "file.patch") if value.as_str().is_some_and(rewrite::is_patch) => Some("patch"),
            _ => None,
        };
        if let Some(only) = only {
            return Ok(Map::from_iter([(only.to_owned(), value)]));
        }
    }
    if value.as_array().is_some_and(Vec::is_empty) {
        return Ok(Map::new());
    }
    Err(Failure::invalid(name, format!("`{name}` must be an object, not {}", kind(&value)))
        .hint(format!("Send `{name}` as an object, or leave it out.")))
}
