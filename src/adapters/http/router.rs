//! The routes. Everything but `/healthz` and the routes of a login is behind the guard by construction: it is the fallback
//! of the outer router, so that a route which is added later, or does not exist, is behind it too.

use std::sync::Arc;

use axum::Router;
use axum::middleware;
use axum::routing::{any, get};
use rmcp::transport::StreamableHttpServerConfig;
use rmcp::transport::StreamableHttpService;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use tokio_util::sync::CancellationToken;

use bailiwick_engine::service::Service;

use super::super::json_api;
use super::super::mcp::Handler;
use super::guard::{Guard, admit, check_address};
use super::login;
use super::mcp_route;
use super::reply::not_found;
use super::settings::{HttpSettings, MAX_BODY_BYTES};

/// Every route that is always there, for the documents and for the test that walks them without a token. Under a public
/// URL those of a login are added.
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
    let endpoint = mcp(service, settings, bound, shutdown);
    let protected = Router::new()
        .route_service("/mcp", endpoint.clone())
        .route_service("/mcp/", endpoint)
        .layer(middleware::from_fn(mcp_route::exchange))
        .merge(json_api::router(Arc::clone(service), shutdown.clone()))
        .fallback(async || not_found())
        .layer(middleware::from_fn_with_state(Arc::clone(&guard), admit));
    let open = Router::new().route("/healthz", get(async || "ok"));
    let open = match &guard.login {
        Some(server) => open.merge(login::router(Arc::clone(server))),
        // Clients look here for a way to log in, which there is none of; a refusal would make them ask for one.
        None => open.route("/.well-known/{*rest}", any(async || not_found())),
    };
    open.fallback_service(protected).layer(middleware::from_fn_with_state(guard, check_address))
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
    hosts.extend(settings.public_url.as_ref().map(|url| url.host().to_owned()));
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
