//! JSON Schemas (draft 2020-12) of requests and the config.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use crate::registry::{Entry, Registry, rebase};
use bailiwick_config::Config;
use bailiwick_contract::limits::MAX_TIMEOUT_SECONDS;
use bailiwick_contract::{CommonOption, Envelope, OperationSpec, ScopeNeed, TargetRule};

use crate::reference::outcome::DRAFT;

/// Creates the schema of any request.
pub fn envelope_schema(registry: &Registry) -> Value {
    let mut schema = of::<Envelope>("Envelope");
    let names: Vec<&str> = registry.operations().map(|entry| entry.spec.name).collect();
    schema["properties"]["op"]["enum"] = json!(names);
    schema
}

/// Creates the schema of `config.json`.
pub fn config_schema() -> Value {
    of::<Config>("Bailiwick config")
}

fn of<T: JsonSchema>(title: &str) -> Value {
    let mut schema = SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<T>().to_value();
    schema["title"] = json!(title);
    schema
}

/// Creates the schema of a request for one operation; `$defs` holds `input`, `options` and `output`.
pub fn operation_schema(entry: &Entry) -> Value {
    let spec = entry.spec;
    let schemas = entry.schemas();
    let input = rebased(schemas.input, "input");
    let mut options = rebased(schemas.options, "options");
    options["additionalProperties"] = json!(false);
    options["type"] = json!("object");
    if let Some(map) = options.as_object_mut() {
        let properties = map.entry("properties").or_insert_with(|| json!({}));
        for option in CommonOption::ALL.iter().filter(|option| honours(entry, **option)) {
            properties[option.as_str()] = common_option(*option, entry.spec);
        }
    }
    let output = rebased(schemas.output, "output");

    let mut properties = Map::new();
    properties
        .insert("scope".to_owned(), json!({"type": ["string", "null"], "description": "The scope's id."}));
    properties.insert("op".to_owned(), json!({"const": spec.name}));
    let mut required = vec!["op"];
    let target = match spec.target {
        TargetRule::None => json!({"enum": [null, ""], "description": "The operation has no target."}),
        TargetRule::Path(_) => {
            required.push("target");
            json!({"type": "string", "description": "A path, relative to the scope's folder."})
        }
        TargetRule::PathOrRoot(_) => {
            json!({"type": ["string", "null"], "description": "A path; default the scope's folder."})
        }
        rule if rule.is_optional() => json!({
            "type": ["string", "null"],
            "description": format!("{}; may be left out.", rule.id_of().unwrap_or_default()),
        }),
        rule => {
            required.push("target");
            json!({"type": "string", "description": format!("{}.", rule.id_of().unwrap_or_default())})
        }
    };
    properties.insert("target".to_owned(), target);
    properties.insert("input".to_owned(), json!({"$ref": "#/$defs/input"}));
    properties.insert("options".to_owned(), json!({"$ref": "#/$defs/options"}));
    if input["required"].as_array().is_some_and(|names| !names.is_empty()) {
        required.push("input");
    }
    let description =
        [spec.summary, ". ", spec.details].concat().trim_end().trim_end_matches(". ").to_owned();
    json!({
        "$schema": DRAFT,
        "title": spec.name,
        "description": description,
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
        "examples": [serde_json::from_str::<Value>(spec.example).unwrap_or(Value::Null)],
        "x-effect": spec.effect,
        "x-needs": spec.capabilities,
        "x-scope": match spec.scope {
            ScopeNeed::In(types) => json!(types),
            ScopeNeed::Optional => json!([]),
        },
        "$defs": {"input": input, "options": options, "output": output}
    })
}

/// Returns whether an operation honours a shared option.
pub(super) fn honours(entry: &Entry, option: CommonOption) -> bool {
    matches!(option, CommonOption::TimeoutSeconds | CommonOption::MaxOutputBytes)
        || entry.spec.options.contains(&option)
}

/// Returns the schema of a shared option.
fn common_option(option: CommonOption, spec: &OperationSpec) -> Value {
    let mut schema = match option {
        CommonOption::TimeoutSeconds => {
            json!({"type": "integer", "minimum": 1, "maximum": MAX_TIMEOUT_SECONDS})
        }
        CommonOption::MaxOutputBytes => json!({"type": "integer", "minimum": 1_000}),
        CommonOption::DryRun => json!({"type": "boolean", "default": false}),
        CommonOption::Cursor => json!({"type": "string"}),
        CommonOption::Detail => json!({"enum": ["concise", "full"], "default": "concise"}),
    };
    schema["description"] = json!(option.describe(spec.timeout_seconds));
    schema
}

/// Creates a whole schema a part of another: its own `$defs` move with it.
fn rebased(mut schema: Value, place: &str) -> Value {
    rebase(&mut schema, "#/", &format!("#/$defs/{place}/"));
    schema
}
