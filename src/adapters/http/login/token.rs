//! The endpoints that clients call: for tokens, to end a login, and to register.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::Response;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::StatusCode;
use http::header::{CONTENT_TYPE, HeaderMap};
use serde_json::json;
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use bailiwick_config::{ACCESS_MS, LoginTokens, Refresh, Tokens};
use bailiwick_contract::time::now_ms;

use super::super::reply::json as reply;
use super::codes::CodeUse;
use super::form::{Form, read_body};
use super::metadata::SCOPES;
use super::server::{Asker, LoginServer};
use crate::client_registrations::client::Client;

/// The fields that may come once.
const FIELDS: &[&str] = &[
    "grant_type",
    "code",
    "redirect_uri",
    "client_id",
    "code_verifier",
    "refresh_token",
    "resource",
    "scope",
];

/// Exchanges an authorization code or a refresh token for new tokens.
///
/// # Source
/// RFC 6749 §4.1.3 and §6; RFC 7636 §4.6; RFC 8707 §2.2.
pub async fn exchange(State(server): State<Arc<LoginServer>>, request: Request) -> Response {
    let asker = Asker::of(&request);
    let (parts, body) = request.into_parts();
    let Some(form) = Form::read(&parts.headers, body).await else {
        return wrong(
            "invalid_request",
            "a form was expected: application/x-www-form-urlencoded, at most 16 KiB",
        );
    };
    if form.doubles(FIELDS) {
        return wrong("invalid_request", "a field comes twice");
    }
    let Some(client_id) = form.get("client_id") else {
        return wrong("invalid_request", "`client_id` is missing");
    };
    if form.get("resource").is_some_and(|resource| !server.is_resource(resource)) {
        return wrong("invalid_target", "`resource` is not the URL of this service's MCP endpoint");
    }
    match form.get("grant_type") {
        Some("authorization_code") => exchange_code(&server, &asker, &form, client_id).await,
        Some("refresh_token") => renew(&server, &asker, &form, client_id).await,
        _ => wrong("unsupported_grant_type", "`grant_type` is `authorization_code` or `refresh_token`"),
    }
}

async fn exchange_code(server: &Arc<LoginServer>, asker: &Asker, form: &Form, client_id: &str) -> Response {
    let (Some(code), Some(verifier)) = (form.get("code"), form.get("code_verifier")) else {
        return wrong("invalid_request", "`code` and `code_verifier` are needed");
    };
    let approval = match server.codes.take(code) {
        CodeUse::First(approval) => approval,
        CodeUse::Again(login) => {
            let reason = "an authorization code was used a second time; its login was ended";
            if let Some(id) = login {
                let _ = server.edit(move |tokens| Ok(tokens.revoke(&id))).await;
            }
            return server.refuse(asker, "invalid_grant", reason).await;
        }
        CodeUse::Unknown => {
            return server
                .refuse(asker, "invalid_grant", "an authorization code is unknown, or too old")
                .await;
        }
    };
    let is_same = |name: &str, wanted: &str| form.get(name) == Some(wanted);
    if approval.login.client_id != client_id || !is_same("redirect_uri", &approval.redirect_uri) {
        return server
            .refuse(asker, "invalid_grant", "an authorization code of another client was presented")
            .await;
    }
    if !fits(verifier, &approval.challenge) {
        return server
            .refuse(asker, "invalid_grant", "`code_verifier` does not fit the login's challenge")
            .await;
    }
    let login = approval.login;
    let issued = server.edit(move |tokens| tokens.log_in(login, now_ms())).await;
    match issued {
        Ok(issued) if !server.codes.set_login(code, &issued.record.id) => {
            let id = issued.record.id;
            let _ = server.edit(move |tokens| Ok(tokens.revoke(&id))).await;
            let reason = "an authorization code was used twice at once; its login was ended";
            server.refuse(asker, "invalid_grant", reason).await
        }
        Ok(issued) => {
            server.record_login(asker, &issued.record).await;
            granted(&issued)
        }
        Err(_) => unavailable(),
    }
}

