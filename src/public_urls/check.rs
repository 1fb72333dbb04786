//! The steps, in the order in which a client makes them.

use std::time::Duration;

use serde_json::{Value, json};

use bailiwick_platform::dirs::Dirs;

use super::hop::{Hop, HopReport};
use crate::client_registrations::client::is_own_registration;
use crate::installation::child::USUAL;
use bailiwick_providers::http_client::{HttpClient, HttpReply, HttpRequest, HttpUrl, NetworkError};

/// How long each part of a request may take.
const TIME: Duration = Duration::from_secs(10);
/// The address that the check registers; no browser is ever sent there.
const REDIRECT: &str = "http://127.0.0.1/callback";
/// The tool that the check calls.
const TOOL: &str = "get_computer_info";

/// A check of one URL.
pub struct UrlCheck<'c> {
    client: HttpClient,
    url: &'c HttpUrl,
    report: &'c mut (dyn FnMut(HopReport) + Send),
}

/// A hop failed, and was reported: what comes after it cannot be tried.
struct HopFailure;

impl<'c> UrlCheck<'c> {
    /// Prepares a check, whose hops are reported one by one.
    pub fn new(url: &'c HttpUrl, report: &'c mut (dyn FnMut(HopReport) + Send)) -> Self {
        Self { client: HttpClient::new(TIME), url, report }
    }

    /// Bounds the time of each part of a request.
    #[must_use]
    pub fn within(mut self, time: Duration) -> Self {
        self.client = HttpClient::new(time);
        self
    }

    /// Makes every step. With a token also those that need one.
    pub async fn run(mut self, token: Option<&str>) {
        let _ = self.every_step(token).await;
    }

    /// Makes the steps of a round trip: whether the URL leads to the installation in these folders.
    pub async fn round_trip(mut self, dirs: &Dirs) {
        let _ = self.trip(dirs).await;
    }

    async fn trip(&mut self, dirs: &Dirs) -> Result<(), HopFailure> {
        self.health().await?;
        // Not by the refusal that names it: each refusal leaves a row in the history.
        let metadata = self.url.with_path(&format!("/.well-known/oauth-protected-resource{}", self.url.path));
        let metadata = metadata.to_string();
        let issuer = self.resource(&metadata).await?;
        let server = self.server(&issuer).await?;
        let Some(client) = self.register(&server).await? else { return Ok(()) };
        if is_own_registration(dirs, &client) {
            self.ok(Hop::Registration, "it leads to this computer");
            return Ok(());
        }
        self.fail(
            Hop::Registration,
            "it leads to a Bailiwick that is not this one",
            "Point the tunnel or proxy to this computer, or run the command where that Bailiwick runs.",
        )
    }

    async fn every_step(&mut self, token: Option<&str>) -> Result<(), HopFailure> {
        self.health().await?;
        if let Some(metadata) = self.challenge(token.is_some()).await? {
            let issuer = self.resource(&metadata).await?;
            let server = self.server(&issuer).await?;
            if self.register(&server).await?.is_some() {
                self.ok(Hop::Registration, "a client can register");
            }
        }
        let Some(token) = token else {
            self.skip(Hop::Initialize, "give a token with --token");
            return Ok(());
        };
        self.calls(token).await
    }

    /// Asks whether Bailiwick answers. What is reached and is another program is no failure: it can be any MCP server.
    async fn health(&mut self) -> Result<(), HopFailure> {
        let url = self.url.with_path("/healthz");
        let is_name = url.host.parse::<std::net::IpAddr>().is_err() && self.client.proxy_for(&url).is_none();
        let answer = self.client.send(HttpRequest::get(&url)).await;
        let result = answer.as_ref().map(|_| ());
        for report in HopReport::of_network(&url.host, url.is_https, is_name, result) {
            (self.report)(report);
        }
        let reply = answer.map_err(|_: NetworkError| HopFailure)?;
        match (reply.status, reply.body.trim()) {
            (200, "ok") => self.ok(Hop::Health, "Bailiwick answers"),
            (301..=399, _) => {
                let to = reply.header("location").unwrap_or("another place").to_owned();
                return self.fail(
                    Hop::Health,
                    format!("it redirects to {to}"),
                    "Enter the URL that it redirects to, or switch the redirect off.",
                );
            }
            (403, body) if body.contains("this Host is not served here") => {
                return self.fail(
                    Hop::Health,
                    "Bailiwick answers, and does not serve this name",
                    format!("`bailiwick tunnel manual {}`, then `bailiwick serve` again.", self.url.origin()),
                );
            }
            (status @ (502..=504 | 520..=530), _) => {
                return self.fail(
                    Hop::Health,
                    format!("the tunnel or proxy answers {status}: it does not reach Bailiwick"),
                    "Start Bailiwick (`bailiwick serve`), and forward to the address that it prints.",
                );
            }
            (status, _) => {
                self.skip(Hop::Health, format!("/healthz answers {status}: not Bailiwick, or hidden"));
            }
        }
        Ok(())
    }

