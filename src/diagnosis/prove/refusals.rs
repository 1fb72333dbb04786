//! What must be refused: paths outside, closed files, rights that are not granted, requests that make no sense.

use std::fs;

use serde_json::json;

use bailiwick_contract::ErrorCode;

use super::installation::{ProofInstallation, SECRET, ask as ask_scope};
use crate::installation::child::McpChild;
use crate::installation::steps::{Expect, Steps, wrong};

/// Asks for what must not be given.
pub fn refusals(steps: &mut Steps, child: &mut McpChild, proof: &ProofInstallation) {
    steps.group("Refusals");
    let ask = |op, target, input, options| ask_scope("test", op, target, input, options);
    let look = json!({"scope": "look", "op": "file.create", "target": "x", "input": {"content": ""}});
    for (name, envelope, code) in [
        (
            "a path outside",
            ask("file.read", "../outside.txt", json!({}), json!({})),
            ErrorCode::PathOutOfScope,
        ),
        ("a link outside", ask("file.read", "outside-link", json!({}), json!({})), ErrorCode::PathOutOfScope),
        ("a secret", ask("file.read", ".env", json!({}), json!({})), ErrorCode::PermissionDenied),
        (
            "a secret as target",
            ask("file.move", "hello.txt", json!({"to": ".env"}), json!({"ifExists": "replace"})),
            ErrorCode::PermissionDenied,
        ),
        (
            "Git's own files",
            ask("file.create", ".git/hooks/pre-commit", json!({"content": "x"}), json!({})),
            ErrorCode::PermissionDenied,
        ),
        ("a right not granted", look, ErrorCode::PermissionDenied),
        ("an unknown scope", json!({"scope": "other", "op": "file.list"}), ErrorCode::UnknownScope),
        (
            "an unknown operation",
            json!({"scope": "test", "op": "policy.change"}),
            ErrorCode::UnknownOperation,
        ),
        (
            "an unknown field",
            ask("file.read", "hello.txt", json!({}), json!({"colour": 1})),
            ErrorCode::InvalidRequest,
        ),
        ("a missing file", ask("file.read", "none.txt", json!({}), json!({})), ErrorCode::NotFound),
    ] {
        steps.envelope(name, child, envelope, Expect::Refusal(code), |_| Ok(String::new()));
    }
    steps.step("the closed file", || match fs::read_to_string(proof.folder.join(".env")) {
        Ok(text) if text == format!("KEY={SECRET}\n") => Ok(((), "is as it was".to_owned())),
        _ => Err(wrong("it was changed")),
    });
}
