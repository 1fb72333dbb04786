//! What a field takes, in plain words, read out of its schema.

use serde_json::Value;
use serde_path_to_error::{Path, Segment};

/// How many words of an enumeration are listed.
const MAX_WORDS: usize = 24;

/// Returns what the field at a path of a schema takes, such as `a whole number from 1 to 500`.
pub(super) fn expected(schema: &Value, path: &Path) -> Option<String> {
    let mut forms = alternatives(schema, schema, 0);
    for segment in path.iter() {
        forms = match segment {
            Segment::Map { key } => {
                forms.iter().find_map(|form| form["properties"].get(key.as_str()).or_else(|| values(form)))
            }
            Segment::Seq { .. } => forms.iter().map(|form| &form["items"]).find(|items| items.is_object()),
            // The path ends where one of several forms would have to be chosen.
            Segment::Enum { .. } | Segment::Unknown => break,
        }
        .map(|found| alternatives(schema, found, 0))?;
    }
    let mut described: Vec<String> = Vec::new();
    let named: Vec<&str> = forms.iter().copied().flat_map(words).take(MAX_WORDS).collect();
    if !named.is_empty() {
        described.push(if let [only] = named.as_slice() {
            format!("`{only}`")
        } else {
            format!("one of {}", named.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", "))
        });
    }
    for form in forms.iter().filter(|form| is_open(form)) {
        for name in types(form) {
            if let Some(text) = described_type(schema, form, name)
                && !described.contains(&text)
            {
                described.push(text);
            }
        }
    }
    (!described.is_empty()).then(|| described.join(", or "))
}

fn described_type(root: &Value, form: &Value, name: &str) -> Option<String> {
    Some(match name {
        "integer" => format!("a whole number{}", range(form)),
        "number" => format!("a number{}", range(form)),
        "boolean" => "true or false".to_owned(),
        "string" => "a text".to_owned(),
        "array" => {
            let items = alternatives(root, &form["items"], 0);
            match items.iter().find_map(|item| item["properties"].as_object()) {
                Some(fields) => format!("a list of objects with {}", listed(fields.keys())),
                None if items.iter().any(|item| types(item).any(|it| it == "string")) => {
                    "a list of texts".to_owned()
                }
                None => "a list".to_owned(),
            }
        }
        "object" => match form["properties"].as_object() {
            Some(fields) => format!("an object with {}", listed(fields.keys())),
            None => "an object of names and texts".to_owned(),
        },
        _ => return None,
    })
}

fn listed<'a>(names: impl Iterator<Item = &'a String>) -> String {
    names.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

fn range(form: &Value) -> String {
    let least = form["minimum"].as_u64().unwrap_or_default();
    match form["maximum"].as_u64() {
        Some(most) => format!(" from {least} to {most}"),
        None if least == 0 => " of 0 or more".to_owned(),
        None => format!(" of {least} or more"),
    }
}

fn values(form: &Value) -> Option<&Value> {
    Some(&form["additionalProperties"]).filter(|it| it.is_object())
}

fn types(form: &Value) -> impl Iterator<Item = &str> {
    let one = form["type"].as_str();
    let several = form["type"].as_array().into_iter().flatten().filter_map(Value::as_str);
    one.into_iter().chain(several)
}

/// Returns whether a form takes more than certain words.
fn is_open(form: &Value) -> bool {
    words(form).next().is_none()
}

fn words(form: &Value) -> impl Iterator<Item = &str> {
    let several = form["enum"].as_array().into_iter().flatten().filter_map(Value::as_str);
    form["const"].as_str().into_iter().chain(several)
}

/// Follows references, and spreads alternatives.
fn alternatives<'a>(root: &'a Value, schema: &'a Value, depth: usize) -> Vec<&'a Value> {
    if depth > 8 {
        return Vec::new();
    }
    if let Some(name) = schema["$ref"].as_str().and_then(|it| it.strip_prefix("#/$defs/")) {
        return alternatives(root, &root["$defs"][name], depth + 1);
    }
    match schema["anyOf"].as_array().or_else(|| schema["oneOf"].as_array()) {
        Some(several) => several.iter().flat_map(|one| alternatives(root, one, depth + 1)).collect(),
        None => vec![schema],
    }
}

#[cfg(test)]
mod tests {
    use schemars::JsonSchema;
    use serde::Deserialize;
    use serde_json::json;

    use super::super::fields::{FieldNames, parse};

    #[derive(Debug, Default, Deserialize, JsonSchema)]
    #[serde(rename_all = "camelCase", default)]
    struct Sample {
        max: Option<usize>,
        #[schemars(range(min = 1, max = 500))]
        lines: Option<u64>,
        flag: bool,
        edits: Option<Vec<Edit>>,
        kind: Kind,
        names: Vec<String>,
    }

    #[derive(Debug, Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only read by serde")]
    struct Edit {
        old: String,
        expect: Option<u64>,
    }

    #[derive(Debug, Default, Deserialize, JsonSchema)]
    #[serde(rename_all = "lowercase")]
    enum Kind {
        #[default]
        File,
        Dir,
    }

    #[test]
    fn what_is_wrong_is_said_in_plain_words() {
        let schema = schemars::generate::SchemaSettings::draft2020_12()
            .into_generator()
            .into_root_schema_for::<Sample>()
            .to_value();
        let names = FieldNames::from_schema(schema);
        for (value, message) in [
            (json!({"max": "x"}), "`options.max` must be a whole number of 0 or more"),
            (json!({"max": -1}), "`options.max` must be a whole number of 0 or more"),
            (json!({"lines": []}), "`options.lines` must be a whole number from 1 to 500"),
            (json!({"flag": 3}), "`options.flag` must be true or false"),
            (json!({"edits": 3}), "`options.edits` must be a list of objects with `expect`, `old`"),
            (json!({"edits": [{"old": 3}]}), "`options.edits[0].old` must be a text"),
            (json!({"edits": [{"expect": 1}]}), "`options.edits[0].old` is missing"),
            (
                json!({"edits": [{"old": "a", "no": 1}]}),
                "`options.edits[0]` has no field `no` for this operation",
            ),
            (json!({"kind": "link"}), "`options.kind` must be one of `file`, `dir`"),
            (json!({"names": 3}), "`options.names` must be a list of texts"),
        ] {
            let fields = value.as_object().expect("an object");
            let failure = parse::<Sample>("options", fields.iter(), &names, &[]).expect_err("wrong");
            assert_eq!(failure.message, message);
        }
    }
}
