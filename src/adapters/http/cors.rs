//! Cross-origin requests of the pages that `http.allowedOrigins` names. No other page gets a header that lets it read anything.
//!
//! # Source
//! Fetch (WHATWG), CORS protocol.

use axum::body::Body;
use axum::response::Response;
use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_METHOD, HeaderName,
    HeaderValue, ORIGIN, VARY,
};
use http::{HeaderMap, Method, StatusCode};

/// What a page may send.
const ALLOWED_HEADERS: &str = "authorization, content-type, accept, mcp-protocol-version, mcp-session-id, mcp-method, mcp-name, last-event-id";
/// What a page may read of an answer.
const EXPOSED_HEADERS: &str = "mcp-session-id, mcp-protocol-version, www-authenticate, retry-after";
/// A browser asks for this before a page of the network may reach this computer.
const PRIVATE_NETWORK: &str = "access-control-request-private-network";

/// Returns whether a request only asks what its page may send.
pub(super) fn is_preflight(method: &Method, headers: &HeaderMap) -> bool {
    method == Method::OPTIONS
        && headers.contains_key(ORIGIN)
        && headers.contains_key(ACCESS_CONTROL_REQUEST_METHOD)
}

/// Answers a preflight of a page that is named.
pub(super) fn preflight(asked: &HeaderMap) -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::NO_CONTENT;
    let headers = response.headers_mut();
    headers.insert(ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("GET, POST"));
    headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, HeaderValue::from_static(ALLOWED_HEADERS));
    headers.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("600"));
    if asked.contains_key(PRIVATE_NETWORK) {
        let allow = HeaderName::from_static("access-control-allow-private-network");
        headers.insert(allow, HeaderValue::from_static("true"));
    }
    response
}

/// Lets the page that sent a request read its answer.
pub(super) fn allow(origin: HeaderValue, headers: &mut HeaderMap) {
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static(EXPOSED_HEADERS));
    headers.append(VARY, HeaderValue::from_static("origin"));
}
