//! The request envelope: the one form in which every transport hands in work.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::Failure;
use super::json::read_unambiguous;

/// How deep arrays and objects may nest in a request.
pub const MAX_DEPTH: usize = 64;

/// One requested operation.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Envelope {
    /// The scope's id. A caller with exactly one scope may leave it out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<String>,
    /// The operation's name, such as `file.read`.
    pub op: String,
    /// The primary path, or the id of a process, display, window or session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// The operation's data.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub input: Map<String, Value>,
    /// Limits, filters, output format and safety controls.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub options: Map<String, Value>,
}

/// The names of the envelope's fields.
pub const FIELDS: &[&str] = &["scope", "op", "target", "input", "options"];

impl Envelope {
    /// Reads an envelope from JSON. `null` and `""` count as absent.
    ///
    /// # Errors
    /// `invalid_request` that names the field, what was expected and the accepted fields.
    pub fn from_value(value: Value) -> Result<Self, Failure> {
        check_depth(&value)?;
        let Value::Object(mut fields) = value else {
            return Err(Failure::invalid("", "the request must be a JSON object").hint(EXAMPLE_HINT));
        };
        let scope = take_text(&mut fields, "scope")?;
        let op = take_text(&mut fields, "op")?;
        let target = take_text(&mut fields, "target")?;
        let input = take_object(&mut fields, "input")?;
        let options = take_object(&mut fields, "options")?;
        if let Some(unknown) = fields.keys().next() {
            return Err(Failure::invalid(unknown, format!("the envelope has no field `{unknown}`"))
                .detail("accepted", FIELDS.to_vec())
                .hint("The fields are scope, op, target, input and options; an operation's own fields go into `input` or `options`."));
        }
        let op = op.ok_or_else(|| Failure::invalid("op", "`op` is missing").hint(EXAMPLE_HINT))?;
        Ok(Self { scope, op, target, input, options })
    }

    /// Reads an envelope from the bytes of a JSON text.
    ///
    /// # Errors
    /// As [`Envelope::from_value`]; broken JSON, and a key that an object has twice, are an `invalid_request` with line
    /// and column.
    pub fn from_json(bytes: &[u8]) -> Result<Self, Failure> {
        let value = read_unambiguous(bytes).map_err(|error| {
            let problem = if error.is_data() { "is ambiguous" } else { "is not valid JSON" };
            Failure::invalid("", format!("the request {problem}: {error}"))
        })?;
        Self::from_value(value)
    }
}

const EXAMPLE_HINT: &str = r#"Send an object such as {"scope":"app","op":"file.read","target":"README.md"}."#;

fn take_text(fields: &mut Map<String, Value>, name: &str) -> Result<Option<String>, Failure> {
    match fields.remove(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok((!text.is_empty()).then_some(text)),
        Some(other) => {
            Err(Failure::invalid(name, format!("`{name}` must be a string, not {}", kind(&other))))
        }
    }
}

fn take_object(fields: &mut Map<String, Value>, name: &str) -> Result<Map<String, Value>, Failure> {
    match fields.remove(name) {
        None | Some(Value::Null) => Ok(Map::new()),
        Some(Value::String(text)) if text.is_empty() => Ok(Map::new()),
        Some(Value::Object(map)) => Ok(map),
        Some(other) => {
            Err(Failure::invalid(name, format!("`{name}` must be an object, not {}", kind(&other)))
                .hint(format!("Send `{name}` as an object, or leave it out.")))
        }
    }
}

/// Names the JSON kind of a value, for messages.
pub fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

/// Checks that a value does not nest too deep.
///
/// # Errors
/// `invalid_request`.
pub fn check_depth(value: &Value) -> Result<(), Failure> {
    if depth_exceeds(value, MAX_DEPTH) {
        return Err(Failure::invalid(
            "",
            format!("the request nests arrays and objects deeper than {MAX_DEPTH} levels"),
        ));
    }
    Ok(())
}

/// Returns whether a value nests deeper than `limit`, without recursion beyond it.
fn depth_exceeds(value: &Value, limit: usize) -> bool {
    match value {
        Value::Array(items) => limit == 0 || items.iter().any(|item| depth_exceeds(item, limit - 1)),
        Value::Object(map) => limit == 0 || map.values().any(|item| depth_exceeds(item, limit - 1)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn empty_and_null_fields_count_as_absent() {
        let read = Envelope::from_value(json!({
            "scope": "", "op": "file.read", "target": null, "input": "", "options": null
        }));
        assert_eq!(read, Ok(Envelope { op: "file.read".into(), ..Envelope::default() }));
    }

    #[test]
    fn malformed_envelopes_name_the_field() {
        for (value, field) in [
            (json!({"op": 3}), "op"),
            (json!({"scope": "a"}), "op"),
            (json!({"op": "x", "input": []}), "input"),
            (json!({"op": "x", "path": "README"}), "path"),
            (json!([]), ""),
        ] {
            let failure = Envelope::from_value(value).expect_err("malformed");
            assert_eq!(failure.code, crate::ErrorCode::InvalidRequest);
            assert_eq!(failure.details["field"], field);
        }
    }

    #[test]
    fn a_request_that_means_two_things_is_refused() {
        let text = br#"{"scope":"app","op":"file.read","op":"file.delete","target":"a.txt"}"#;
        let failure = Envelope::from_json(text).expect_err("it names two operations");
        assert_eq!(failure.code, crate::ErrorCode::InvalidRequest);
        assert!(failure.message.contains("`op` is there twice"), "{}", failure.message);
        assert!(Envelope::from_json(br#"{"op":"x","input":{"a":{"b":1,"b":2}}}"#).is_err());
        assert!(Envelope::from_json(br#"{"op":"x","input":{"a":{"b":1},"c":{"b":2}}}"#).is_ok());
    }

    #[test]
    fn deep_nesting_is_refused() {
        let mut value = json!(1);
        for _ in 0..70 {
            value = json!([value]);
        }
        assert!(Envelope::from_value(json!({"op": "x", "input": {"a": value}})).is_err());
    }
}
