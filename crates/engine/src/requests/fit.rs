//! Giving values the form that a field wants, where a value can mean only one thing in it.

use serde_json::{Map, Number, Value};

use bailiwick_contract::Failure;
use bailiwick_contract::envelope::kind;
use bailiwick_contract::json::read_unambiguous;

use super::names::fold;
use super::places;

/// How many fields an object may have to be checked: no operation takes as many.
pub(super) const MAX_FIELDS: usize = 256;

/// The forms that a schema accepts.
struct Forms<'a> {
    root: &'a Value,
    alternatives: Vec<&'a Value>,
    is_path: bool,
}

impl<'a> Forms<'a> {
    fn of(schema: &'a Value, root: &'a Value) -> Self {
        let mut forms = Self { root, alternatives: Vec::new(), is_path: false };
        forms.add(schema, 0);
        forms
    }

    fn add(&mut self, schema: &'a Value, depth: usize) {
        if depth > 8 {
            return;
        }
        if let Some(reference) = schema["$ref"].as_str() {
            self.is_path |= reference == "#/$defs/RawPath";
            if let Some(name) = reference.strip_prefix("#/$defs/") {
                self.add(&self.root["$defs"][name], depth + 1);
            }
            return;
        }
        match schema["anyOf"].as_array().or_else(|| schema["oneOf"].as_array()) {
            Some(several) => several.iter().for_each(|one| self.add(one, depth + 1)),
            None => self.alternatives.push(schema),
        }
    }

    /// Returns the alternatives of a type.
    fn having(&self, name: &str) -> impl Iterator<Item = &'a Value> {
        self.alternatives.iter().copied().filter(move |it| match &it["type"] {
            Value::String(one) => one == name,
            Value::Array(several) => several.iter().any(|one| one == name),
            _ => name == "string" && (it["const"].is_string() || it["enum"].is_array()),
        })
    }

    fn has(&self, name: &str) -> bool {
        self.having(name).next().is_some()
    }

    /// Returns the words that a text has to be one of; none where any text is right.
    fn words(&self) -> Vec<&'a str> {
        self.having("string").flat_map(|it| it["const"].as_str().into_iter().chain(enumerated(it))).collect()
    }

    fn items(&self) -> Option<&'a Value> {
        self.having("array").next().map(|it| &it["items"])
    }
}

fn enumerated(schema: &Value) -> impl Iterator<Item = &str> {
    schema["enum"].as_array().into_iter().flatten().filter_map(Value::as_str)
}

/// Gives a value the form that its field wants; what does not fit in one way only stays as it is.
///
/// A text is read as JSON only where the field takes no text, or takes a list of words just as well.
///
/// # Errors
/// `invalid_request` for a text that begins like JSON where only JSON is wanted, and is none or has a key twice.
pub(super) fn fit(field: &str, value: Value, schema: &Value, root: &Value) -> Result<Value, Failure> {
    let forms = Forms::of(schema, root);
    match value {
        Value::String(text) if forms.has("string") => Ok(words_or_text(text, &forms)),
        Value::String(text) => from_text(field, text, &forms, root),
        Value::Array(items) => match forms.items() {
            Some(wanted) => items
                .into_iter()
                .map(|item| fit(field, item, wanted, root))
                .collect::<Result<Vec<_>, _>>()
                .map(Value::Array),
            None if items.len() == 1 => {
                let only = items.into_iter().next().expect("there is one");
                if only.is_array() { Ok(Value::Array(vec![only])) } else { fit(field, only, schema, root) }
            }
            None => Ok(Value::Array(items)),
        },
        Value::Object(fields) if forms.has("object") => object(field, fields, &forms).map(Value::Object),
        Value::Number(number) => {
            let whole = number.as_f64().filter(|it| number.is_f64() && it.fract() == 0.0 && it.abs() < 9e15);
            Ok(if forms.has("integer") || forms.has("number") {
                #[expect(clippy::cast_possible_truncation, reason = "it is whole, and small enough")]
                match whole {
                    Some(whole) if !forms.has("number") => Value::from(whole as i64),
                    _ => Value::Number(number),
                }
            } else if forms.has("string") && forms.words().is_empty() && !number.is_f64() {
                Value::String(number.to_string())
            } else {
                in_a_list(field, Value::Number(number), &forms, root)?
            })
        }
        Value::Bool(flag) if !forms.has("boolean") && forms.has("string") && forms.words().is_empty() => {
            Ok(Value::String(flag.to_string()))
        }
        Value::Bool(_) if forms.has("boolean") => Ok(value),
        Value::Null => Ok(value),
        other => in_a_list(field, other, &forms, root),
    }
}

/// Creates a list of one item, where a list is wanted and the item could be in it.
fn in_a_list(field: &str, value: Value, forms: &Forms<'_>, root: &Value) -> Result<Value, Failure> {
    match forms.items() {
        Some(items) => Ok(Value::Array(vec![fit(field, value, items, root)?])),
        None => Ok(value),
    }
}

