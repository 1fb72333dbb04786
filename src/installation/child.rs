//! A real MCP client of a real child process that serves MCP over its standard streams, for `try` and
//! `doctor --prove`.
//!
//! Every wait has a deadline, and the child ends with its handle.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use bailiwick_contract::{ErrorCode, Failure};

use super::limit::Limit;
use super::text::one_line;

/// How long one answer may take.
const ANSWER_TIME: Duration = Duration::from_secs(10);
/// How long the child may take to end when its input has closed.
const END_TIME: Duration = Duration::from_secs(5);
/// How often it is looked whether the user has ended it.
const LOOK: Duration = Duration::from_millis(50);
/// More than this is not kept of what the child says beside the protocol, in bytes.
const KEPT_TALK: u64 = 4_096;
/// The protocol revision that has no handshake: every request says who asks.
pub const MODERN: &str = "2026-07-28";
/// The revision that most clients speak.
pub const USUAL: &str = "2025-06-18";

/// The child, and the conversation with it.
pub struct McpChild {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    talk: Arc<Mutex<String>>,
    next_id: u64,
    limit: Limit,
}

impl McpChild {
    /// Starts `bailiwick mcp` for the installation below a folder.
    ///
    /// # Errors
    /// When this program cannot be started again.
    pub fn start(home: &Path, limit: &Limit) -> Result<Self, Failure> {
        let program = std::env::current_exe().map_err(|error| not_started(&error))?;
        let mut command = Command::new(program);
        command.arg("mcp").env("BAILIWICK_HOME", home);
        Self::spawn(command, limit)
    }

    /// Starts a program that serves MCP.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn spawn(mut command: Command, limit: &Limit) -> Result<Self, Failure> {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| not_started(&error))?;
        let lines = read_lines(child.stdout.take().expect("it was piped"));
        let talk = Arc::<Mutex<String>>::default();
        let mut beside = child.stderr.take().expect("it was piped");
        std::thread::spawn({
            let talk = Arc::clone(&talk);
            move || {
                let mut bytes = Vec::new();
                // What cannot be read is not told; what is too much is thrown away, so that nothing stops the child.
                let _ = beside.by_ref().take(KEPT_TALK).read_to_end(&mut bytes);
                *talk.lock().unwrap_or_else(PoisonError::into_inner) =
                    String::from_utf8_lossy(&bytes).into_owned();
                let _ = std::io::copy(&mut beside, &mut std::io::sink());
            }
        });
        let input = child.stdin.take();
        Ok(Self { child, input, lines, talk, next_id: 1, limit: limit.clone() })
    }

    /// Sends a request and gives its result.
    ///
    /// # Errors
    /// When the child ends, is silent for too long, or answers with a protocol error.
    pub fn request(&mut self, method: &str, params: &Value) -> Result<Value, Failure> {
        let id = self.next_id;
        self.next_id += 1;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))?;
        let began = Instant::now();
        loop {
            let line = self.line(method, began)?;
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

    /// Waits for the next line, in short pieces, so that the user can end it.
    fn line(&self, method: &str, began: Instant) -> Result<String, Failure> {
        loop {
            let left = self.limit.left(ANSWER_TIME.saturating_sub(began.elapsed()));
            match self.lines.recv_timeout(left.min(LOOK)) {
                Ok(line) => return Ok(line),
                Err(RecvTimeoutError::Timeout) if !left.is_zero() => {}
                Err(RecvTimeoutError::Timeout) => {
                    let waited = began.elapsed().as_secs_f64();
                    return Err(Failure::new(
                        ErrorCode::Timeout,
                        format!("no answer to {method} within {waited:.1} s"),
                    ));
                }
                Err(RecvTimeoutError::Disconnected) => return Err(self.gone(method)),
            }
        }
    }

    /// Creates the failure of a child that has ended, with what it printed before.
    fn gone(&self, method: &str) -> Failure {
        // Its last words may come a moment after its end.
        let talk = self.limit.wait_for(Duration::from_millis(500), || {
            let talk = self.talk.lock().unwrap_or_else(PoisonError::into_inner);
            (!talk.is_empty()).then(|| talk.clone())
        });
        let talk = talk.unwrap_or_default();
        let first = talk.lines().find(|line| !line.trim().is_empty());
        let said = first.map(|line| format!(", and said: {}", one_line(line.trim()))).unwrap_or_default();
        Failure::new(ErrorCode::ExecutionFailed, format!("it ended before it answered {method}{said}"))
    }

    /// Opens the conversation in the words of a protocol revision that has a handshake, and gives what the server
    /// says about itself.
    ///
    /// # Errors
    /// As [`McpChild::request`].
    pub fn initialize(&mut self, client: &str, version: &str) -> Result<Value, Failure> {
        let params = json!({
            "protocolVersion": version,
            "capabilities": {},
            "clientInfo": {"name": client, "version": env!("CARGO_PKG_VERSION")},
        });
        let server = self.request("initialize", &params)?;
        self.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))?;
        Ok(server)
    }

    /// Sends a request of the revision without a handshake.
    ///
    /// # Errors
    /// As [`McpChild::request`].
    pub fn request_modern(&mut self, method: &str, mut params: Value) -> Result<Value, Failure> {
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": MODERN,
            "io.modelcontextprotocol/clientInfo": {"name": "bailiwick-prove", "version": env!("CARGO_PKG_VERSION")},
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        self.request(method, &params)
    }

    /// Calls a tool, and gives the result envelope in its answer.
    ///
    /// # Errors
    /// As [`McpChild::request`], and when the answer holds no envelope.
    pub fn call(&mut self, tool: &str, mut arguments: Value) -> Result<Value, Failure> {
        arguments["detail"] = json!("full");
        let result = self.request("tools/call", &json!({"name": tool, "arguments": arguments}))?;
        envelope_in(&result).ok_or_else(|| {
            Failure::new(ErrorCode::ExecutionFailed, format!("{tool} answered without a result envelope"))
        })
    }

    /// Closes the conversation and waits for the child's end.
    ///
    /// # Errors
    /// When it does not end in time; it is killed then.
    pub fn end(mut self) -> Result<ExitStatus, Failure> {
        drop(self.input.take());
        let ended = self.limit.wait_for(END_TIME, || self.child.try_wait().ok().flatten());
        ended.ok_or_else(|| {
            Failure::new(ErrorCode::Timeout, "it did not end, though its input was closed, and was killed")
        })
    }

    fn send(&mut self, message: &Value) -> Result<(), Failure> {
        let sent = self.input.as_mut().map(|input| {
            input.write_all(format!("{message}\n").as_bytes())?;
            input.flush()
        });
        match sent {
            Some(Ok(())) => Ok(()),
            // It has closed its input: most often it has ended, and said why.
            Some(Err(_)) | None => Err(self.gone("what it was sent")),
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

/// Finds the result envelope in the answer to a tool call.
pub fn envelope_in(result: &Value) -> Option<Value> {
    let content = result["content"].as_array()?;
    serde_json::from_str(content.iter().rev().find_map(|part| part["text"].as_str())?).ok()
}

fn not_started(error: &std::io::Error) -> Failure {
    Failure::new(ErrorCode::ExecutionFailed, format!("it cannot be started: {error}"))
}

fn read_lines(output: ChildStdout) -> Receiver<String> {
    let (sender, lines) = channel();
    std::thread::spawn(move || {
        for line in BufReader::new(output).lines() {
            let Ok(line) = line else { return };
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    lines
}
