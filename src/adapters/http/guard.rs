//! What a request has to pass before a route sees it.

use std::future::poll_fn;
use std::net::IpAddr;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;
use http::header::{
    CONNECTION, CONTENT_ENCODING, CONTENT_TYPE, HeaderValue, ORIGIN, RETRY_AFTER, USER_AGENT,
};
use http::{HeaderMap, Method, StatusCode};
use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::task::{JoinError, block_in_place};
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

use bailiwick_config::TokensLook;
use bailiwick_contract::{Caller, ErrorCode, Failure, Transport};
use bailiwick_engine::service::{Service, Share, Shares};

use super::super::auth::{Bearer, KeyRing, Refusals, Throttle, bearer};
use super::body::{self, RequestBody, SharedUse};
use super::client_steps::{ClientStep, StepLog, StepRecord};
use super::connections::Connection;
use super::cors;
use super::host::Hosts;
use super::login::{self, LoginEndpoint, LoginServer};
use super::origin::Origins;
use super::reply::{harden, json, not_found, refusal, slow_down, unauthorized, unavailable, unreadable};
use super::router::{Endpoint, Route};
use super::settings::{LARGE_BODY_BYTES, MAX_BODY_BYTES};

/// How long a request waits for its turn.
const TURN_TIMEOUT: Duration = Duration::from_secs(10);
/// The longest client name that is kept.
pub(super) const MAX_CLIENT_CHARS: usize = 100;

/// What is known about the other side of a connection.
#[derive(Debug, Clone)]
pub(super) struct Peer {
    /// Its address.
    pub address: IpAddr,
    /// The connection's id, which groups its requests in the history.
    pub id: Arc<str>,
    /// What the connection is doing.
    pub connection: Arc<Connection>,
}

/// What requests are held to.
pub(super) struct Guard {
    pub hosts: Hosts,
    pub origins: Origins,
    pub keys: Arc<KeyRing>,
    pub throttle: Throttle,
    pub refusals: Arc<Refusals>,
    /// Lets clients log in, under a public URL.
    pub login: Option<Arc<LoginServer>>,
    /// Whether every request counts as public.
    pub public_only: bool,
    /// Where what clients get through is written down, while somebody watches.
    pub steps: StepLog,
    pub service: Arc<Service>,
    /// Serve callers without a token: only ever true when bound to loopback.
    pub allow_without_token: bool,
    /// The threads of the listener.
    pub runtime: Handle,
    /// The requests in flight, shared among the callers.
    pub requests: Arc<Shares>,
    /// The bytes of their bodies.
    pub bodies: Arc<Shares>,
}

/// Checks host and origin, on every route, and adds the headers that every answer carries.
pub(super) async fn check_address(State(guard): State<Arc<Guard>>, request: Request, next: Next) -> Response {
    let body_was_left = Arc::new(AtomicBool::new(false));
    let mut request = RequestBody::wrap(request, Arc::clone(&body_was_left));
    // Steps are those of clients elsewhere: without a public URL there are none.
    let is_watched = (guard.public_only || guard.login.is_some()) && guard.steps.is_watched();
    let step = ClientStep::of_request(request.method(), request.uri().path()).filter(|_| is_watched);
    if is_watched {
        request.extensions_mut().insert(guard.steps.clone());
    }
    let mut response = if !guard.hosts.accept(request.headers(), request.uri()) {
        refusal(
            StatusCode::FORBIDDEN,
            "permission_denied",
            "this Host is not served here; the user can add it to http.allowedHosts with `bailiwick config edit`",
        )
    } else if guard.is_public(&request) && !Route::is_public(request.uri().path()) {
        not_found()
    } else if !guard.origins.accept(request.headers()) && !is_login_link(&request) {
        refusal(
            StatusCode::FORBIDDEN,
            "permission_denied",
            "requests from this Origin are not served; the user can add it to http.allowedOrigins with `bailiwick config edit`",
        )
    } else if let Some(origin) = guard.origins.named(request.headers()) {
        let mut response = if cors::is_preflight(request.method(), request.headers()) {
            cors::preflight(request.headers())
        } else {
            next.run(request).await
        };
        cors::allow(origin, response.headers_mut());
        response
    } else {
        next.run(request).await
    };
    if let Some(step) = step {
        guard.steps.record(&StepRecord { step, status: response.status().as_u16(), caller: None });
    }
    harden(response.headers_mut());
    // The next request on this connection would begin within the body.
    if body_was_left.load(Ordering::Acquire) {
        response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    }
    response
}

