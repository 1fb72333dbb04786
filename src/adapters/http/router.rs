//! The routes: one table, of which the router is built. Everything but what the table calls open is behind the guard by
//! construction: it is the fallback of the outer router, so that a path which is in no row is behind it too.

use std::sync::Arc;

use axum::Router;
use axum::middleware;
use axum::routing::{MethodRouter, any, get};
use http::Method;
use rmcp::transport::StreamableHttpServerConfig;
use rmcp::transport::StreamableHttpService;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use tokio_util::sync::CancellationToken;

use bailiwick_contract::Transport;
use bailiwick_engine::service::Service;

use super::super::json_api::{Api, ApiEndpoint};
use super::super::mcp::Handler;
use super::guard::{Guard, admit, check_address};
use super::login::{LoginEndpoint, LoginServer};
use super::mcp_route::{self, McpEndpoint};
use super::reply::not_found;
use super::settings::{HttpSettings, MAX_BODY_BYTES};

/// Who gets an answer of a route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Everybody who names a host and an origin that are served.
    Open,
    /// Callers with a token, or programs of this computer where the config says so, by this transport.
    Authenticated(Transport),
}

/// From where a route is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// By its own address alone. The public URL does not say that it is there.
    Local,
    /// By the public URL, too.
    Public,
    /// There only where there is a public URL.
    PublicUrl,
}

/// What answers a route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Endpoint {
    /// Says that the service is there.
    Health,
    /// MCP.
    Mcp,
    /// The JSON API.
    Api(ApiEndpoint),
    /// A login.
    Login(LoginEndpoint),
}

/// A route.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Route {
    /// The method that it is for.
    pub method: Method,
    /// The path.
    pub path: &'static str,
    /// Who gets an answer.
    pub access: Access,
    /// From where it is reached.
    pub reach: Reach,
    /// What answers.
    pub endpoint: Endpoint,
}

const fn health(path: &'static str) -> Route {
    Route {
        method: Method::GET,
        path,
        access: Access::Open,
        reach: Reach::Public,
        endpoint: Endpoint::Health,
    }
}

const fn mcp(path: &'static str) -> Route {
    let access = Access::Authenticated(Transport::Http);
    Route { method: Method::POST, path, access, reach: Reach::Public, endpoint: Endpoint::Mcp }
}

const fn api(method: Method, path: &'static str, endpoint: ApiEndpoint) -> Route {
    let access = Access::Authenticated(Transport::JsonApi);
    Route { method, path, access, reach: Reach::Local, endpoint: Endpoint::Api(endpoint) }
}

const fn login(method: Method, path: &'static str, endpoint: LoginEndpoint) -> Route {
    let endpoint = Endpoint::Login(endpoint);
    Route { method, path, access: Access::Open, reach: Reach::PublicUrl, endpoint }
}

/// Every route.
pub const ROUTES: &[Route] = &[
    health("/healthz"),
    mcp("/mcp"),
    mcp("/mcp/"),
    api(Method::POST, "/api/v1/operations", ApiEndpoint::Operations),
    api(Method::GET, "/api/v1/info", ApiEndpoint::Info),
    api(Method::GET, "/api/v1/history", ApiEndpoint::History),
    api(Method::GET, "/api/v1/openapi.json", ApiEndpoint::Document),
    login(Method::GET, "/.well-known/oauth-protected-resource", LoginEndpoint::Resource),
    login(Method::GET, "/.well-known/oauth-protected-resource/mcp", LoginEndpoint::Resource),
    login(Method::GET, "/.well-known/oauth-authorization-server", LoginEndpoint::Issuer),
    login(Method::GET, "/.well-known/openid-configuration", LoginEndpoint::Issuer),
    login(Method::POST, "/oauth/register", LoginEndpoint::Register),
    login(Method::GET, "/oauth/authorize", LoginEndpoint::Ask),
    login(Method::POST, "/oauth/authorize", LoginEndpoint::Answer),
    login(Method::POST, "/oauth/token", LoginEndpoint::Exchange),
    login(Method::POST, "/oauth/revoke", LoginEndpoint::Revoke),
];

impl Route {
    /// Returns the routes of a path.
    pub fn of(path: &str) -> impl Iterator<Item = &'static Self> {
        ROUTES.iter().filter(move |route| route.path == path)
    }

    /// Returns the transport by which requests for a path come. What is in no row is asked for as the JSON API is.
    pub fn transport(path: &str) -> Transport {
        let transport = Self::of(path).find_map(|route| match route.access {
            Access::Open => None,
            Access::Authenticated(transport) => Some(transport),
        });
        transport.unwrap_or(Transport::JsonApi)
    }

    /// Returns whether the public URL has something at a path.
    pub fn is_public(path: &str) -> bool {
        Self::of(path).any(|route| route.reach != Reach::Local)
    }
}

/// What routes are answered by.
struct Parts {
    mcp: Arc<McpEndpoint>,
    api: Arc<Api>,
    login: Option<Arc<LoginServer>>,
}

impl Parts {
    /// Returns what answers at an endpoint. `None` for a login where nobody can log in.
    fn answer(&self, endpoint: Endpoint) -> Option<MethodRouter> {
        match endpoint {
            Endpoint::Health => Some(get(async || "ok")),
            // It answers what is not for it in the words of the protocol.
            Endpoint::Mcp => Some(any(mcp_route::exchange).with_state(Arc::clone(&self.mcp))),
            Endpoint::Api(endpoint) => Some(endpoint.route(Arc::clone(&self.api))),
            Endpoint::Login(endpoint) => self.login.as_ref().map(|server| endpoint.route(Arc::clone(server))),
        }
    }
}

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
    let parts = Parts {
        mcp: Arc::new(McpEndpoint { rmcp: rmcp_service(handler.clone(), settings, bound), handler }),
        api: Arc::new(Api { service: Arc::clone(service), shutdown: shutdown.clone() }),
        login: guard.login.clone(),
    };
    let (mut open, mut protected) = (Router::new(), Router::new());
    for route in ROUTES {
        let Some(answer) = parts.answer(route.endpoint) else { continue };
        match route.access {
            Access::Open => open = open.route(route.path, answer),
            Access::Authenticated(_) => protected = protected.route(route.path, answer),
        }
    }
    // Clients look here for a way to log in, which there is none of; a refusal would make them ask for one.
    if guard.login.is_none() {
        open = open.route("/.well-known/{*rest}", any(async || not_found()));
    }
    let protected = protected
        .fallback(async || not_found())
        .layer(middleware::from_fn_with_state(Arc::clone(&guard), admit));
    open.fallback_service(protected).layer(middleware::from_fn_with_state(guard, check_address))
}

/// Creates rmcp's part of the endpoint: without sessions, so that nothing outlives a request; answers as event streams,
/// which every client has been seen to take.
fn rmcp_service(
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
