//! A provider of models on the loopback: it answers each request of Codex with what the test has scripted.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use serde_json::{Value, json};

/// How the provider answers one request. The last answer is given again when there are more requests.
#[derive(Clone)]
pub enum Reply {
    /// The model says something, and is done.
    Says(&'static str),
    /// The model has a command run.
    Runs(String),
    /// The provider refuses.
    Refuses(u16, &'static str),
    /// The provider never answers.
    Hangs,
}

/// The provider; it ends with this value.
pub struct Provider {
    address: SocketAddr,
    asked: Arc<Mutex<Vec<Value>>>,
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Provider {
    /// Begins to serve, on a port of its own.
    pub fn new(replies: Vec<Reply>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let address = listener.local_addr().expect("it has an address");
        let (asked, over) = (Arc::new(Mutex::new(Vec::new())), Arc::new(AtomicBool::new(false)));
        let (seen, ended) = (Arc::clone(&asked), Arc::clone(&over));
        let thread = std::thread::spawn(move || {
            for stream in listener.incoming() {
                if ended.load(Ordering::Acquire) {
                    return;
                }
                let (replies, seen, ended) = (replies.clone(), Arc::clone(&seen), Arc::clone(&ended));
                std::thread::spawn(move || stream.map(|stream| serve(stream, &replies, &seen, &ended)));
            }
        });
        Self { address, asked, over, thread: Some(thread) }
    }

    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// Returns the bodies of the requests so far.
    pub fn asked(&self) -> Vec<Value> {
        self.asked.lock().expect("not poisoned").clone()
    }

    /// Returns what the tools of Codex answered the model, all together.
    pub fn tool_output(&self) -> String {
        let asked = self.asked();
        let last = asked.last().map(|body| body["input"].clone()).unwrap_or_default();
        let items = last.as_array().cloned().unwrap_or_default();
        let outputs = items.iter().filter(|item| item["type"] == "function_call_output");
        outputs.map(|item| item["output"].to_string()).collect::<Vec<_>>().join("\n")
    }
}

impl Drop for Provider {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Release);
        // Wakes the thread that waits for connections.
        let _ = TcpStream::connect(self.address);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn serve(stream: TcpStream, replies: &[Reply], seen: &Mutex<Vec<Value>>, over: &AtomicBool) -> Option<()> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let is_request = line.starts_with("POST /v1/responses ");
    let mut length = 0;
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).ok()?;
        let header = header.trim().to_ascii_lowercase();
        if header.is_empty() {
            break;
        }
        if let Some(value) = header.strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let mut stream = stream;
    if !is_request {
        return answer(&mut stream, 404, "application/json", b"{}");
    }
    let number = {
        let mut seen = seen.lock().ok()?;
        seen.push(serde_json::from_slice(&body).ok()?);
        seen.len() - 1
    };
    match &replies[number.min(replies.len() - 1)] {
        Reply::Says(text) => events(&mut stream, number, &message(text)),
        Reply::Runs(command) => {
            let arguments = json!({"cmd": command, "yield_time_ms": 20_000}).to_string();
            let call = json!({
                "type": "function_call", "id": format!("fc_{number}"), "call_id": format!("call_{number}"),
                "name": "exec_command", "arguments": arguments, "status": "completed",
            });
            events(&mut stream, number, &call)
        }
        Reply::Refuses(status, message) => {
            let body = json!({"error": {"message": message, "type": "invalid_request_error"}}).to_string();
            answer(&mut stream, *status, "application/json", body.as_bytes())
        }
        Reply::Hangs => {
            while !over.load(Ordering::Acquire) {
                std::thread::sleep(Duration::from_millis(20));
            }
            None
        }
    }
}

fn message(text: &str) -> Value {
    json!({
        "type": "message", "id": "m", "role": "assistant", "status": "completed",
        "content": [{"type": "output_text", "text": text, "annotations": []}],
    })
}

/// Answers with the events of one item.
fn events(stream: &mut TcpStream, number: usize, item: &Value) -> Option<()> {
    let usage = json!({
        "input_tokens": 100, "input_tokens_details": {"cached_tokens": 40},
        "output_tokens": 7, "output_tokens_details": {"reasoning_tokens": 3}, "total_tokens": 107,
    });
    let id = format!("r{number}");
    let all = [
        json!({"type": "response.created", "response": {"id": id}}),
        json!({"type": "response.output_item.added", "output_index": 0, "item": item}),
        json!({"type": "response.output_item.done", "output_index": 0, "item": item}),
        json!({"type": "response.completed", "response": {"id": id, "usage": usage}}),
    ];
    let text: String = all
        .iter()
        .map(|event| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap_or_default()))
        .collect();
    answer(stream, 200, "text/event-stream", text.as_bytes())
}

fn answer(stream: &mut TcpStream, status: u16, kind: &str, body: &[u8]) -> Option<()> {
    let head = format!(
        "HTTP/1.1 {status} S\r\ncontent-type: {kind}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).ok()?;
    stream.write_all(body).ok()
}