/// Finds the caller, then reads the body, on every route but `/healthz` and those of a login.
pub(super) async fn admit(State(guard): State<Arc<Guard>>, mut request: Request, next: Next) -> Response {
    let peer = request.extensions().get::<Peer>().cloned();
    let look = match guard.keys.look() {
        Some(look) => look,
        None => {
            let keys = Arc::clone(&guard.keys);
            let read = tokio::task::spawn_blocking(move || keys.refresh()).await;
            read.unwrap_or_else(|_| guard.keys.refresh())
        }
    };
    let caller = match guard.caller(&request, look) {
        Ok(caller) => caller,
        Err(AdmissionError::Unavailable(failure)) => return unavailable(&failure),
        Err(AdmissionError::Refused { caller, presented, reason }) => {
            let login = guard.login.as_ref().filter(|_| caller.transport == Transport::Http);
            let login = login.map(|login| login::challenge(&login.url));
            // Boxed, so that what this needs is not moved with every request.
            let refusal = guard.refuse(peer.as_ref(), &caller, presented, &reason, login.as_deref());
            return Box::pin(refusal).await;
        }
    };
    let is_post = request.method() == Method::POST;
    let announced = if is_post {
        check_body_headers(request.headers()).and_then(|()| body::size(request.body()))
    } else {
        Ok(0)
    };
    let bytes = match announced {
        Ok(bytes) => bytes,
        Err(status) => return guard.refuse_body(&caller, status).await,
    };
    let waiting = peer.map(|peer| peer.connection.wait());
    let Ok([turn, mut room]) = tokio::time::timeout(TURN_TIMEOUT, guard.shares(&caller, bytes)).await else {
        return guard.refuse_body(&caller, StatusCode::SERVICE_UNAVAILABLE).await;
    };
    request.extensions_mut().insert(caller.clone());
    let (parts, body) = request.into_parts();
    let read = if is_post { body::read(body).await } else { Ok(Bytes::new()) };
    drop(waiting);
    match read {
        Ok(bytes) => {
            room.shrink_to(bytes.len());
            let is_large = bytes.len() >= LARGE_BODY_BYTES;
            let answer = next.run(Request::from_parts(parts, Body::from(bytes)));
            let mut response = match is_large {
                false => answer.await,
                // It fails where it panics, or the service ends.
                true => beside_others(&guard.runtime, answer).await.unwrap_or_else(|_| cut_off()),
            };
            response.extensions_mut().insert(SharedUse { _shares: Arc::new([turn, room]) });
            // The type was checked above: rmcp says this of a body that it cannot read.
            if response.status() == StatusCode::UNSUPPORTED_MEDIA_TYPE {
                return unreadable();
            }
            response
        }
        Err(status) => guard.refuse_body(&caller, status).await,
    }
}

/// Runs a future on the listener's own threads. It may work for long without waiting: other threads take over meanwhile
/// what its thread has to do.
async fn beside_others<T: Send + 'static>(
    runtime: &Handle,
    future: impl Future<Output = T> + Send + 'static,
) -> Result<T, JoinError> {
    let has_others = runtime.runtime_flavor() == RuntimeFlavor::MultiThread;
    let working = async move {
        let mut future = pin!(future);
        poll_fn(|task| {
            let mut poll = || future.as_mut().poll(task);
            if has_others { block_in_place(poll) } else { poll() }
        })
        .await
    };
    AbortOnDropHandle::new(runtime.spawn(working)).await
}

/// Creates the answer to a request that did not come to its end.
fn cut_off() -> Response {
    unavailable(&Failure::new(ErrorCode::ProviderUnavailable, "the service has cut the request off"))
}

/// Why a request has no caller.
enum AdmissionError {
    /// Nothing can be said about any token now.
    Unavailable(Failure),
    Refused {
        caller: Box<Caller>,
        /// Whether it came with a token.
        presented: bool,
        /// For the history alone.
        reason: String,
    },
}

impl Guard {
    /// Waits for a caller's turn, and for room for its body.
    async fn shares(&self, caller: &Caller, bytes: usize) -> [Share; 2] {
        let turn = self.requests.take(caller.identity(), 1).await;
        [turn, self.bodies.take(caller.identity(), bytes).await]
    }

    fn caller(&self, request: &Request, look: TokensLook) -> Result<Caller, AdmissionError> {
        let transport = Route::transport(request.uri().path());
        let audience = self.login.as_ref().filter(|_| transport == Transport::Http);
        let audience = audience.map(|login| login.url.resource());
        let session = request.extensions().get::<Peer>().map(|peer| peer.id.to_string());
        let client = request
            .headers()
            .get(USER_AGENT)
            .and_then(|it| it.to_str().ok())
            .map(|name| name.chars().filter(|it| !it.is_control()).take(MAX_CLIENT_CHARS).collect());
        let refused = |presented: bool, name: Option<String>, reason: &str| {
            let unknown = Caller::unknown(transport);
            let caller = Caller {
                name: name.unwrap_or(unknown.name),
                client: Clone::clone(&client),
                session: session.clone(),
                ..unknown
            };
            AdmissionError::Refused { caller: Box::new(caller), presented, reason: reason.to_owned() }
        };
        let caller = match bearer(request.headers()) {
            Bearer::Token(token) => match self.keys.verify(look, token, transport, audience.as_deref()) {
                Ok(Some(caller)) => caller,
                Ok(None) => {
                    let (name, reason) = self.keys.why_refused(token);
                    return Err(refused(true, name, &reason));
                }
                // Not a word about the token: a client that gets 401 throws its login away.
                Err(failure) => return Err(AdmissionError::Unavailable(failure)),
            },
            Bearer::Malformed => {
                return Err(refused(true, None, "the header `Authorization` is not one bearer token"));
            }
            Bearer::Absent if self.is_let_in_without_token(request.headers()) => Caller::local(transport),
            Bearer::Absent => return Err(refused(false, None, "no token was sent")),
        };
        Ok(Caller { session, client, ..caller })
    }

