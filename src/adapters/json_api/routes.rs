//! The routes of the JSON API.

use std::sync::{Arc, LazyLock};

use axum::Extension;
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, RawQuery, State};
use axum::response::Response;
use axum::routing::{MethodRouter, get, post};
use http::StatusCode;
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use bailiwick_contract::{Caller, Envelope, ErrorCode, Failure, Reply};
use bailiwick_engine::operations::FAMILIES;
use bailiwick_engine::reference::openapi;
use bailiwick_engine::registry::Registry;
use bailiwick_engine::service::Service;

use super::super::backend::{Backend, EmbeddedService, Origin};
use super::super::chain;
use super::super::http::json;
use super::super::mcp::history_envelope;
use super::query;

/// What the routes share.
pub struct Api {
    pub service: Arc<Service>,
    pub shutdown: CancellationToken,
}

/// What answers the routes, all of which are behind the guard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ApiEndpoint {
    /// Runs operations.
    Operations,
    /// Describes this computer.
    Info,
    /// Lists what has happened.
    History,
    /// Describes the API.
    Document,
}

impl ApiEndpoint {
    /// Returns what answers a route.
    pub fn route(self, api: Arc<Api>) -> MethodRouter {
        let answer = match self {
            Self::Operations => post(operations),
            Self::Info => get(info),
            Self::History => get(history),
            Self::Document => get(document),
        };
        // The guard has bounded and read the body.
        answer.layer(DefaultBodyLimit::disable()).with_state(api)
    }
}

async fn operations(
    State(api): State<Arc<Api>>,
    Extension(caller): Extension<Caller>,
    body: Bytes,
) -> Response {
    let requests = chain::read_json(&body);
    // It may be large, and what is asked for may take long.
    drop(body);
    api.answer(&caller, requests).await
}

async fn info(
    State(api): State<Arc<Api>>,
    Extension(caller): Extension<Caller>,
    RawQuery(query): RawQuery,
) -> Response {
    api.answer(&caller, info_envelope(&query.unwrap_or_default()).map(|it| vec![it])).await
}

async fn history(
    State(api): State<Arc<Api>>,
    Extension(caller): Extension<Caller>,
    RawQuery(query): RawQuery,
) -> Response {
    api.answer(&caller, history_request(&query.unwrap_or_default()).map(|it| vec![it])).await
}

/// The same document for every caller: it describes the program, not this computer.
async fn document() -> Response {
    static TEXT: LazyLock<String> = LazyLock::new(|| openapi(&Registry::new(FAMILIES)).to_string());
    json(StatusCode::OK, TEXT.as_str())
}

fn info_envelope(text: &str) -> Result<Envelope, Failure> {
    let mut envelope = Envelope { op: "computer.info".to_owned(), ..Envelope::default() };
    for (name, value) in query::parse(text, &["scope", "include", "family"])? {
        match name {
            "scope" => envelope.scope = (!value.is_empty()).then_some(value),
            "include" => {
                let parts = value.split(',').filter(|part| !part.is_empty()).map(Value::from).collect();
                envelope.input.insert(name.to_owned(), Value::Array(parts));
            }
            _ => drop(envelope.input.insert(name.to_owned(), Value::from(value))),
        }
    }
    Ok(envelope)
}

fn history_request(text: &str) -> Result<Envelope, Failure> {
    let (mut scope, mut view, mut fields) = (None, None, Map::new());
    for (name, value) in query::parse(text, &["scope", "view", "limit", "query", "cursor"])? {
        match name {
            "scope" => scope = (!value.is_empty()).then_some(value),
            "view" => view = (!value.is_empty()).then_some(value),
            "limit" => {
                let limit: u64 = value.parse().map_err(|_| {
                    Failure::invalid("limit", "the query parameter `limit` must be a whole number")
                })?;
                fields.insert(name.to_owned(), Value::from(limit));
            }
            _ => drop(fields.insert(name.to_owned(), Value::from(value))),
        }
    }
    history_envelope(scope, view.as_deref(), fields)
}

impl Api {
    async fn answer(&self, caller: &Caller, requests: Result<Vec<Envelope>, Failure>) -> Response {
        // The guard has just looked at the token.
        let embedded =
            EmbeddedService { service: Arc::clone(&self.service), caller: caller.clone(), keys: None };
        let backend = Backend::Embedded(embedded);
        // If the client goes away this future is dropped, and the operation told to stop.
        let reply = chain::run(&backend, &Origin::default(), requests, None, &self.shutdown, None).await;
        json(status(&reply), reply.into_text())
    }
}

/// Returns the status of the error code; of several requests, that of the one that was refused.
fn status(reply: &Reply) -> StatusCode {
    if reply.ok {
        return StatusCode::OK;
    }
    let outcome: Value = serde_json::from_str(&reply.text).expect("a reply is JSON text");
    let refused = outcome["answers"].as_array().and_then(|all| all.last()).unwrap_or(&outcome);
    let code: ErrorCode =
        serde_json::from_value(refused["error"]["code"].clone()).expect("a refusal has its code");
    StatusCode::from_u16(code.facts().http_status).expect("the statuses of the error codes are statuses")
}
