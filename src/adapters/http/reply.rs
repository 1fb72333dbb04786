//! Answers of the listener itself.

use axum::body::Body;
use axum::response::Response;
use http::header::{
    CACHE_CONTROL, CONTENT_TYPE, HeaderName, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE,
    X_CONTENT_TYPE_OPTIONS,
};
use http::{HeaderMap, StatusCode};
use serde_json::{Value, json};

use bailiwick_contract::Failure;

/// Creates an answer of JSON text.
pub(in super::super) fn json(status: StatusCode, text: impl Into<Body>) -> Response {
    let mut response = Response::new(text.into());
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

/// Creates the answer to a request that is not looked at further.
pub(super) fn refusal(status: StatusCode, code: &str, message: &str) -> Response {
    json(status, error_body(code, message).to_string())
}

/// Creates the answer where there is no route.
pub(super) fn not_found() -> Response {
    refusal(StatusCode::NOT_FOUND, "not_found", "there is no such route; see /api/v1/openapi.json")
}

/// As [`refusal`], with what is to be said about its record.
fn refusal_with(status: StatusCode, code: &str, message: &str, warnings: &[String]) -> Response {
    let mut body = error_body(code, message);
    if !warnings.is_empty() {
        body["warnings"] = Value::from(warnings);
    }
    json(status, body.to_string())
}

/// Creates the answer to an MCP message that cannot be read: a JSON-RPC error, for nobody knows which id.
pub(super) fn unreadable() -> Response {
    let message = "the body is not a JSON-RPC message: JSON in UTF-8, at most 128 levels deep";
    let error = json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32700, "message": message}});
    json(StatusCode::BAD_REQUEST, error.to_string())
}

fn error_body(code: &str, message: &str) -> Value {
    json!({"ok": false, "error": {"code": code, "message": message}})
}

/// Creates the answer to a request without a good token; it does not say what was wrong with the token. `login` says how to
/// log in, where that is possible.
pub(super) fn unauthorized(presented: bool, login: Option<&str>, warnings: &[String]) -> Response {
    let mut response = refusal_with(
        StatusCode::UNAUTHORIZED,
        "permission_denied",
        "a bearer token is needed: Authorization: Bearer bwl_… (`bailiwick token create NAME` makes one)",
        warnings,
    );
    let error = if presented { r#", error="invalid_token""# } else { "" };
    let login = login.map_or_else(String::new, |login| format!(", {login}"));
    let challenge = format!(r#"Bearer realm="bailiwick"{error}{login}"#);
    let challenge = HeaderValue::from_str(&challenge).expect("a challenge is ASCII");
    response.headers_mut().insert(WWW_AUTHENTICATE, challenge);
    response
}

/// Creates the answer while nothing can be said about any token.
pub(super) fn unavailable(failure: &Failure) -> Response {
    let error = json!({"ok": false, "error": failure.to_json()});
    json(StatusCode::SERVICE_UNAVAILABLE, error.to_string())
}

/// Creates the answer to an address that presents too many bad tokens.
pub(super) fn slow_down(wait: std::time::Duration, warnings: &[String]) -> Response {
    let (code, message) = ("permission_denied", "too many requests with a bad token");
    let mut response = refusal_with(StatusCode::TOO_MANY_REQUESTS, code, message, warnings);
    response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(wait.as_secs() + 1));
    response
}

/// Adds the headers that every answer carries.
pub(super) fn harden(headers: &mut HeaderMap) {
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(
        HeaderName::from_static("cross-origin-resource-policy"),
        HeaderValue::from_static("same-origin"),
    );
}
