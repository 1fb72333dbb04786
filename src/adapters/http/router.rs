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

/// Who gets an answer of a route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Everybody who names a host and an origin that are served.
    Open,
    /// Callers with a token, or programs of this computer where the config says so.
    Authenticated,
}

/// Every route that is always there, for the documents and for the test that walks them without a token.
pub const ROUTES: &[(&str, &str, Access)] = &[
    ("GET", "/healthz", Access::Open),
    ("POST", "/mcp", Access::Authenticated),
    ("POST", "/api/v1/operations", Access::Authenticated),
    ("GET", "/api/v1/info", Access::Authenticated),
    ("GET", "/api/v1/history", Access::Authenticated),
    ("GET", "/api/v1/openapi.json", Access::Authenticated),
];

/// The routes that a public URL adds.
pub const LOGIN_ROUTES: &[(&str, &str, Access)] = &[
    ("GET", "/.well-known/oauth-protected-resource", Access::Open),
    ("GET", "/.well-known/oauth-protected-resource/mcp", Access::Open),
    ("GET", "/.well-known/oauth-authorization-server", Access::Open),
    ("GET", "/.well-known/openid-configuration", Access::Open),
    ("POST", "/oauth/register", Access::Open),
    ("GET", "/oauth/authorize", Access::Open),
    ("POST", "/oauth/authorize", Access::Open),
    ("POST", "/oauth/token", Access::Open),
    ("POST", "/oauth/revoke", Access::Open),
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
    let handler = Handler::per_request(Arc::clone(service), shutdown.clone());
    let endpoint = mcp(handler.clone(), settings, bound);
    let protected = Router::new()
        .route_service("/mcp", endpoint.clone())
        .route_service("/mcp/", endpoint)
        .layer(middleware::from_fn_with_state(handler, mcp_route::exchange))
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

/// Creates the MCP endpoint: without sessions, so that nothing outlives a request; answers as event streams,
/// which every client has been seen to take.
fn mcp(
    handler: Handler,
    settings: &HttpSettings,
    bound: std::net::IpAddr,
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
    StreamableHttpService::new(move || Ok(handler.clone()), Arc::new(NeverSessionManager::default()), config)
}