fn words_or_text(text: String, forms: &Forms<'_>) -> Value {
    let words = forms.words();
    if !words.is_empty() && !words.contains(&text.as_str()) {
        let folded = fold(&text);
        let mut same = words.iter().filter(|word| fold(word) == folded);
        if let (Some(word), None) = (same.next(), same.next()) {
            return Value::from(*word);
        }
    }
    if forms.is_path {
        return Value::String(path(text));
    }
    let start = text.trim_start();
    let wanted =
        (start.starts_with('[') && forms.has("array")) || (start.starts_with('{') && forms.has("object"));
    // A list of words is no text that anybody means: neither a command nor a glob begins `["`.
    if wanted && let Ok(read) = read_unambiguous(text.as_bytes()) {
        let is_right = match &read {
            Value::Array(items) => !items.is_empty() && items.iter().all(Value::is_string),
            Value::Object(fields) => fields.values().all(Value::is_string),
            _ => false,
        };
        if is_right {
            return read;
        }
    }
    Value::String(text)
}

/// Reads a text where the field takes none.
fn from_text(field: &str, text: String, forms: &Forms<'_>, root: &Value) -> Result<Value, Failure> {
    let plain = text.trim();
    if forms.has("integer") || forms.has("number") {
        let is_number = plain.parse::<i64>().is_ok() || (forms.has("number") && plain.parse::<f64>().is_ok());
        if is_number && let Ok(number) = plain.parse::<Number>() {
            return Ok(Value::Number(number));
        }
    }
    if forms.has("boolean")
        && let Some(flag) = flag(plain)
    {
        return Ok(Value::Bool(flag));
    }
    if !forms.has("array") && !forms.has("object") {
        return Ok(Value::String(text));
    }
    if plain.starts_with(['[', '{']) {
        return match json(field, plain)? {
            Value::Array(items) if !forms.has("array") && items.len() != 1 => Ok(Value::Array(items)),
            read => {
                let schema = serde_json::json!({"anyOf": forms.alternatives});
                fit(field, read, &schema, root)
            }
        };
    }
    if plain.is_empty() {
        Ok(Value::String(text))
    } else {
        in_a_list(field, Value::String(text), forms, root)
    }
}

/// Reads a text as `true` or `false`.
pub(super) fn flag(text: &str) -> Option<bool> {
    if text.eq_ignore_ascii_case("true") {
        Some(true)
    } else if text.eq_ignore_ascii_case("false") {
        Some(false)
    } else {
        None
    }
}

/// Reads the JSON text of a field.
///
/// # Errors
/// `invalid_request` when it is none, or has a key twice.
pub(super) fn json(field: &str, text: &str) -> Result<Value, Failure> {
    read_unambiguous(text.as_bytes()).map_err(|error| {
        let problem = if error.is_data() { "is ambiguous" } else { "is text, but not valid JSON" };
        Failure::invalid(field, format!("`{field}` {problem}: {error}"))
            .hint(format!("Send `{field}` as JSON itself instead of as text."))
    })
}

/// Returns the fields of an object their names and forms.
fn object(list: &str, fields: Map<String, Value>, forms: &Forms<'_>) -> Result<Map<String, Value>, Failure> {
    let list = list.rsplit('.').next().unwrap_or(list);
    let property = |name: &str| forms.having("object").find_map(|it| it["properties"].get(name));
    let names =
        || forms.having("object").filter_map(|it| it["properties"].as_object()).flat_map(|map| map.keys());
    if fields.len() > MAX_FIELDS {
        return Ok(fields);
    }
    if names().next().is_none() {
        // A map of the client's own names, such as `env`.
        let values = forms.having("object").map(|it| &it["additionalProperties"]).find(|it| it.is_object());
        return fields
            .into_iter()
            .map(|(name, value)| match values {
                Some(values) => {
                    Ok((name.clone(), fit(&format!("{list}.{name}"), value, values, forms.root)?))
                }
                None => Ok((name, value)),
            })
            .collect();
    }
    let mut placed = Map::new();
    for (name, value) in fields {
        let own = if property(&name).is_some() {
            name.clone()
        } else {
            let folded = fold(&name);
            let spelled = names().find(|it| fold(it) == folded).map(String::as_str);
            let other = || places::nested(list, &name).filter(|it| property(it).is_some());
            spelled.or_else(other).map_or_else(|| name.clone(), str::to_owned)
        };
        let value = match property(&own) {
            Some(schema) => fit(&format!("{list}.{own}"), value, schema, forms.root)?,
            None if places::is_idle(if list == "edits" { "file.patch" } else { "" }, &name, &value) => {
                continue;
            }
            None => value,
        };
        match placed.get(&own) {
            Some(before) if *before != value && !value.is_null() => {
                return Err(Failure::invalid(
                    &format!("{list}.{own}"),
                    format!("`{name}` is another name of `{own}` in `{list}`, and the two differ"),
                )
                .hint(format!("Send `{own}` only.")));
            }
            Some(_) => {}
            None => drop(placed.insert(own, value)),
        }
    }
    Ok(placed)
}

