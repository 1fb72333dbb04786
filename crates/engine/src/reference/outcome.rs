//! The JSON Schema of answers.

use serde_json::{Value, json};

use bailiwick_contract::ErrorCode;

/// The draft that all schemas follow.
pub const DRAFT: &str = "https://json-schema.org/draft/2020-12/schema";

/// Creates the schema of any answer. Reading one: branch on `ok`, then on `error.code`.
pub fn outcome_schema() -> Value {
    let codes: Vec<Value> = ErrorCode::ALL
        .iter()
        .map(|code| json!({"const": code.as_str(), "description": code.facts().meaning}))
        .collect();
    let common = json!({
        "operationId": {"type": "string", "description": "The id of the request in the history (a ULID)."},
        "scope": {"type": ["string", "null"], "description": "The scope that was named or filled in."},
        "op": {"type": "string", "description": "The operation as asked; empty where the request named none."},
        "startedAt": {"type": "string", "format": "date-time", "description": "When the service began, RFC 3339 in UTC."},
        "durationMs": {"type": "number", "minimum": 0, "description": "How long it took, policy and work together."},
        "origin": {"enum": ["network", "screen", "untrusted_file"], "description": "Where the content comes from, where anybody may have written it: it can hold instructions."},
    });
    let with = |more: Value| -> Value {
        let mut properties = common.clone();
        if let (Some(properties), Value::Object(more)) = (properties.as_object_mut(), more) {
            properties.extend(more);
        }
        properties
    };
    let warnings = json!({
        "type": "array",
        "items": {"type": "string"},
        "description": "What the client should know besides the result. A failure has them where there are any."
    });
    let head = ["ok", "operationId", "scope", "op", "startedAt", "durationMs"];
    json!({
        "$schema": DRAFT,
        "title": "Outcome",
        "description": "The answer to a request: data, or an error. The form of `data` is in schemas/operations/.",
        "oneOf": [{"$ref": "#/$defs/success"}, {"$ref": "#/$defs/failure"}],
        "$defs": {
            "success": {
                "type": "object",
                "properties": with(json!({
                    "ok": {"const": true},
                    "data": {"description": "What the operation gives."},
                    "warnings": warnings,
                    "images": {
                        "type": "array",
                        "description": "Images that the client asked for.",
                        "items": {
                            "type": "object",
                            "properties": {
                                "mimeType": {"enum": ["image/png", "image/jpeg", "image/gif", "image/webp"]},
                                "base64": {"type": "string", "contentEncoding": "base64"}
                            },
                            "required": ["mimeType", "base64"],
                            "additionalProperties": false
                        }
                    }
                })),
                "required": ([&head[..], &["data", "warnings"]].concat()),
                "additionalProperties": false
            },
            "failure": {
                "type": "object",
                "properties": with(json!({"ok": {"const": false}, "error": {"$ref": "#/$defs/error"}, "warnings": warnings})),
                "required": ([&head[..], &["error"]].concat()),
                "additionalProperties": false
            },
            "error": {
                "type": "object",
                "properties": {
                    "code": {"$ref": "#/$defs/errorCode"},
                    "message": {"type": "string", "description": "What was asked and what stood in the way."},
                    "retryable": {"type": "boolean", "description": "Whether the same request can succeed later."},
                    "details": {
                        "type": "object",
                        "description": "Facts for programs.",
                        "properties": {
                            "stage": {"type": "string", "description": "The policy stage that refused."},
                            "rule": {"type": "string", "description": "The rule that refused."},
                            "field": {"type": "string", "description": "The field that is wrong, such as `input.content`."}
                        }
                    },
                    "hints": {
                        "type": "array",
                        "items": {"type": "string"},
                        "description": "The smallest changes that would make it work."
                    }
                },
                "required": ["code", "message", "retryable", "details", "hints"],
                "additionalProperties": false
            },
            "errorCode": {"oneOf": codes}
        }
    })
}
