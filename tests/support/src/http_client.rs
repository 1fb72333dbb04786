//! A small HTTP client that sends what it is told, for tests.

use std::net::SocketAddr;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::stdio_client::meta;

/// What came back.
#[derive(Debug)]
pub struct Reply {
    pub status: u16,
    pub head: String,
    pub body: String,
}

impl Reply {
    /// Returns a header's value.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (key, value) = line.split_once(':')?;
            key.eq_ignore_ascii_case(name).then_some(value.trim())
        })
    }

    /// Reads the body as JSON, or the last event of an event stream.
    pub fn json(&self) -> Value {
        let text = match self.header("content-type") {
            Some(kind) if kind.starts_with("text/event-stream") => {
                let mut events = self.body.lines().filter_map(|line| line.strip_prefix("data:"));
                events.rfind(|data| data.trim_start().starts_with('{')).expect("an event with a message")
            }
            _ => &self.body,
        };
        serde_json::from_str(text).unwrap_or_else(|error| panic!("not JSON ({error}): {self:?}"))
    }
}

/// Creates a request head and body; `Connection: close` is added.
pub fn request(method: &str, target: &str, headers: &[(&str, &str)], body: &str) -> String {
    let mut text = format!("{method} {target} HTTP/1.1\r\nConnection: close\r\n");
    for (name, value) in headers {
        text.push_str(&format!("{name}: {value}\r\n"));
    }
    if method == "POST" {
        text.push_str(&format!("Content-Length: {}\r\n", body.len()));
    }
    format!("{text}\r\n{body}")
}

/// Sends bytes on a connection of their own and reads until it closes.
pub async fn send_raw(address: SocketAddr, bytes: &[u8]) -> Reply {
    let mut stream = TcpStream::connect(address).await.expect("the listener accepts");
    // It may answer and close before everything is written.
    let _ = stream.write_all(bytes).await;
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer).await;
    parse(&answer)
}

/// Sends a request with a good `Host`.
pub async fn send(
    address: SocketAddr,
    method: &str,
    target: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> Reply {
    let host = address.to_string();
    let headers = [&[("Host", host.as_str())], headers].concat();
    send_raw(address, request(method, target, &headers, body).as_bytes()).await
}

/// Reads an answer.
pub fn parse(answer: &[u8]) -> Reply {
    let text = String::from_utf8_lossy(answer);
    let Some((head, rest)) = text.split_once("\r\n\r\n") else {
        return Reply { status: 0, head: text.into_owned(), body: String::new() };
    };
    let status = head.split(' ').nth(1).and_then(|it| it.parse().ok()).unwrap_or(0);
    let mut reply = Reply { status, head: head.to_owned(), body: rest.to_owned() };
    if reply.header("transfer-encoding") == Some("chunked") {
        reply.body = dechunk(rest);
    }
    reply
}

fn dechunk(mut text: &str) -> String {
    let mut body = String::new();
    while let Some((size, rest)) = text.split_once("\r\n") {
        let size = usize::from_str_radix(size, 16).unwrap_or(0);
        if size == 0 {
            break;
        }
        body.push_str(&rest[..size]);
        text = &rest[size + 2..];
    }
    body
}

/// Sends an MCP message with a token, in the words of a protocol revision.
pub async fn mcp(address: SocketAddr, token: &str, version: &str, mut message: Value) -> Reply {
    let bearer = format!("Bearer {token}");
    let method = message["method"].as_str().unwrap_or_default().to_owned();
    let name = message["params"]["name"].as_str().unwrap_or_default().to_owned();
    let mut headers = vec![
        ("Authorization", bearer.as_str()),
        ("Content-Type", "application/json"),
        ("Accept", "application/json, text/event-stream"),
    ];
    if method != "initialize" {
        headers.push(("MCP-Protocol-Version", version));
    }
    if version == "2026-07-28" {
        message["params"]["_meta"] = meta();
        headers.push(("Mcp-Method", method.as_str()));
        if !name.is_empty() {
            headers.push(("Mcp-Name", name.as_str()));
        }
    }
    send(address, "POST", "/mcp", &headers, &message.to_string()).await
}

/// Asks for the whole envelope: what is judged here is the data.
pub fn whole(mut arguments: Value) -> Value {
    if let Some(fields) = arguments.as_object_mut() {
        fields.insert("detail".to_owned(), json!("full"));
    }
    arguments
}

/// Creates a call of a tool that asks for the whole envelope.
pub fn call(tool: &str, arguments: &Value) -> Value {
    let arguments = whole(arguments.clone());
    json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}})
}

/// Sends an envelope to the JSON API.
pub async fn api(address: SocketAddr, token: &str, body: &str) -> Reply {
    let bearer = format!("Bearer {token}");
    let headers = [("Authorization", bearer.as_str()), ("Content-Type", "application/json")];
    send(address, "POST", "/api/v1/operations", &headers, body).await
}