    /// Sends a request without a token; returns where the metadata is.
    async fn challenge(&mut self, has_token: bool) -> Result<Option<String>, HopFailure> {
        let reply = self.ask(Hop::Challenge, initialize(self.url)).await?;
        match reply.status {
            401 => {}
            200 => {
                return self.fail(
                    Hop::Challenge,
                    "it is served without a token: anybody can use it",
                    "Set `http.allowLoopbackWithoutToken` to false: `bailiwick config edit`.",
                );
            }
            404 | 405 => {
                return self.fail(
                    Hop::Challenge,
                    format!("{} answers {}: there is no MCP endpoint", self.url.path, reply.status),
                    format!("The endpoint of Bailiwick is {}/mcp.", self.url.origin()),
                );
            }
            other => {
                return self.fail(
                    Hop::Challenge,
                    format!("401 was expected, but the answer is {other}"),
                    "Let the tunnel or proxy pass requests on as they are, without a page or login of its own.",
                );
            }
        }
        let said = reply.header("www-authenticate").unwrap_or_default();
        match parameter(said, "resource_metadata") {
            Some(place) => {
                self.ok(Hop::Challenge, "refused, and it names the metadata");
                Ok(Some(place.to_owned()))
            }
            None if has_token => {
                self.skip(Hop::Challenge, "refused; it names no metadata, so clients need a token");
                Ok(None)
            }
            None => self.fail(
                Hop::Challenge,
                "refused, but `WWW-Authenticate` names no metadata: clients cannot log in",
                format!("`bailiwick tunnel manual {}`, or check with --token.", self.url.origin()),
            ),
        }
    }

    /// Reads the metadata of the endpoint; returns the issuer.
    async fn resource(&mut self, place: &str) -> Result<HttpUrl, HopFailure> {
        let hop = Hop::ResourceMetadata;
        let Ok(place) = HttpUrl::parse(place) else {
            return self.fail(hop, "`resource_metadata` is not a URL", PASS_ON);
        };
        let document = self.document(hop, &place).await?;
        let typed = self.url.to_string();
        if document["resource"].as_str() != Some(typed.trim_end_matches('/')) {
            let named = document["resource"].as_str().unwrap_or("nothing").to_owned();
            return self.fail(
                hop,
                format!("it is about {named}, not {typed}: clients refuse that"),
                format!("Enter {named} in the client, or set the public URL to {}.", self.url.origin()),
            );
        }
        let issuer = document["authorization_servers"][0].as_str().map(HttpUrl::parse);
        match issuer {
            Some(Ok(issuer)) => {
                self.ok(hop, format!("logins are at {}", issuer.origin()));
                Ok(issuer)
            }
            _ => self.fail(hop, "it names no server for logins", PASS_ON),
        }
    }

    /// Reads the metadata of the logins.
    async fn server(&mut self, issuer: &HttpUrl) -> Result<Value, HopFailure> {
        let hop = Hop::ServerMetadata;
        let path = issuer.path.trim_end_matches('/');
        let place = issuer.with_path(&format!("/.well-known/oauth-authorization-server{path}"));
        let document = self.document(hop, &place).await?;
        let named = document["issuer"].as_str().unwrap_or_default().trim_end_matches('/');
        if named != issuer.to_string().trim_end_matches('/') {
            return self.fail(hop, format!("its issuer is `{named}`, not `{issuer}`"), PASS_ON);
        }
        let methods = &document["code_challenge_methods_supported"];
        if !methods.as_array().is_some_and(|all| all.iter().any(|method| method == "S256")) {
            return self.fail(hop, "it does not offer PKCE with S256, which clients need", PASS_ON);
        }
        self.ok(hop, "authorization code with PKCE");
        Ok(document)
    }

    /// Registers a client; returns its id.
    async fn register(&mut self, server: &Value) -> Result<Option<String>, HopFailure> {
        let hop = Hop::Registration;
        let Some(place) = server["registration_endpoint"].as_str() else {
            self.skip(hop, "it offers none: only clients that it knows can log in");
            return Ok(None);
        };
        let Ok(place) = HttpUrl::parse(place) else {
            return self.fail(hop, "`registration_endpoint` is not a URL", PASS_ON);
        };
        let asked = json!({
            "client_name": "Bailiwick check",
            "redirect_uris": [REDIRECT],
            "grant_types": ["authorization_code", "refresh_token"],
            "response_types": ["code"],
            "token_endpoint_auth_method": "none",
        });
        let reply = self.ask(hop, HttpRequest::post(&place, asked.to_string())).await?;
        let id = json_of(&reply)["client_id"].as_str().map(str::to_owned);
        match id {
            Some(id) if (200..300).contains(&reply.status) => Ok(Some(id)),
            _ => self.fail(hop, format!("the answer is {}", reply.status), PASS_ON),
        }
    }