/// Returns a text field its form: numbers are text too, and a list of one is its item.
pub(super) fn text(field: &str, value: Value) -> Result<Option<String>, Failure> {
    match value {
        Value::Null => Ok(None),
        Value::String(text) => Ok((!text.is_empty()).then_some(text)),
        Value::Number(number) if !number.is_f64() => Ok(Some(number.to_string())),
        Value::Array(items) if items.len() == 1 && items[0].is_string() => {
            text(field, items.into_iter().next().expect("there is one"))
        }
        other => Err(Failure::invalid(field, format!("`{field}` must be a text, not {}", kind(&other)))),
    }
}

/// Takes the path out of a `file:` URL of this computer; other texts stay as they are.
pub(super) fn path(text: String) -> String {
    let Some(rest) = text.strip_prefix("file://") else { return text };
    let rest = rest.strip_prefix("localhost").unwrap_or(rest);
    if !rest.starts_with('/') {
        return text;
    }
    let mut bytes = Vec::with_capacity(rest.len());
    let mut left = rest.bytes();
    while let Some(byte) = left.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let mut digit = || (left.next()? as char).to_digit(16);
        let decoded = digit().zip(digit()).and_then(|(high, low)| u8::try_from(high * 16 + low).ok());
        let Some(decoded) = decoded else { return text };
        bytes.push(decoded);
    }
    match String::from_utf8(bytes) {
        // `file:///C:/work`: the drive is after the slash.
        Ok(path) if path.as_bytes().get(2) == Some(&b':') => path[1..].to_owned(),
        Ok(path) => path,
        Err(_) => text,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn fitted(value: Value, schema: Value) -> Value {
        fit("input.x", value, &schema, &Value::Null).expect("it fits, or stays as it is")
    }

    #[test]
    fn values_get_the_form_that_is_wanted() {
        let integer = json!({"type": ["integer", "null"]});
        let words = json!({"type": "array", "items": {"type": "string"}});
        let command = json!({"anyOf": [words, {"type": "string"}]});
        for (value, schema, expected) in [
            (json!("12"), &integer, json!(12)),
            (json!(" 3 "), &integer, json!(3)),
            (json!(3.0), &integer, json!(3)),
            (json!([4]), &integer, json!(4)),
            (json!("TRUE"), &json!({"type": "boolean"}), json!(true)),
            (json!("a"), &words, json!(["a"])),
            (json!("[\"a\",\"b\"]"), &words, json!(["a", "b"])),
            (json!(7), &words, json!(["7"])),
            (json!("[\"git\",\"status\"]"), &command, json!(["git", "status"])),
            (json!("git status"), &command, json!("git status")),
            (json!("[ -f a ]"), &command, json!("[ -f a ]")),
            (json!("Full"), &json!({"enum": ["concise", "full"]}), json!("full")),
            (
                json!({"PORT": 80}),
                &json!({"type": "object", "additionalProperties": {"type": "string"}}),
                json!({"PORT": "80"}),
            ),
            (json!("{\"a\":1}"), &json!({"type": "string"}), json!("{\"a\":1}")),
            (json!("12"), &json!({"type": "string"}), json!("12")),
        ] {
            assert_eq!(fitted(value.clone(), schema.clone()), expected, "{value}");
        }
    }

    #[test]
    fn what_does_not_fit_stays_as_it_is() {
        let integer = json!({"type": "integer"});
        for value in [json!("1x"), json!("1.5"), json!([1, 2]), json!(1.5), json!({"a": 1}), json!(true)] {
            assert_eq!(fitted(value.clone(), integer.clone()), value);
        }
        let content = json!({"type": ["string", "null"]});
        for value in [json!({"a": 1}), json!([1, 2]), json!(1.5)] {
            assert_eq!(fitted(value.clone(), content.clone()), value);
        }
    }

    #[test]
    fn a_text_that_is_no_json_or_means_two_things_is_refused() {
        let words =
            json!({"type": "array", "items": {"type": "object", "properties": {"old": {"type": "string"}}}});
        for text in ["[{\"old\":\"a\",\"old\":\"b\"}]", "[1,", "{\"old\":}"] {
            let failure = fit("input.edits", json!(text), &words, &Value::Null).expect_err(text);
            assert_eq!(failure.details["field"], "input.edits");
        }
    }

    #[test]
    fn urls_of_files_are_paths() {
        for (url, expected) in [
            ("file:///home/a/b%20c.txt", "/home/a/b c.txt"),
            ("file://localhost/a", "/a"),
            ("file:///C:/app/a", "C:/app/a"),
            ("file://server/share", "file://server/share"),
            ("file:///a%2", "file:///a%2"),
            ("file:///a%2e%2e/b", "/a../b"),
            ("a.txt", "a.txt"),
        ] {
            assert_eq!(path(url.to_owned()), expected);
        }
    }
}
