//! A real MCP client of a real `bailiwick mcp` child process, for `try` and `self-test`.
//!
//! Every wait has a deadline, and the child ends with its handle.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::contract::{ErrorCode, Failure};

/// How long one answer may take.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(20);
/// How long the child may take to end when its input has closed.
const END_TIMEOUT: Duration = Duration::from_secs(5);

/// The child, and the conversation with it.
pub struct McpChild {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    next_id: u64,
}

impl McpChild {
    /// Starts `bailiwick mcp` for the installation below a folder.
    ///
    /// # Errors
    /// When this program cannot be started again.
    pub fn start(home: &std::path::Path) -> Result<Self, Failure> {
        let failed = |error: std::io::Error| {
            Failure::new(ErrorCode::ExecutionFailed, format!("`bailiwick mcp` cannot be started: {error}"))
        };
        let program = std::env::current_exe().map_err(failed)?;
        let mut child = Command::new(program)
            .arg("mcp")
            .env("BAILIWICK_HOME", home)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .map_err(failed)?;
        let output = child.stdout.take().expect("it was piped");
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines() {
                let Ok(line) = line else { return };
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        let input = child.stdin.take();
        Ok(Self { child, input, lines, next_id: 1 })
    }

    /// Sends a request and gives its result.
    ///
    /// # Errors
    /// When the child ends, is silent for too long, or answers with a protocol error.
    pub fn request(&mut self, method: &str, params: &Value) -> Result<Value, Failure> {
        let id = self.next_id;
        self.next_id += 1;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))?;
        let deadline = Instant::now() + ANSWER_TIMEOUT;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let line = self.lines.recv_timeout(left).map_err(|error| match error {
                RecvTimeoutError::Timeout => Failure::new(
                    ErrorCode::Timeout,
                    format!("no answer to {method} within {ANSWER_TIMEOUT:?}"),
                ),
                RecvTimeoutError::Disconnected => Failure::new(
                    ErrorCode::ExecutionFailed,
                    format!("`bailiwick mcp` ended before it answered {method}"),
                ),
            })?;
            let mut message: Value = serde_json::from_str(&line).map_err(|_| {
                Failure::new(
                    ErrorCode::ExecutionFailed,
                    "something that is not JSON came over standard output",
                )
            })?;
            if message["id"] != id {
                continue;
            }
            if message.get("error").is_some() {
                let text = message["error"]["message"].as_str().unwrap_or("a protocol error").to_owned();
                return Err(Failure::new(ErrorCode::ExecutionFailed, format!("{method}: {text}")));
            }
            return Ok(message["result"].take());
        }
    }

    /// Opens the conversation, and gives what the server says about itself.
    ///
    /// # Errors
    /// As [`McpChild::request`].
    pub fn initialize(&mut self, client: &str) -> Result<Value, Failure> {
        let params = json!({
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": client, "version": env!("CARGO_PKG_VERSION")},
        });
        let server = self.request("initialize", &params)?;
        self.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))?;
        Ok(server)
    }

    /// Calls a tool, and gives the result envelope in its answer.
    ///
    /// # Errors
    /// As [`McpChild::request`], and when the answer holds no envelope.
    pub fn call(&mut self, tool: &str, arguments: Value) -> Result<Value, Failure> {
        let result = self.request("tools/call", &json!({"name": tool, "arguments": arguments}))?;
        let text =
            result["content"].as_array().into_iter().flatten().rev().find_map(|it| it["text"].as_str());
        text.and_then(|text| serde_json::from_str(text).ok()).ok_or_else(|| {
            Failure::new(ErrorCode::ExecutionFailed, format!("{tool} answered without a result envelope"))
        })
    }

    /// Closes the conversation and waits for the child's end.
    ///
    /// # Errors
    /// When it does not end in time; it is killed then.
    pub fn end(mut self) -> Result<ExitStatus, Failure> {
        drop(self.input.take());
        let deadline = Instant::now() + END_TIMEOUT;
        while Instant::now() < deadline {
            if let Ok(Some(status)) = self.child.try_wait() {
                return Ok(status);
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        Err(Failure::new(ErrorCode::Timeout, format!("`bailiwick mcp` did not end within {END_TIMEOUT:?}")))
    }

    fn send(&mut self, message: &Value) -> Result<(), Failure> {
        let sent = self.input.as_mut().map(|input| {
            input.write_all(format!("{message}\n").as_bytes())?;
            input.flush()
        });
        match sent {
            Some(Ok(())) => Ok(()),
            Some(Err(_)) | None => Err(Failure::new(
                ErrorCode::ExecutionFailed,
                "`bailiwick mcp` does not read its input any more",
            )),
        }
    }
}

impl Drop for McpChild {
    fn drop(&mut self) {
        // It has ended as a rule; then this has no effect.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
