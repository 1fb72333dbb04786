//! The fields of a schema as rows of a table, those of nested objects with their path.

use serde_json::Value;

use crate::registry::type_name;
use bailiwick_contract::Capability;

use super::markdown::code;

/// How deep nested objects are spelled out.
const MAX_LEVEL: usize = 4;

/// Lists the fields of an object schema: name, type, description. Required names carry a star.
pub fn rows(schema: &Value, stars: RequiredMark) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    walk(schema, schema, "", 0, stars, &mut found);
    found
}

/// Whether required fields are marked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequiredMark {
    /// For what a client sends.
    Marked,
    /// For what a client gets.
    Unmarked,
}

fn walk(
    root: &Value,
    object: &Value,
    prefix: &str,
    level: usize,
    stars: RequiredMark,
    found: &mut Vec<Vec<String>>,
) {
    let required: Vec<&str> = object["required"]
        .as_array()
        .map(|names| names.iter().filter_map(Value::as_str).collect())
        .unwrap_or_default();
    let Some(properties) = object["properties"].as_object() else { return };
    // What must be given comes first.
    let mut fields: Vec<(&String, &Value)> = properties.iter().collect();
    fields.sort_by_key(|(name, _)| stars == RequiredMark::Marked && !required.contains(&name.as_str()));
    for (name, field) in fields {
        let star =
            if stars == RequiredMark::Marked && required.contains(&name.as_str()) { " \\*" } else { "" };
        let path = format!("{prefix}{name}");
        let target = resolve(root, field);
        let description = field["description"].as_str().or_else(|| target["description"].as_str());
        let (kind, values) = kind_and_values(root, field);
        found.push(vec![
            format!("{}{star}", code(&path)),
            kind,
            format!("{}{values}", description.unwrap_or_default()),
        ]);
        if level + 1 >= MAX_LEVEL {
            continue;
        }
        let items = resolve(root, &target["items"]);
        if target["properties"].is_object() {
            walk(root, target, &format!("{path}."), level + 1, stars, found);
        } else if items["properties"].is_object() {
            walk(root, items, &format!("{path}[]."), level + 1, stars, found);
        }
    }
}

/// Names the type; for an enumeration, also says what each value means, where the code does.
fn kind_and_values(root: &Value, field: &Value) -> (String, String) {
    let target = resolve(root, field);
    let several = target["items"].is_object();
    let target = if several { resolve(root, &target["items"]) } else { target };
    let alternatives = target["oneOf"].as_array();
    let values: Vec<&str> = match alternatives {
        Some(all) => all.iter().filter_map(|one| one["const"].as_str()).collect(),
        None => target["enum"].as_array().into_iter().flatten().filter_map(Value::as_str).collect(),
    };
    if values.is_empty() {
        return (type_name(root, field).replace('|', " or "), String::new());
    }
    if Capability::parse(values[0]).is_some() {
        let capability = "[capability](policy.md#capabilities)";
        return (if several { format!("{capability}\\[\\]") } else { capability.to_owned() }, String::new());
    }
    let kind = if several { "several of its values" } else { "one of its values" }.to_owned();
    let meaning = |value: &str| {
        let one = alternatives?.iter().find(|one| one["const"] == value)?;
        Some(format!(": {}", one["description"].as_str()?.trim_end_matches('.')))
    };
    let meanings: Vec<String> =
        values.iter().map(|value| format!("{}{}", code(value), meaning(value).unwrap_or_default())).collect();
    (kind, format!(" Values: {}.", meanings.join("; ")))
}

/// Follows references, and the one real alternative of an optional field.
fn resolve<'a>(root: &'a Value, field: &'a Value) -> &'a Value {
    if let Some(reference) = field["$ref"].as_str() {
        return reference.strip_prefix("#/$defs/").map_or(field, |name| resolve(root, &root["$defs"][name]));
    }
    if let Some(alternatives) = field["anyOf"].as_array() {
        let mut real = alternatives.iter().filter(|one| one["type"] != "null");
        if let (Some(only), None) = (real.next(), real.next()) {
            return resolve(root, only);
        }
    }
    field
}