    /// The steps that need a token.
    async fn calls(&mut self, token: &str) -> Result<(), HopFailure> {
        let bearer = format!("Bearer {token}");
        let request = initialize(self.url).header("authorization", bearer.clone());
        let reply = self.ask(Hop::Initialize, request).await?;
        let result = self.result(Hop::Initialize, &reply)?;
        let name = result["serverInfo"]["name"].as_str().unwrap_or("a server").to_owned();
        self.ok(Hop::Initialize, format!("{name} answers"));
        let session = reply.header("mcp-session-id").map(str::to_owned);
        let request = |method: &str, params: Value| {
            let mut request = message(self.url, method, params).header("authorization", bearer.clone());
            request = request.header("mcp-protocol-version", USUAL);
            match &session {
                Some(session) => request.header("mcp-session-id", session.clone()),
                None => request,
            }
        };
        let list = request("tools/list", json!({}));
        let call = request("tools/call", json!({"name": TOOL, "arguments": {}}));
        let reply = self.ask(Hop::ToolsList, list).await?;
        let result = self.result(Hop::ToolsList, &reply)?;
        let tools: Vec<&str> = result["tools"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|tool| tool["name"].as_str())
            .collect();
        self.ok(Hop::ToolsList, format!("{} tools", tools.len()));
        if !tools.contains(&TOOL) {
            self.skip(Hop::Call, format!("there is no tool `{TOOL}`"));
            return Ok(());
        }
        let reply = self.ask(Hop::Call, call).await?;
        let result = self.result(Hop::Call, &reply)?;
        if result["isError"] == true {
            return self.fail(Hop::Call, format!("`{TOOL}` reports an error"), "Run `bailiwick log last`.");
        }
        self.ok(Hop::Call, format!("`{TOOL}` answers"));
        Ok(())
    }

    fn result(&mut self, hop: Hop, reply: &HttpReply) -> Result<Value, HopFailure> {
        match reply.status {
            200 => {}
            401 | 403 => {
                return self.fail(
                    hop,
                    format!("the token is not accepted ({})", reply.status),
                    "Check it with `bailiwick token list`, or make one: `bailiwick token create NAME`.",
                );
            }
            other => return self.fail(hop, format!("the answer is {other}"), PASS_ON),
        }
        let message = json_of(reply);
        match message.get("result") {
            Some(result) => Ok(result.clone()),
            None => {
                let said = message["error"]["message"].as_str().unwrap_or("no MCP message").to_owned();
                self.fail(hop, said, PASS_ON)
            }
        }
    }

    async fn document(&mut self, hop: Hop, place: &HttpUrl) -> Result<Value, HopFailure> {
        let reply = self.ask(hop, HttpRequest::get(place)).await?;
        if reply.status != 200 {
            return self.fail(hop, format!("{place} answers {}", reply.status), PASS_ON);
        }
        match serde_json::from_str(&reply.body) {
            Ok(document) => Ok(document),
            Err(_) => self.fail(hop, format!("{place} is not JSON"), PASS_ON),
        }
    }

    async fn ask(&mut self, hop: Hop, request: HttpRequest<'_>) -> Result<HttpReply, HopFailure> {
        let url = request.url.clone();
        match self.client.send(request).await {
            Ok(reply) => Ok(reply),
            Err(error) => self.fail(hop, format!("{url}: {}", error.problem), PASS_ON),
        }
    }

    fn ok(&mut self, hop: Hop, saw: impl Into<String>) {
        (self.report)(HopReport::ok(hop, saw));
    }

    fn skip(&mut self, hop: Hop, why: impl Into<String>) {
        (self.report)(HopReport::skipped(hop, why));
    }

    fn fail<T>(&mut self, hop: Hop, saw: impl Into<String>, fix: impl Into<String>) -> Result<T, HopFailure> {
        (self.report)(HopReport::failed(hop, saw, fix));
        Err(HopFailure)
    }
}

/// What helps where something between client and service changes requests or answers.
const PASS_ON: &str = "Let the tunnel or proxy pass /mcp, /oauth/ and /.well-known/ on as they are.";

fn initialize(url: &HttpUrl) -> HttpRequest<'_> {
    let params = json!({
        "protocolVersion": USUAL,
        "capabilities": {},
        "clientInfo": {"name": "bailiwick-check", "version": env!("CARGO_PKG_VERSION")},
    });
    message(url, "initialize", params)
}

fn message<'u>(url: &'u HttpUrl, method: &str, params: Value) -> HttpRequest<'u> {
    let message = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    HttpRequest::post(url, message.to_string()).header("accept", "application/json, text/event-stream")
}

/// Reads an answer as JSON, or the last message of an event stream.
fn json_of(reply: &HttpReply) -> Value {
    let is_stream = reply.header("content-type").is_some_and(|kind| kind.starts_with("text/event-stream"));
    let text = if is_stream {
        let mut messages = reply.body.lines().filter_map(|line| line.strip_prefix("data:")).map(str::trim);
        messages.rfind(|data| data.starts_with('{')).unwrap_or_default()
    } else {
        &reply.body
    };
    serde_json::from_str(text).unwrap_or_default()
}

/// Returns a quoted parameter of a challenge.
fn parameter<'c>(challenge: &'c str, name: &str) -> Option<&'c str> {
    let (_, rest) = challenge.split_once(&format!("{name}=\""))?;
    rest.split_once('"').map(|(value, _)| value)
}
