//! The page on which the owner agrees to a login: first a proof, then what the client may use.

use std::collections::BTreeSet;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::{RawQuery, Request, State};
use axum::response::Response;
use http::StatusCode;
use http::header::{COOKIE, HeaderMap, HeaderValue, LOCATION, ORIGIN, SET_COOKIE};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use tokio::task::spawn_blocking;

use bailiwick_config::{LoginCode, NewLogin};
use bailiwick_contract::time::now_ms;
use bailiwick_contract::{Capability, hex, id};

use super::codes::Approval;
use super::form::Form;
use super::page;
use super::server::{Asker, LoginServer};
use crate::client_registrations::client::{Client, MAX_ID_BYTES};
use crate::client_registrations::redirect::Redirect;

/// How long a page may be answered: 15 minutes, in milliseconds.
const PAGE_VALID_MS: i64 = 900_000;
/// The longest `state` of a client.
const MAX_STATE_BYTES: usize = 2_048;
const PURPOSE: &str = "request";
/// The fields that may come once.
const FIELDS: &[&str] = &[
    "response_type",
    "client_id",
    "redirect_uri",
    "state",
    "scope",
    "resource",
    "code_challenge",
    "code_challenge_method",
];

/// What a client asks for, signed into the page: nothing is kept of it here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct AuthorizationRequest {
    id: String,
    client_id: String,
    redirect_uri: String,
    state: Option<String>,
    challenge: String,
    /// The SHA-256 of the browser's cookie, in hex.
    browser: String,
    at_ms: i64,
}

/// Shows the page, or sends the browser back with what is wrong.
///
/// # Source
/// RFC 6749 §4.1.1; RFC 7636 §4.3; RFC 8707 §2.1; RFC 9207.
pub async fn ask(
    State(server): State<Arc<LoginServer>>,
    headers: HeaderMap,
    RawQuery(query): RawQuery,
) -> Response {
    let form = Form::parse(query.unwrap_or_default().as_bytes());
    if form.doubles(FIELDS) {
        return page::problem("The link of the client is wrong: it says something twice.");
    }
    let client_id = form.get("client_id").unwrap_or_default();
    let known = (client_id.len() <= MAX_ID_BYTES).then(|| Client::find(&server.signer, client_id, now_ms()));
    let Some(client) = known.flatten() else {
        return page::problem(
            "This client is not registered here, or was a long time ago. Remove the connection in the client and add it again.",
        );
    };
    let redirect_uri = form.get("redirect_uri").unwrap_or_default();
    let Some(redirect) = Redirect::parse(redirect_uri).filter(|redirect| client.allows(redirect)) else {
        return page::problem("The client wants to send you to an address that it has not registered.");
    };
    let state = form.get("state");
    let wrong = |code: &str, problem: &str| {
        // Everybody can register an address of the web: a link of this service is not to lead there on its own.
        if !client.is_known && !redirect.is_of_this_computer() {
            return page::problem(&format!("The client asks in a way that is not served here: {problem}."));
        }
        back(&server, &redirect, state, &[("error", code), ("error_description", problem)])
    };
    if form.get("response_type") != Some("code") {
        return wrong("unsupported_response_type", "`response_type` is `code`");
    }
    let challenge = form.get("code_challenge").unwrap_or_default();
    let is_challenge = challenge.len() == 43
        && challenge.bytes().all(|it| it.is_ascii_alphanumeric() || matches!(it, b'-' | b'_'));
    if !is_challenge || form.get("code_challenge_method") != Some("S256") {
        return wrong("invalid_request", "`code_challenge` with the method S256 is needed");
    }
    if form.get("resource").is_some_and(|resource| !server.is_resource(resource)) {
        return wrong("invalid_target", "`resource` is not the URL of this service's MCP endpoint");
    }
    if state.is_some_and(|state| state.len() > MAX_STATE_BYTES) {
        return wrong("invalid_request", "`state` is too long");
    }
    let cookie = cookie(&server, &headers).map_or_else(new_cookie, Ok);
    let Ok(cookie) = cookie else { return page::problem("The system gives no random bytes. Try again.") };
    let asked = AuthorizationRequest {
        id: id::new_id(),
        client_id: client_id.to_owned(),
        redirect_uri: redirect_uri.to_owned(),
        state: state.map(str::to_owned),
        challenge: challenge.to_owned(),
        browser: hash(&cookie),
        at_ms: now_ms(),
    };
    let mut response = page::proof(&page_of(&server, &client, &redirect, &asked), "");
    let secure = if server.url.is_https() { "; Secure" } else { "" };
    let value = format!("{}={cookie}; Path=/; HttpOnly; SameSite=Lax{secure}", cookie_name(&server));
    response.headers_mut().insert(SET_COOKIE, HeaderValue::from_str(&value).expect("a cookie is ASCII"));
    response
}

