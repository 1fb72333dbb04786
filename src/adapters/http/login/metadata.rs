//! What a client reads to find out how to log in.

use axum::response::Response;
use http::StatusCode;
use serde_json::{Value, json};

use bailiwick_config::PublicUrl;

use super::super::reply::json as reply;

/// What a client may ask for: the use of this computer as the owner allows it, and to stay logged in.
pub const SCOPES: &str = "bailiwick offline_access";

/// The path of the metadata of the protected resource.
const RESOURCE_PATH: &str = "/.well-known/oauth-protected-resource/mcp";

/// Returns what a refusal says about logging in.
///
/// # Source
/// RFC 9728 §5.1.
pub fn challenge(url: &PublicUrl) -> String {
    format!(r#"resource_metadata="{}{RESOURCE_PATH}", scope="{SCOPES}""#, url.origin())
}

/// Answers with the metadata of the protected resource.
pub fn resource(url: &PublicUrl) -> Response {
    document(&json!({
        "resource": url.resource(),
        "resource_name": "Bailiwick",
        "authorization_servers": [url.origin()],
        "bearer_methods_supported": ["header"],
        "scopes_supported": SCOPES.split(' ').collect::<Vec<_>>(),
    }))
}

/// Answers with the metadata of the authorization server.
///
/// # Source
/// RFC 8414; RFC 9207 for `iss`; the MCP specification for client ID metadata documents.
pub fn server(url: &PublicUrl) -> Response {
    let at = |path: &str| format!("{}/oauth/{path}", url.origin());
    document(&json!({
        "issuer": url.origin(),
        "authorization_endpoint": at("authorize"),
        "token_endpoint": at("token"),
        "registration_endpoint": at("register"),
        "revocation_endpoint": at("revoke"),
        "response_types_supported": ["code"],
        "response_modes_supported": ["query"],
        "grant_types_supported": ["authorization_code", "refresh_token"],
        "code_challenge_methods_supported": ["S256"],
        "token_endpoint_auth_methods_supported": ["none"],
        "revocation_endpoint_auth_methods_supported": ["none"],
        "client_id_metadata_document_supported": true,
        "authorization_response_iss_parameter_supported": true,
        "scopes_supported": SCOPES.split(' ').collect::<Vec<_>>(),
    }))
}

fn document(value: &Value) -> Response {
    reply(StatusCode::OK, value.to_string())
}
