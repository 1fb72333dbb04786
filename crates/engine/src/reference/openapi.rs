//! The OpenAPI document of the JSON API.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::registry::{Entry, Registry, packed_request};
use bailiwick_contract::ErrorCode;

use super::outcome::outcome_schema;

/// Creates the document: every operation is one form of the body of `POST /api/v1/operations`.
///
/// # Source
/// OpenAPI 3.1.1, whose schemas are JSON Schema draft 2020-12; each embedded schema has an `$id`, so that
/// its `$defs` stay its own.
pub fn openapi(registry: &Registry) -> Value {
    openapi_of(registry, packed_request)
}

/// Creates the document with the schemas of requests that a function gives.
pub(super) fn openapi_of(registry: &Registry, request_schema: impl Fn(&Entry) -> Value) -> Value {
    let mut schemas = Map::new();
    schemas.insert("Outcome".to_owned(), embedded(outcome_schema(), "outcome.json"));
    for entry in registry.operations() {
        let name = entry.spec.name;
        schemas.insert(name.to_owned(), embedded(request_schema(entry), &format!("operations/{name}.json")));
    }
    schemas.insert("Several".to_owned(), several());
    schemas.insert("Answers".to_owned(), several_answers());
    let names = registry.operations().map(|entry| json!({"$ref": reference(entry.spec.name)}));
    let examples = registry.operations().map(|entry| (entry.spec.name.to_owned(), example(entry)));
    let body = json!({
        "required": true,
        "content": {"application/json": {
            "schema": {"anyOf": names.chain([json!({"$ref": reference("Several")})]).collect::<Vec<_>>()},
            "examples": examples.collect::<Map<_, _>>(),
        }},
    });
    let answers = answers("Outcome");
    json!({
        "openapi": "3.1.1",
        "info": {
            "title": "Bailiwick",
            "version": env!("CARGO_PKG_VERSION"),
            "summary": "Operations on this computer, inside the scopes that its person opened.",
            "license": {"name": "MIT", "identifier": "MIT"},
        },
        "servers": [{"url": "http://127.0.0.1:3939"}],
        "security": [{"bearer": []}],
        "paths": {
            "/api/v1/operations": {"post": {
                "operationId": "submit",
                "summary": "Run one operation, or several in order",
                "requestBody": body,
                "responses": self::answers("Answers"),
            }},
            "/api/v1/info": {"get": {
                "operationId": "info",
                "summary": "Tell what this computer is and what you may do here (computer.info)",
                "parameters": [
                    query("scope", "Tell of this scope only.", json!({"type": "string"})),
                    query("include", "The parts, separated by commas.", json!({"type": "string"})),
                    query("family", "Describe this family or operation in full.", json!({"type": "string"})),
                ],
                "responses": answers,
            }},
            "/api/v1/history": {"get": {
                "operationId": "history",
                "summary": "Tell what was done in a scope (history.*)",
                "parameters": [
                    query("scope", "The scope's id; optional for a caller with one scope.", json!({"type": "string"})),
                    query("view", "The operation of the family `history`, without the family; default `timeline`.", json!({"type": "string"})),
                    query("limit", "How many entries at most.", json!({"type": "integer", "minimum": 1})),
                    query("query", "What to look for.", json!({"type": "string"})),
                    query("cursor", "The `nextCursor` of an earlier answer.", json!({"type": "string"})),
                ],
                "responses": answers,
            }},
            "/api/v1/openapi.json": {"get": {
                "operationId": "openapi",
                "summary": "This document",
                "responses": {"200": {"description": "This document.", "content": {"application/json": {}}}},
            }},
            "/healthz": {"get": {
                "operationId": "health",
                "summary": "Tell that the service answers",
                "security": [],
                "responses": {"200": {"description": "`ok`", "content": {"text/plain": {"schema": {"const": "ok"}}}}},
            }},
        },
        "components": {
            "securitySchemes": {"bearer": {
                "type": "http",
                "scheme": "bearer",
                "description": "A token made by `bailiwick token create NAME`.",
            }},
            "schemas": schemas,
        },
    })
}

fn embedded(mut schema: Value, id: &str) -> Value {
    if let Some(map) = schema.as_object_mut() {
        map.remove("$schema");
        map.insert("$id".to_owned(), Value::from(id));
    }
    schema
}

fn reference(name: &str) -> String {
    format!("#/components/schemas/{name}")
}

fn example(entry: &Entry) -> Value {
    json!({
        "summary": entry.spec.summary,
        "value": serde_json::from_str::<Value>(entry.spec.example).unwrap_or(Value::Null),
    })
}

fn query(name: &str, description: &str, schema: Value) -> Value {
    json!({"name": name, "in": "query", "description": description, "schema": schema})
}

fn several() -> Value {
    json!({
        "type": "object",
        "description": "A request with others that follow it: each is run if the one before it succeeded, and judged by \
                        itself. They are in the scope of the first unless they name one.",
        "required": ["op", "then"],
        "properties": {
            "op": {"type": "string"},
            "then": {"type": "array", "items": {"type": "object", "required": ["op"]}, "maxItems": 15},
        },
    })
}

fn several_answers() -> Value {
    json!({
        "description": "The outcome of one request; of a request with `then`, the outcomes of all that were run.",
        "anyOf": [
            {"$ref": reference("Outcome")},
            {
                "type": "object",
                "required": ["ok", "answers", "notRun"],
                "properties": {
                    "ok": {"type": "boolean", "description": "Whether none of them was refused."},
                    "answers": {"type": "array", "items": {"$ref": reference("Outcome")}},
                    "notRun": {"type": "array", "items": {"type": "string"}, "description": "The operations that were not begun."},
                },
            },
        ],
    })
}

/// One answer for each status: several error codes can share one.
fn answers(schema: &str) -> Value {
    let content = json!({"application/json": {"schema": {"$ref": reference(schema)}}});
    let mut by_status: BTreeMap<u16, Vec<String>> = BTreeMap::new();
    for code in ErrorCode::ALL {
        let facts = code.facts();
        by_status.entry(facts.http_status).or_default().push(format!("`{}`: {}", facts.name, facts.meaning));
    }
    let mut answers = Map::new();
    answers.insert("200".to_owned(), json!({"description": "It was done.", "content": content}));
    for (status, meanings) in by_status {
        answers.insert(status.to_string(), json!({"description": meanings.join(" "), "content": content}));
    }
    for (status, description) in [
        ("401", "No token, or not a good one."),
        ("408", "The body took too long to arrive."),
        ("413", "The body is larger than 4 MiB."),
        ("415", "The body is not application/json."),
        ("429", "Too many requests with a bad token."),
    ] {
        answers.insert(status.to_owned(), json!({"description": description}));
    }
    Value::Object(answers)
}