/// Takes the answer of the page: refused, proved, or allowed.
pub async fn answer(State(server): State<Arc<LoginServer>>, request: Request) -> Response {
    let asker = Asker::of(&request);
    let (parts, body) = request.into_parts();
    match read_answer(&server, &parts.headers, body).await {
        Ok((form, asked, client)) => decide(&server, &asker, &form, asked, &client).await,
        Err(problem) => page::problem(problem),
    }
}

/// Reads the answer of the page, as the browser that was shown it sends it.
async fn read_answer(
    server: &LoginServer,
    headers: &HeaderMap,
    body: Body,
) -> Result<(Form, AuthorizationRequest, Client), &'static str> {
    let again = "This page is too old, or was opened in another browser. Begin again in the client.";
    // A page of another site can send a form here, but not say that it was this one.
    if headers.get(ORIGIN).is_none_or(|origin| origin.as_bytes() != server.url.origin().as_bytes()) {
        return Err(again);
    }
    let form = Form::read(headers, body).await.ok_or("The answer cannot be read.")?;
    let asked: AuthorizationRequest =
        form.get("request").and_then(|text| server.signer.read(PURPOSE, text)).ok_or(again)?;
    let is_fresh = (0..PAGE_VALID_MS).contains(&(now_ms() - asked.at_ms));
    let is_same_browser = cookie(server, headers).is_some_and(|cookie| hash(&cookie) == asked.browser);
    if !is_fresh || !is_same_browser {
        return Err(again);
    }
    let client = Client::find(&server.signer, &asked.client_id, now_ms()).ok_or(again)?;
    Ok((form, asked, client))
}

async fn decide(
    server: &Arc<LoginServer>,
    asker: &Asker,
    form: &Form,
    asked: AuthorizationRequest,
    client: &Client,
) -> Response {
    let redirect = Redirect::parse(&asked.redirect_uri).expect("it was checked before it was signed");
    let page = page_of(server, client, &redirect, &asked);
    if form.get("answer") == Some("refuse") {
        let answer = [("error", "access_denied"), ("error_description", "the owner refused")];
        return back(server, &redirect, asked.state.as_deref(), &answer);
    }
    if form.get("answer") == Some("allow") {
        if !server.codes.take_proof(&asked.id) {
            return page::problem("This page was answered already. Begin again in the client.");
        }
        return allow(server, form, &asked, client, &redirect);
    }
    if is_owner(server, form.get("code").unwrap_or_default()).await {
        server.codes.prove(&asked.id);
        let facts = server.service.facts();
        return page::choice(&page, &facts.config);
    }
    server
        .record_refusal(asker, &format!("a wrong login code was typed for the client `{}`", client.name))
        .await;
    page::proof(&page, "That code is not valid. `bailiwick token code` makes a new one.")
}

