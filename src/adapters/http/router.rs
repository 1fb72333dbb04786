//! The routes. Everything but `/healthz` is behind the guard by construction: it is the fallback of the
//! outer router, so that a route which is added later, or does not exist, is behind it too.

use std::sync::Arc;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::middleware::{self, Next};
use axum::response::Response;
use axum::routing::get;
use http::{Method, StatusCode};
use rmcp::transport::StreamableHttpServerConfig;
use rmcp::transport::StreamableHttpService;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use tokio_util::sync::CancellationToken;

use bailiwick_contract::json::check_unambiguous;
use bailiwick_engine::service::Service;

use super::super::json_api;
use super::super::mcp::Handler;
use super::guard::{Guard, admit, check_address};
use super::reply::{json, refusal};
use super::settings::{HttpSettings, MAX_BODY_BYTES};

/// Every route, for the documents and for the test that walks them without a token.
pub const ROUTES: &[(&str, &str)] = &[
    ("GET", "/healthz"),
    ("POST", "/mcp"),
    ("POST", "/api/v1/operations"),
    ("GET", "/api/v1/info"),
    ("GET", "/api/v1/history"),
    ("GET", "/api/v1/openapi.json"),
];

/// Builds the routes.
pub(super) fn router(
    service: &Arc<Service>,
    guard: Guard,
    settings: &HttpSettings,
    bound: std::net::IpAddr,
    shutdown: &CancellationToken,
) -> Router {
    let guard = Arc::new(guard);
    let protected = Router::new()
        .route_service("/mcp", mcp(service, settings, bound, shutdown))
        .layer(middleware::from_fn(check_json))
        .merge(json_api::router(Arc::clone(service), shutdown.clone()))
        .fallback(not_found)
        .layer(middleware::from_fn_with_state(Arc::clone(&guard), admit));
    Router::new()
        .route("/healthz", get(async || "ok"))
        .fallback_service(protected)
        .layer(middleware::from_fn_with_state(guard, check_address))
}

/// Makes the MCP endpoint: without sessions, so that nothing outlives a request; answers as event streams,
/// which every client has been seen to take.
fn mcp(
    service: &Arc<Service>,
    settings: &HttpSettings,
    bound: std::net::IpAddr,
    shutdown: &CancellationToken,
) -> StreamableHttpService<Handler, NeverSessionManager> {
    // The guard has judged both already; rmcp's own checks are the second lock.
    let mut hosts: Vec<String> = ["localhost", "127.0.0.1", "::1"].map(str::to_owned).into();
    hosts.push(bound.to_string());
    hosts.extend(settings.allowed_hosts.iter().cloned());
    let mut origins: Vec<String> = ["http", "https"]
        .iter()
        .flat_map(|scheme| ["localhost", "127.0.0.1", "[::1]"].map(|host| format!("{scheme}://{host}:*")))
        .collect();
    origins.extend(settings.allowed_origins.iter().cloned());
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(false)
        .with_allowed_hosts(hosts)
        .with_allowed_origins(origins)
        .with_max_request_body_bytes(MAX_BODY_BYTES);
    let handler = Handler::per_request(Arc::clone(service), shutdown.clone());
    StreamableHttpService::new(move || Ok(handler.clone()), Arc::new(NeverSessionManager::default()), config)
}

/// Answers a body that is not JSON, or has a key twice, in the words of JSON-RPC.
async fn check_json(request: Request, next: Next) -> Response {
    if request.method() != Method::POST {
        return next.run(request).await;
    }
    let (parts, body) = request.into_parts();
    // The guard has read it: this only takes it out.
    let bytes = axum::body::to_bytes(body, MAX_BODY_BYTES).await.unwrap_or_else(|_| Bytes::new());
    if let Err(error) = check_unambiguous(&bytes) {
        let (code, problem) =
            if error.is_data() { (-32600, "is ambiguous") } else { (-32700, "is not valid JSON") };
        let error = serde_json::json!({
            "jsonrpc": "2.0",
            "id": null,
            "error": {"code": code, "message": format!("the body {problem}: {error}")},
        });
        return json(StatusCode::BAD_REQUEST, error.to_string());
    }
    next.run(Request::from_parts(parts, Body::from(bytes))).await
}

async fn not_found() -> Response {
    refusal(StatusCode::NOT_FOUND, "not_found", "there is no such route; see /api/v1/openapi.json")
}
