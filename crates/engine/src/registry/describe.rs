//! Operations described as JSON, for discovery.

use serde_json::{Map, Value, json};

use bailiwick_contract::{CommonOption, TargetRule};

use super::{Entry, SignatureLength, signature};

/// Describes an operation in a line: what a call looks like, and what it is for.
pub fn describe_shortly(entry: &Entry) -> Value {
    json!({
        "op": entry.spec.name,
        "signature": signature(entry, SignatureLength::Long),
        "summary": entry.spec.summary,
    })
}

/// Describes one operation: what it needs, its target, its fields with types, one example.
pub fn describe_operation(entry: &Entry) -> Value {
    let spec = entry.spec;
    let schemas = entry.schemas();
    let mut options = describe_fields(&schemas.options);
    for option in spec.options {
        options.insert(
            option.as_str().to_owned(),
            Value::from(CommonOption::describe(*option, spec.timeout_seconds)),
        );
    }
    json!({
        "op": spec.name,
        "signature": signature(entry, SignatureLength::Long),
        "summary": spec.summary,
        "effect": spec.effect,
        "needs": spec.capabilities.iter()
            .map(|group| group.iter().map(|it| it.as_str()).collect::<Vec<_>>().join(" or "))
            .collect::<Vec<_>>(),
        "target": describe_target(spec.target),
        "input": describe_fields(&schemas.input),
        "options": options,
        "example": serde_json::from_str::<Value>(spec.example).unwrap_or(Value::Null),
    })
}

/// Says in words what an operation's target is.
pub fn describe_target(rule: TargetRule) -> String {
    match rule {
        TargetRule::None => "none".to_owned(),
        TargetRule::Path(_) => "a path (required)".to_owned(),
        TargetRule::PathOrRoot(_) => "a path; default the scope's folder".to_owned(),
        rule => {
            let need = if rule.is_optional() { "optional" } else { "required" };
            format!("{} ({need})", rule.id_of().unwrap_or_default())
        }
    }
}

/// Returns each field of an object schema as `name: "type: description"`, `*` after required names.
fn describe_fields(schema: &Value) -> Map<String, Value> {
    let required: Vec<&str> = schema["required"]
        .as_array()
        .map(|names| names.iter().filter_map(Value::as_str).collect())
        .unwrap_or_default();
    let Some(properties) = schema["properties"].as_object() else { return Map::new() };
    properties
        .iter()
        .map(|(name, field)| {
            let star = if required.contains(&name.as_str()) { "*" } else { "" };
            let description = field["description"].as_str().unwrap_or_default().replace('\n', " ");
            (format!("{name}{star}"), Value::from(format!("{}: {description}", type_name(schema, field))))
        })
        .collect()
}

/// Names the type of a field in one word, or lists the values of an enumeration.
pub fn type_name(root: &Value, field: &Value) -> String {
    if let Some(reference) = field["$ref"].as_str() {
        let target = reference.strip_prefix("#/$defs/").map_or(&Value::Null, |name| &root["$defs"][name]);
        return type_name(root, target);
    }
    let alternatives = field["anyOf"].as_array().or_else(|| field["oneOf"].as_array());
    if let Some(alternatives) = alternatives {
        let mut names: Vec<String> = alternatives
            .iter()
            .map(|one| one["const"].as_str().map_or_else(|| type_name(root, one), str::to_owned))
            .filter(|name| name != "null")
            .collect();
        names.dedup();
        return names.join("|");
    }
    if let Some(values) = field["enum"].as_array() {
        return values.iter().filter_map(Value::as_str).collect::<Vec<_>>().join("|");
    }
    let one = |name: &str| match name {
        "array" => format!("{}[]", type_name(root, &field["items"])),
        other => other.to_owned(),
    };
    match &field["type"] {
        Value::String(name) => one(name),
        Value::Array(names) => names
            .iter()
            .filter_map(Value::as_str)
            .filter(|name| *name != "null")
            .map(one)
            .collect::<Vec<_>>()
            .join("|"),
        _ => "any".to_owned(),
    }
}