/// Creates a code for the client, for what was chosen.
fn allow(
    server: &LoginServer,
    form: &Form,
    asked: &AuthorizationRequest,
    client: &Client,
    redirect: &Redirect<'_>,
) -> Response {
    let config = server.service.facts().config;
    let chosen: BTreeSet<&str> = form.all("scope").collect();
    let is_scope = |id: &str| config.scopes.iter().any(|scope| scope.id == id);
    let capabilities: BTreeSet<Capability> = form.all("capability").filter_map(Capability::parse).collect();
    if chosen.is_empty() || !chosen.iter().all(|id| is_scope(id)) || capabilities.is_empty() {
        server.codes.prove(&asked.id);
        let mut page = page_of(server, client, redirect, asked);
        page.notice = "Choose at least one scope and one thing that it may do.";
        return page::choice(&page, &config);
    }
    let login = NewLogin {
        name: client.name.clone(),
        scopes: chosen.into_iter().map(str::to_owned).collect(),
        capabilities: capabilities.iter().map(ToString::to_string).collect(),
        client_id: asked.client_id.clone(),
        redirect_host: redirect.host().to_owned(),
        resource: server.url.resource(),
    };
    let approval =
        Approval { login, redirect_uri: asked.redirect_uri.clone(), challenge: asked.challenge.clone() };
    match server.codes.issue(approval) {
        Ok(code) => back(server, redirect, asked.state.as_deref(), &[("code", &code)]),
        Err(_) => page::problem("The system gives no random bytes. Try again."),
    }
}

/// Returns whether what was typed proves the owner: the one-time code, or the owner's token.
async fn is_owner(server: &Arc<LoginServer>, typed: &str) -> bool {
    let (server, typed) = (Arc::clone(server), typed.trim().to_owned());
    let check = move || {
        let dirs = server.service.facts().dirs.clone();
        server.keys.is_owner(&typed) || LoginCode::take(&dirs, &typed, now_ms()).unwrap_or(false)
    };
    spawn_blocking(check).await.expect("checking a code does not panic")
}

fn page_of<'a>(
    server: &'a LoginServer,
    client: &'a Client,
    redirect: &Redirect<'_>,
    asked: &AuthorizationRequest,
) -> page::Request<'a> {
    page::Request {
        client: &client.name,
        is_known: client.is_known,
        host: server.url.host(),
        goes_to: redirect.shown(),
        form_target: redirect.source(),
        request: server.signer.sign(PURPOSE, asked),
        notice: "",
    }
}

/// Sends the browser back to the client.
fn back(
    server: &LoginServer,
    redirect: &Redirect<'_>,
    state: Option<&str>,
    answer: &[(&str, &str)],
) -> Response {
    let mut pairs = answer.to_vec();
    pairs.extend(state.map(|state| ("state", state)));
    pairs.push(("iss", server.url.origin()));
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::SEE_OTHER;
    let location = redirect.with(&pairs);
    response.headers_mut().insert(LOCATION, HeaderValue::from_str(&location).expect("an address is ASCII"));
    response
}

fn cookie_name(server: &LoginServer) -> &'static str {
    if server.url.is_https() { "__Host-bailiwick-login" } else { "bailiwick-login" }
}

fn cookie(server: &LoginServer, headers: &HeaderMap) -> Option<String> {
    let wanted = cookie_name(server);
    let mut cookies = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
    let value = cookies.find_map(|text| {
        text.split(';').filter_map(|it| it.trim().split_once('=')).find(|(name, _)| *name == wanted)
    })?;
    let is_ours = value.1.len() == 64 && value.1.bytes().all(|it| it.is_ascii_hexdigit());
    is_ours.then(|| value.1.to_owned())
}

fn new_cookie() -> Result<String, getrandom::Error> {
    let mut bytes = [0_u8; 32];
    getrandom::fill(&mut bytes)?;
    Ok(hex(&bytes))
}

fn hash(cookie: &str) -> String {
    hex(&Sha256::digest(cookie.as_bytes()))
}