async fn renew(server: &Arc<LoginServer>, asker: &Asker, form: &Form, client_id: &str) -> Response {
    let Some(presented) = form.get("refresh_token").map(str::to_owned) else {
        return wrong("invalid_request", "`refresh_token` is needed");
    };
    let client_id = client_id.to_owned();
    let used = move |tokens: &mut Tokens, presented: &str| tokens.refresh(presented, &client_id, now_ms());
    match server.edit_login(presented, used).await {
        Ok(Some(Refresh::Renewed(issued))) => granted(&issued),
        Ok(Some(Refresh::Reused(record))) => {
            let reason =
                format!("a refresh token of `{}` was used a second time; the login was ended", record.name);
            server.refuse(asker, "invalid_grant", &reason).await
        }
        Ok(Some(Refresh::Unknown) | None) => {
            server
                .refuse(asker, "invalid_grant", "a refresh token is unknown, too old, or of another client")
                .await
        }
        Err(_) => unavailable(),
    }
}

/// Ends the login whose token is presented. Says the same of a token that there is not.
///
/// # Source
/// RFC 7009 §2.
pub async fn revoke(State(server): State<Arc<LoginServer>>, headers: HeaderMap, body: Body) -> Response {
    let Some(form) = Form::read(&headers, body).await else {
        return wrong("invalid_request", "a form was expected");
    };
    let (Some(token), Some(client_id)) = (form.get("token"), form.get("client_id")) else {
        return wrong("invalid_request", "`token` and `client_id` are needed");
    };
    let (token, client_id) = (token.to_owned(), client_id.to_owned());
    match server.edit_login(token, move |tokens, token| Ok(tokens.log_out(token, &client_id))).await {
        Ok(_) => reply(StatusCode::OK, "{}"),
        Err(_) => unavailable(),
    }
}

/// Registers a client.
pub async fn register(State(server): State<Arc<LoginServer>>, headers: HeaderMap, body: Body) -> Response {
    let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let essence = kind.split(';').next().unwrap_or_default().trim();
    let body = if essence.eq_ignore_ascii_case("application/json") { read_body(body).await } else { None };
    let Some(body) = body else {
        return wrong("invalid_client_metadata", "JSON was expected, at most 16 KiB");
    };
    match Client::register(&server.signer, &body, now_ms()) {
        Ok(made) => reply(StatusCode::CREATED, made.to_string()),
        Err((code, problem)) => wrong(code, &problem),
    }
}

/// Returns whether a verifier is the one whose SHA-256 was sent before.
///
/// # Source
/// RFC 7636 §4.1 and §4.6; `plain` is not taken.
fn fits(verifier: &str, challenge: &str) -> bool {
    let is_plain = |it: u8| it.is_ascii_alphanumeric() || matches!(it, b'-' | b'.' | b'_' | b'~');
    let computed = URL_SAFE_NO_PAD.encode(Sha256::digest(verifier.as_bytes()));
    (43..=128).contains(&verifier.len())
        && verifier.bytes().all(is_plain)
        && bool::from(computed.as_bytes().ct_eq(challenge.as_bytes()))
}

fn granted(issued: &LoginTokens) -> Response {
    let answer = json!({
        "access_token": issued.access,
        "token_type": "Bearer",
        "expires_in": ACCESS_MS / 1_000,
        "refresh_token": issued.refresh,
        "scope": SCOPES,
    });
    reply(StatusCode::OK, answer.to_string())
}

/// Creates an answer of RFC 6749 §5.2.
pub fn wrong(code: &str, problem: &str) -> Response {
    let status = if code == "invalid_client" { StatusCode::UNAUTHORIZED } else { StatusCode::BAD_REQUEST };
    reply(status, json!({"error": code, "error_description": problem}).to_string())
}

/// Creates the answer while logins cannot be kept. What is wrong with the file is nothing for strangers.
fn unavailable() -> Response {
    let answer = json!({"error": "temporarily_unavailable", "error_description": "the service cannot keep logins now; `bailiwick doctor` says why"});
    reply(StatusCode::SERVICE_UNAVAILABLE, answer.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verifier_fits_its_challenge() {
        // RFC 7636, appendix B.
        let (verifier, challenge) =
            ("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk", "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM");
        assert!(fits(verifier, challenge));
        assert!(!fits(challenge, challenge), "plain is not taken");
        assert!(!fits(&verifier[1..], challenge));
        assert!(!fits("", ""));
    }
}