    /// Returns whether a request comes by the public URL: it names it, or a tunnel or proxy says that it passed it on.
    fn is_public(&self, request: &Request) -> bool {
        if self.public_only {
            return true;
        }
        let Some(login) = &self.login else { return false };
        let is_named = Hosts::names(request.headers(), login.url.host());
        is_named && login.url.is_https() || Hosts::is_passed_on(request.headers())
    }

    /// Returns whether a request needs no token: it must come from a program of this computer, or from a page that the
    /// person has named.
    fn is_let_in_without_token(&self, headers: &HeaderMap) -> bool {
        self.allow_without_token && Hosts::is_from_here(headers) && self.origins.accept_without_token(headers)
    }

    /// Records and answers a request without a valid token.
    async fn refuse(
        &self,
        peer: Option<&Peer>,
        caller: &Caller,
        presented: bool,
        reason: &str,
        login: Option<&str>,
    ) -> Response {
        let address = peer.map(|peer| peer.address);
        // A request that is refused takes no place from anybody.
        let _waiting = peer.map(|peer| peer.connection.wait());
        let warnings = self.refusals.record(&self.service, caller, address, reason).await;
        let wait = address.filter(|_| presented).and_then(|address| self.throttle.strike(address));
        wait.map_or_else(|| unauthorized(presented, login, &warnings), |wait| slow_down(wait, &warnings))
    }

    /// Records and answers a request of a known caller whose body is not taken.
    async fn refuse_body(&self, caller: &Caller, status: StatusCode) -> Response {
        let (code, message) = match status {
            StatusCode::REQUEST_TIMEOUT => {
                (ErrorCode::Timeout, "the body took too long to arrive".to_owned())
            }
            StatusCode::UNSUPPORTED_MEDIA_TYPE => (
                ErrorCode::InvalidRequest,
                "the body must be JSON as it is: Content-Type: application/json, no Content-Encoding"
                    .to_owned(),
            ),
            StatusCode::SERVICE_UNAVAILABLE => (
                ErrorCode::ProviderUnavailable,
                "too many requests are in flight; this one has waited for its turn in vain".to_owned(),
            ),
            _ => (
                ErrorCode::InvalidRequest,
                format!("the body must arrive whole and have at most {MAX_BODY_BYTES} bytes"),
            ),
        };
        let gone = CancellationToken::new();
        let outcome = self.service.handle(caller, Err(Failure::new(code, message)), &gone).await;
        let mut response = json(status, outcome.into_reply().into_text());
        if status == StatusCode::SERVICE_UNAVAILABLE {
            response.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("1"));
        }
        response
    }
}

/// Returns whether a browser follows a link to the page of a login: it may come from any site.
///
/// # Source
/// Fetch Metadata (W3C): a page's script cannot send `navigate`.
fn is_login_link(request: &Request) -> bool {
    let is_navigation = request.headers().get("sec-fetch-mode").is_some_and(|mode| mode == "navigate");
    let is_page = |route: &Route| {
        route.endpoint == Endpoint::Login(LoginEndpoint::Ask) && route.method == request.method()
    };
    Route::of(request.uri().path()).any(is_page) && is_navigation && !request.headers().contains_key(ORIGIN)
}

fn check_body_headers(headers: &HeaderMap) -> Result<(), StatusCode> {
    if !is_json(headers) || headers.contains_key(CONTENT_ENCODING) {
        return Err(StatusCode::UNSUPPORTED_MEDIA_TYPE);
    }
    Ok(())
}

/// Returns whether there is one content type and it is JSON, in UTF-8 if it says.
fn is_json(headers: &HeaderMap) -> bool {
    let mut types = headers.get_all(CONTENT_TYPE).iter();
    let (Some(value), None) = (types.next(), types.next()) else { return false };
    let Ok(text) = value.to_str() else { return false };
    let mut parts = text.split(';').map(str::trim);
    parts.next().is_some_and(|it| it.eq_ignore_ascii_case("application/json"))
        && parts.all(|it| {
            let it = it.to_ascii_lowercase();
            it == "charset=utf-8" || it == "charset=\"utf-8\""
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_json_is_json() {
        let check = |values: &[&str]| {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append(CONTENT_TYPE, value.parse().expect("a header value"));
            }
            is_json(&headers)
        };
        assert!(check(&["application/json"]) && check(&["Application/JSON; charset=UTF-8"]));
        for wrong in [
            &[][..],
            &["text/plain"],
            &["application/x-www-form-urlencoded"],
            &["multipart/form-data; boundary=x"],
            &["text/plain; application/json"],
            &["application/json; charset=utf-7"],
            &["application/json", "text/plain"],
        ] {
            assert!(!check(wrong), "{wrong:?}");
        }
    }
}
