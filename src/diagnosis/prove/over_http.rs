//! HTTP: a service of the throw-away installation, asked with a token, without, and from where nobody may ask.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::channel;
use std::time::Duration;

use serde_json::{Value, json};

use crate::installation::child::USUAL;
use crate::installation::limit::Limit;
use crate::installation::steps::{Steps, wrong};
use bailiwick_config::NewToken;
use bailiwick_contract::Failure;
use bailiwick_contract::time::now_ms;

use super::installation::ProofInstallation;

/// How long the service may take to listen.
const START_TIME: Duration = Duration::from_secs(8);
/// How long an answer may take.
const ANSWER_TIME: Duration = Duration::from_secs(4);
/// More than this is not read of an answer.
const MAX_ANSWER_BYTES: u64 = 1 << 20;

/// `bailiwick serve`, ended with its value.
struct Service {
    child: Child,
    address: SocketAddr,
}

impl Drop for Service {
    fn drop(&mut self) {
        // It may have ended on its own; what it left is in the throw-away folder.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Starts the service, and asks it in every way.
pub fn over_http(steps: &mut Steps, proof: &ProofInstallation) {
    steps.group("HTTP");
    let limit = steps.limit().clone();
    let started = steps.step("start the service", || {
        let token = make_token(proof)?;
        let service = start(proof, &limit)?;
        let saw = format!("it listens at {}", service.address);
        Ok(((service, token), saw))
    });
    let Some((service, token)) = started else { return };
    let envelope = json!({"scope": "test", "op": "file.stat", "target": "hello.txt"});
    let message = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": USUAL, "capabilities": {},
        "clientInfo": {"name": "bailiwick-prove", "version": env!("CARGO_PKG_VERSION")},
    }});
    let operations = Request { path: "/api/v1/operations", body: Some(&envelope), ..Request::default() };
    let mcp = Request { path: "/mcp", body: Some(&message), ..Request::default() };
    let token = Some(token.as_str());
    let other = Some("bw_not-a-token-of-this-computer");
    for (name, request, status, part) in [
        ("health, without a token", Request { path: "/healthz", ..Request::default() }, 200, "ok"),
        ("a call with a token", Request { token, ..operations }, 200, "\"ok\":true"),
        ("MCP with a token", Request { token, ..mcp }, 200, USUAL),
        ("a call without a token", operations, 401, ""),
        ("MCP without a token", mcp, 401, ""),
        ("a wrong token", Request { token: other, ..mcp }, 401, ""),
        ("a strange Host", Request { token, host: Some("evil.example"), ..mcp }, 403, ""),
        ("a strange Origin", Request { token, origin: Some("https://evil.example"), ..mcp }, 403, ""),
    ] {
        steps.step(name, || {
            let (got, body) = send(service.address, &request, &limit)?;
            if got != status || !body.contains(part) {
                return Err(wrong(format!("{status} was expected, but the answer was {got}")));
            }
            let refused = if status == 200 { "answered" } else { "refused" };
            Ok(((), format!("{refused} ({got})")))
        });
    }
}

fn make_token(proof: &ProofInstallation) -> Result<String, Failure> {
    let new = NewToken {
        name: "prove".to_owned(),
        scopes: vec!["test".to_owned()],
        capabilities: vec!["*".to_owned()],
        expires_at_ms: None,
        owner: false,
    };
    let made = proof
        .place
        .home
        .edit_tokens(|tokens| tokens.create(new, now_ms()).map_err(|error| error.for_person()))?;
    Ok(made.1)
}

fn start(proof: &ProofInstallation, limit: &Limit) -> Result<Service, Failure> {
    let failed = |error: std::io::Error| wrong(format!("`bailiwick serve`: {error}"));
    let program = std::env::current_exe().map_err(failed)?;
    let mut child = Command::new(program)
        .args(["start", "--port", "0", "--json"])
        .env("BAILIWICK_HOME", proof.place.folder())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(failed)?;
    let output = child.stdout.take().expect("it was piped");
    let mut service = Service { child, address: SocketAddr::from(([127, 0, 0, 1], 0)) };
    let (says, hears) = channel();
    std::thread::spawn(move || {
        let mut line = String::new();
        // Without a line there is none to be heard.
        let _ = BufReader::new(output).read_line(&mut line);
        let _ = says.send(line);
    });
    let line = limit.wait_for(START_TIME, || hears.try_recv().ok());
    let line = line.ok_or_else(|| wrong("`bailiwick serve` does not say where it listens"))?;
    let told: Value = serde_json::from_str(&line).unwrap_or_default();
    let address = told["address"].as_str().and_then(|address| address.parse().ok());
    service.address =
        address.ok_or_else(|| wrong("`bailiwick serve` ended, or does not say where it listens"))?;
    Ok(service)
}

/// A request; without a body it is a GET.
#[derive(Debug, Clone, Copy, Default)]
struct Request<'r> {
    path: &'r str,
    body: Option<&'r Value>,
    token: Option<&'r str>,
    host: Option<&'r str>,
    origin: Option<&'r str>,
}

/// Sends a request on a connection of its own, and gives status and body.
fn send(address: SocketAddr, request: &Request<'_>, limit: &Limit) -> Result<(u16, String), Failure> {
    let failed = |error: std::io::Error| wrong(format!("it does not answer: {error}"));
    // A time of nothing means for ever.
    let time = limit.left(ANSWER_TIME).max(Duration::from_millis(1));
    let mut stream = TcpStream::connect_timeout(&address, time).map_err(failed)?;
    stream.set_read_timeout(Some(time)).map_err(failed)?;
    stream.set_write_timeout(Some(time)).map_err(failed)?;
    let own = address.to_string();
    let method = if request.body.is_some() { "POST" } else { "GET" };
    let mut head = format!(
        "{method} {} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\
         Accept: application/json, text/event-stream\r\nContent-Type: application/json\r\n",
        request.path,
        request.host.unwrap_or(&own),
    );
    let body = request.body.map(ToString::to_string).unwrap_or_default();
    for (name, value) in [
        ("Origin", request.origin.map(str::to_owned)),
        ("Authorization", request.token.map(|token| format!("Bearer {token}"))),
        ("Content-Length", request.body.map(|_| body.len().to_string())),
    ] {
        if let Some(value) = value {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
    }
    // It may answer and close before everything is written.
    let _ = stream.write_all(format!("{head}\r\n{body}").as_bytes());
    let mut answer = Vec::new();
    stream.take(MAX_ANSWER_BYTES).read_to_end(&mut answer).map_err(failed)?;
    let answer = String::from_utf8_lossy(&answer);
    let status = answer.split(' ').nth(1).and_then(|status| status.parse().ok());
    let status = status.ok_or_else(|| wrong("what it answers is not HTTP"))?;
    let body = answer.split_once("\r\n\r\n").map(|(_, body)| body.to_owned()).unwrap_or_default();
    Ok((status, body))
}
