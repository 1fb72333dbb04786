//! The fields of an operation one by one, each with what its value is, and values out of words.

use serde_json::{Map, Value};

use bailiwick_contract::{CommonOption, Failure};

use crate::registry::Entry;

/// A field of an operation.
#[derive(Debug, Clone)]
pub struct Field {
    /// The name on the wire, such as `maxResults`.
    pub name: String,
    /// Whether it belongs to `options` rather than `input`.
    pub is_option: bool,
    /// Whether it must be given.
    pub required: bool,
    /// What its value is.
    pub kind: Kind,
    /// What it is for.
    pub description: String,
}

/// What a value is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    /// `true` or `false`.
    Bool,
    /// A whole number.
    Integer,
    /// A number.
    Number,
    /// Text.
    Text,
    /// One of these texts.
    Choice(Vec<String>),
    /// Several values, by repeating the flag, or as a JSON array.
    List(Box<Kind>),
    /// Text, or an object or array as JSON.
    TextOrJson,
    /// Anything else, as JSON.
    Json,
}

/// Returns every field of an operation: of `input`, of `options`, and the shared options.
pub fn all_fields(entry: &Entry) -> Vec<Field> {
    let schemas = entry.schemas();
    let mut fields = own_fields(&schemas.input, false);
    fields.extend(own_fields(&schemas.options, true));
    for option in CommonOption::ALL {
        let universal = matches!(option, CommonOption::TimeoutSeconds | CommonOption::MaxOutputBytes);
        if universal || entry.spec.options.contains(option) {
            let kind = match option {
                CommonOption::TimeoutSeconds | CommonOption::MaxOutputBytes => Kind::Integer,
                CommonOption::DryRun => Kind::Bool,
                CommonOption::Cursor => Kind::Text,
                CommonOption::Detail => Kind::Choice(vec!["concise".to_owned(), "full".to_owned()]),
            };
            fields.push(Field {
                name: option.as_str().to_owned(),
                is_option: true,
                required: false,
                kind,
                description: option.describe(entry.spec.timeout_seconds),
            });
        }
    }
    fields
}

fn own_fields(schema: &Value, is_option: bool) -> Vec<Field> {
    let required: Vec<&str> = schema["required"]
        .as_array()
        .map(|it| it.iter().filter_map(Value::as_str).collect())
        .unwrap_or_default();
    let Some(properties) = schema["properties"].as_object() else { return Vec::new() };
    properties
        .iter()
        .map(|(name, field)| Field {
            name: name.clone(),
            is_option,
            required: required.contains(&name.as_str()),
            kind: kind(schema, field),
            description: field["description"].as_str().unwrap_or_default().replace('\n', " "),
        })
        .collect()
}

/// Reads the kind of a value out of its JSON Schema.
fn kind(root: &Value, field: &Value) -> Kind {
    if let Some(name) = field["$ref"].as_str().and_then(|it| it.strip_prefix("#/$defs/")) {
        return kind(root, &root["$defs"][name]);
    }
    if let Some(values) = field["enum"].as_array() {
        let texts: Vec<String> = values.iter().filter_map(Value::as_str).map(str::to_owned).collect();
        return if texts.is_empty() { Kind::Json } else { Kind::Choice(texts) };
    }
    if let Some(ways) = field["anyOf"].as_array().or_else(|| field["oneOf"].as_array()) {
        let ways: Vec<&Value> = ways.iter().filter(|way| way["type"] != "null").collect();
        let constants: Vec<String> =
            ways.iter().filter_map(|way| way["const"].as_str()).map(str::to_owned).collect();
        return match ways.as_slice() {
            [only] => kind(root, only),
            _ if constants.len() == ways.len() => Kind::Choice(constants),
            ways if ways.iter().any(|way| kind(root, way) == Kind::Text) => Kind::TextOrJson,
            _ => Kind::Json,
        };
    }
    let name = match &field["type"] {
        Value::String(name) => name.as_str(),
        Value::Array(names) => match names.iter().filter_map(Value::as_str).find(|name| *name != "null") {
            Some(name) => name,
            None => return Kind::Json,
        },
        _ => return Kind::Json,
    };
    match name {
        "boolean" => Kind::Bool,
        "integer" => Kind::Integer,
        "number" => Kind::Number,
        "string" => Kind::Text,
        "array" => Kind::List(Box::new(kind(root, &field["items"]))),
        _ => Kind::Json,
    }
}

/// Turns a word into the value of a field.
///
/// # Errors
/// `invalid_request` for a word that is no such value; `flag` is what the user gave it by.
pub fn value(field: &Field, flag: &str, text: &str) -> Result<Value, Failure> {
    value_of(field, &field.kind, flag, text)
}

fn value_of(field: &Field, kind: &Kind, flag: &str, text: &str) -> Result<Value, Failure> {
    let short: String = text.chars().take(80).collect();
    let wrong = |expected: &str| {
        Err(Failure::invalid(&field.name, format!("`--{flag}` must be {expected}, not `{}`", short)))
    };
    match kind {
        Kind::Bool => match text {
            "true" => Ok(Value::Bool(true)),
            "false" => Ok(Value::Bool(false)),
            _ => wrong("true or false"),
        },
        Kind::Integer => match (text.parse::<u64>(), text.parse::<i64>()) {
            (Ok(number), _) => Ok(number.into()),
            (_, Ok(number)) => Ok(number.into()),
            _ => wrong("a whole number"),
        },
        Kind::Number => match text.parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(number.into()),
            _ => wrong("a number"),
        },
        Kind::Text => Ok(text.into()),
        Kind::Choice(values) if values.iter().any(|it| it == text) => Ok(text.into()),
        Kind::Choice(values) => wrong(&format!("one of {}", values.join(", "))),
        Kind::List(inner) => {
            if text.trim_start().starts_with('[') {
                match serde_json::from_str(text) {
                    Ok(list) => return Ok(list),
                    Err(_) if **inner != Kind::Text => return wrong("a value or a JSON array"),
                    // A text may begin with a bracket too.
                    Err(_) => {}
                }
            }
            value_of(field, inner, flag, text).map(|one| Value::Array(vec![one]))
        }
        // `true` and `1` are words of a command.
        Kind::TextOrJson => match serde_json::from_str::<Value>(text) {
            Ok(value) if value.is_object() || value.is_array() => Ok(value),
            Err(_) if text.starts_with("[\"") || text.starts_with("{\"") => wrong("a text or JSON"),
            _ => Ok(text.into()),
        },
        Kind::Json => match serde_json::from_str(text) {
            Ok(value) => Ok(value),
            Err(_) if text.starts_with(['{', '[', '"']) => wrong("JSON"),
            Err(_) => Ok(text.into()),
        },
    }
}

/// Puts a value into its part; repeated lists grow, anything else is replaced.
pub fn add(part: &mut Map<String, Value>, field: &Field, value: Value) {
    if let (Some(Value::Array(old)), Value::Array(new)) = (part.get_mut(&field.name), &value) {
        old.extend(new.iter().cloned());
        return;
    }
    part.insert(field.name.clone(), value);
}
