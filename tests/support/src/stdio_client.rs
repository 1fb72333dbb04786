//! A small MCP client over lines, for tests: over memory, or over a child process.

use bailiwick::adapters::backend::Backend;
use bailiwick::adapters::mcp::stdio::{ConversationEnd, converse};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader, duplex, split};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::http_client::whole;

/// The `_meta` of a request of revision 2026-07-28.
pub fn meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    })
}

/// One conversation.
pub struct StdioClient {
    pub input: Option<Box<dyn AsyncWrite + Unpin + Send>>,
    pub output: BufReader<Box<dyn AsyncRead + Unpin + Send>>,
    next_id: u64,
}

/// Begins a conversation in memory.
pub fn in_memory(
    backend: Backend,
    shutdown: CancellationToken,
) -> (StdioClient, JoinHandle<ConversationEnd>) {
    let (near, far) = duplex(64 << 10);
    let (input, output) = split(far);
    let served = tokio::spawn(converse(backend, input, output, shutdown));
    let (output, input) = split(near);
    (StdioClient::new(input, output), served)
}

impl StdioClient {
    pub fn new(
        input: impl AsyncWrite + Unpin + Send + 'static,
        output: impl AsyncRead + Unpin + Send + 'static,
    ) -> Self {
        Self { input: Some(Box::new(input)), output: BufReader::new(Box::new(output)), next_id: 0 }
    }

    /// Speaks to a program over its pipes. Call it in a runtime.
    #[cfg(unix)]
    pub fn of(program: &mut std::process::Child) -> Self {
        use std::os::fd::OwnedFd;
        use tokio::net::unix::pipe;

        let input = OwnedFd::from(program.stdin.take().expect("piped"));
        let output = OwnedFd::from(program.stdout.take().expect("piped"));
        let input = pipe::Sender::from_owned_fd(input).expect("a pipe");
        Self::new(input, pipe::Receiver::from_owned_fd(output).expect("a pipe"))
    }

    /// Writes bytes as they are.
    pub async fn send_raw(&mut self, bytes: &[u8]) {
        let input = self.input.as_mut().expect("not closed");
        input.write_all(bytes).await.expect("the server reads");
        input.flush().await.expect("the server reads");
    }

    pub async fn send(&mut self, message: &Value) {
        self.send_raw(format!("{message}\n").as_bytes()).await;
    }

    /// Reads the next message.
    pub async fn receive(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).await.expect("the server writes");
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("not JSON ({error}): {line:?}"))
    }

    /// Sends a request and gives the answer to it.
    pub async fn ask(&mut self, method: &str, params: Value) -> Value {
        self.next_id += 1;
        let id = self.next_id;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})).await;
        let answer = self.receive().await;
        assert_eq!(answer["id"], id, "{answer}");
        answer
    }

    /// Does the handshake of the older revisions.
    pub async fn initialize(&mut self, version: &str) -> Value {
        let params = json!({
            "protocolVersion": version,
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        });
        let answer = self.ask("initialize", params).await;
        self.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
        answer
    }

    /// Calls a tool within a handshake, for the whole envelope.
    pub async fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.ask("tools/call", json!({"name": tool, "arguments": whole(arguments)})).await
    }

    /// Calls a tool without a handshake, for the whole envelope.
    pub async fn call_modern(&mut self, tool: &str, arguments: Value) -> Value {
        self.ask("tools/call", json!({"name": tool, "arguments": whole(arguments), "_meta": meta()})).await
    }
}

/// Returns the result envelope of a tool's answer, after checking that its parts agree.
pub fn outcome(answer: &Value) -> Value {
    let result = &answer["result"];
    let text = result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text: {answer}"));
    let outcome: Value = serde_json::from_str(text).expect("the text is JSON");
    // An error is there once: some clients show a model both.
    let structured = if outcome["ok"] == json!(true) { outcome.clone() } else { Value::Null };
    assert_eq!(result["structuredContent"], structured);
    assert_eq!(result["isError"], json!(outcome["ok"] == json!(false)));
    outcome
}
