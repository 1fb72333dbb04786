//! Envelopes that every transport is sent.

use serde_json::{Value, json};

/// What is sent, and the error code that comes back (`ok` for none).
pub fn all() -> Vec<(&'static str, Value, &'static str)> {
    let mut deep = json!(1);
    for _ in 0..70 {
        deep = json!([deep]);
    }
    vec![
        ("works", json!({"scope": "app", "op": "file.stat", "target": "src/main.rs"}), "ok"),
        (
            "empty fields",
            json!({"scope": "app", "op": "file.stat", "target": "", "input": null, "options": ""}),
            "ok",
        ),
        (
            "no scope needed",
            json!({"op": "computer.info", "input": {"include": ["identity", "scopes"]}}),
            "ok",
        ),
        ("unknown operation", json!({"scope": "app", "op": "file.raed"}), "unknown_operation"),
        ("unknown scope", json!({"scope": "other", "op": "file.stat"}), "unknown_scope"),
        ("several scopes", json!({"op": "file.stat", "target": "README.md"}), "invalid_request"),
        (
            "unknown envelope field",
            json!({"scope": "app", "op": "file.stat", "target": "README.md", "frobnicate": 1}),
            "invalid_request",
        ),
        ("names of another tool", json!({"scope": "app", "op": "file_info", "path": "README.md"}), "ok"),
        (
            "unknown option",
            json!({"scope": "app", "op": "file.stat", "options": {"hsah": true}}),
            "invalid_request",
        ),
        (
            "wrong option type",
            json!({"scope": "app", "op": "file.stat", "options": {"timeoutSeconds": "x"}}),
            "invalid_request",
        ),
        ("no operation", json!({"scope": "app", "target": "README.md"}), "invalid_request"),
        ("operation of a wrong type", json!({"scope": "app", "op": 3}), "invalid_request"),
        (
            "input of a wrong type",
            json!({"scope": "app", "op": "file.stat", "input": [1]}),
            "invalid_request",
        ),
        ("deep", json!({"scope": "app", "op": "file.stat", "input": {"a": deep}}), "invalid_request"),
        ("closed file", json!({"scope": "app", "op": "file.stat", "target": ".env"}), "permission_denied"),
        (
            "no capability",
            json!({"scope": "blind", "op": "file.stat", "target": "todo.txt"}),
            "permission_denied",
        ),
        (
            "out of scope",
            json!({"scope": "app", "op": "file.stat", "target": "../outside/secret.txt"}),
            "path_out_of_scope",
        ),
        (
            "absolute",
            json!({"scope": "app", "op": "file.stat", "target": "/etc/passwd"}),
            "path_out_of_scope",
        ),
        ("not there", json!({"scope": "app", "op": "file.stat", "target": "none.txt"}), "not_found"),
        ("not text", json!({"scope": "app", "op": "file.stat", "target": "a\u{0}b"}), "invalid_request"),
        ("unicode", json!({"scope": "app", "op": "file.stat", "target": "ü→\u{1F600}.txt"}), "not_found"),
    ]
}
