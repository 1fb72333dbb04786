//! What clients may send to the MCP endpoint beyond what rmcp takes, and the form of its answers.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use axum::body::{Body, Bytes, HttpBody};
use axum::extract::{Request, State};
use axum::response::Response;
use http::header::{ACCEPT, CONTENT_LENGTH, CONTENT_TYPE, HeaderValue, USER_AGENT};
use http::{HeaderMap, Method, StatusCode};
use hyper::body::{Frame, SizeHint};
use rmcp::transport::StreamableHttpService;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use serde_json::{Value, json};

use bailiwick_contract::Caller;
use bailiwick_contract::json::read_unambiguous;

use super::super::mcp::{Handler, MAX_BATCH, PlainCall, splice_answer};
use super::client_steps::{ClientStep, StepLog, StepRecord};
use super::plain;
use super::reply::json;
use super::settings::MAX_BODY_BYTES;

const EVENT_STREAM: &str = "text/event-stream";
const JSON: &str = "application/json";
/// The largest answer that is collected.
const MAX_ANSWER_BYTES: usize = 256 << 20;

/// What answers messages: plain calls are answered here, and all else by rmcp.
pub(super) struct McpEndpoint {
    pub handler: Handler,
    pub rmcp: StreamableHttpService<Handler, NeverSessionManager>,
}

impl McpEndpoint {
    async fn pass_on(&self, request: Request) -> Response {
        // Boxed, so that a plain call does not move what this would need.
        Box::pin(self.rmcp.handle(request)).await.map(Body::new)
    }
}

/// Answers messages: one, or those of a batch one after the other.
pub(super) async fn exchange(State(endpoint): State<Arc<McpEndpoint>>, mut request: Request) -> Response {
    let Some(wants_stream) = accepted(request.headers()) else { return endpoint.pass_on(request).await };
    request.headers_mut().insert(ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
    if request.method() != Method::POST {
        return endpoint.pass_on(request).await;
    }
    let (parts, body) = request.into_parts();
    // The guard has read it: this only takes it out.
    let bytes = axum::body::to_bytes(body, MAX_BODY_BYTES).await.unwrap_or_else(|_| Bytes::new());
    let message = match read_unambiguous(&bytes) {
        Ok(message) => message,
        Err(error) => {
            let (code, problem) =
                if error.is_data() { (-32600, "is ambiguous") } else { (-32700, "is not valid JSON") };
            return bad_request(code, &format!("the body {problem}: {error}"));
        }
    };
    if bytes.trim_ascii_start().first() != Some(&b'[') {
        let watched = parts.extensions.get::<StepLog>().cloned();
        let caller = parts.extensions.get::<Caller>().map(|caller| caller.name.clone());
        let step = watched.and_then(|log| Some((log, ClientStep::of_message(&bytes)?)));
        let plain = PlainCall::read(&parts.headers, message);
        let response = match (plain, parts.extensions.get::<Caller>()) {
            (Some(call), Some(caller)) => {
                let user_agent = parts.headers.get(USER_AGENT).and_then(|it| it.to_str().ok());
                let user_agent = user_agent.map(str::to_owned);
                plain::answer(endpoint.handler.clone(), call, caller.clone(), user_agent, wants_stream).await
            }
            _ => {
                let response = endpoint.pass_on(Request::from_parts(parts, Body::from(bytes))).await;
                if wants_stream { spliced(response) } else { collected(response).await }
            }
        };
        if let Some((log, step)) = step {
            log.record(&StepRecord { step, status: response.status().as_u16(), caller });
        }
        return response;
    }
    if !knows_batches(&parts.headers) {
        return bad_request(
            -32600,
            "batches are a part of revision 2025-03-26 alone: send one message at a time",
        );
    }
    let Value::Array(messages) = message else {
        return bad_request(-32600, "a batch is a list of messages");
    };
    if messages.is_empty() || messages.len() > MAX_BATCH {
        return bad_request(-32600, &format!("a batch has 1 to {MAX_BATCH} messages"));
    }
    let mut answers = Vec::new();
    for message in messages {
        if message["method"] == "initialize" {
            let error = json!({"code": -32600, "message": "`initialize` is sent alone, not in a batch"});
            answers.push(json!({"jsonrpc": "2.0", "id": message["id"], "error": error}).to_string());
            continue;
        }
        let mut one = Request::from_parts(parts.clone(), Body::from(message.to_string()));
        one.headers_mut().remove(CONTENT_LENGTH);
        let response = collected(endpoint.pass_on(one).await).await;
        if response.status() == StatusCode::ACCEPTED {
            continue;
        }
        let body = axum::body::to_bytes(response.into_body(), MAX_ANSWER_BYTES).await.unwrap_or_default();
        answers.push(String::from_utf8_lossy(&body).into_owned());
    }
    if answers.is_empty() {
        let mut response = Response::new(Body::empty());
        *response.status_mut() = StatusCode::ACCEPTED;
        return response;
    }
    json(StatusCode::OK, format!("[{}]", answers.join(",")))
}

/// Returns whether a client takes an event stream, if it takes anything that there is. Who says nothing takes both.
fn accepted(headers: &HeaderMap) -> Option<bool> {
    let mut said = headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok()).peekable();
    if said.peek().is_none() {
        return Some(true);
    }
    let (mut stream, mut json) = (false, false);
    for range in said.flat_map(|value| value.split(',')) {
        let essence = range.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        stream |= essence == EVENT_STREAM || essence == "*/*" || essence == "text/*";
        json |= essence == JSON || essence == "application/*";
    }
    (stream || json).then_some(stream)
}

/// Returns whether a client may send batches: it has said the one revision that has them, or none.
fn knows_batches(headers: &HeaderMap) -> bool {
    headers.get("mcp-protocol-version").is_none_or(|version| version == "2025-03-26")
}

fn bad_request(code: i32, message: &str) -> Response {
    let error = json!({"jsonrpc": "2.0", "id": null, "error": {"code": code, "message": message}});
    json(StatusCode::BAD_REQUEST, error.to_string())
}

fn is_stream(response: &Response) -> bool {
    let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    kind.is_some_and(|kind| kind.starts_with(EVENT_STREAM))
}

/// Puts structured content into the results of a stream.
fn spliced(response: Response) -> Response {
    if !is_stream(&response) {
        return response;
    }
    response.map(|body| Body::new(SplicedStream { body, pending: Vec::new() }))
}

/// Creates one JSON text of a stream: its last message, which is the answer.
async fn collected(response: Response) -> Response {
    if !is_stream(&response) {
        return response;
    }
    let status = response.status();
    let body = spliced(response).into_body();
    let text = axum::body::to_bytes(body, MAX_ANSWER_BYTES).await.unwrap_or_default();
    let mut messages =
        text.split(|byte| *byte == b'\n').filter_map(data).filter(|data| data.starts_with(b"{"));
    match messages.next_back() {
        Some(message) => json(status, message.to_vec()),
        None => bad_request(-32603, "there is no answer"),
    }
}

/// The data of a line of an event stream.
fn data(line: &[u8]) -> Option<&[u8]> {
    Some(line.strip_prefix(b"data:")?.trim_ascii())
}

/// An event stream whose results get their structured content, line by line.
struct SplicedStream {
    body: Body,
    /// The beginning of a line that has not ended.
    pending: Vec<u8>,
}

impl SplicedStream {
    /// Returns the lines that are complete now.
    fn lines(&mut self, bytes: &[u8]) -> Vec<u8> {
        self.pending.extend_from_slice(bytes);
        let Some(end) = memchr::memrchr(b'\n', &self.pending) else { return Vec::new() };
        let rest = self.pending.split_off(end + 1);
        let whole = std::mem::replace(&mut self.pending, rest);
        let mut out = Vec::with_capacity(whole.len());
        for line in whole.split_inclusive(|byte| *byte == b'\n') {
            match data(line).and_then(splice_answer) {
                Some(message) => {
                    out.extend_from_slice(b"data: ");
                    out.extend_from_slice(&message);
                    out.push(b'\n');
                }
                None => out.extend_from_slice(line),
            }
        }
        out
    }
}

impl HttpBody for SplicedStream {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        loop {
            let frame = match ready!(Pin::new(&mut self.body).poll_frame(cx)) {
                Some(Ok(frame)) => frame,
                Some(Err(error)) => return Poll::Ready(Some(Err(error))),
                None if self.pending.is_empty() => return Poll::Ready(None),
                None => {
                    let rest = std::mem::take(&mut self.pending);
                    return Poll::Ready(Some(Ok(Frame::data(rest.into()))));
                }
            };
            let bytes = match frame.into_data() {
                Ok(bytes) => bytes,
                Err(other) => return Poll::Ready(Some(Ok(other))),
            };
            let lines = self.lines(&bytes);
            if !lines.is_empty() {
                return Poll::Ready(Some(Ok(Frame::data(lines.into()))));
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.pending.is_empty() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn either_form_of_an_answer_may_be_asked_for() {
        let asked = |values: &[&str]| {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append(ACCEPT, value.parse().expect("a header value"));
            }
            accepted(&headers)
        };
        for both in [
            &[][..],
            &["*/*"],
            &["application/json, text/event-stream"],
            &["text/event-stream"],
            &["application/json", "*/*;q=0.1"],
        ] {
            assert_eq!(asked(both), Some(true), "{both:?}");
        }
        assert_eq!(asked(&["application/json"]), Some(false));
        assert_eq!(asked(&["text/html"]), None);
    }

    #[test]
    fn results_are_spliced_wherever_the_stream_is_cut() {
        let text = r#"{"ok":true,"data":{"line":1,"column":2}}"#;
        let message = format!(
            r#"{{"jsonrpc":"2.0","id":1,"result":{{"content":[{{"type":"text","text":{}}}],"structuredContent":null,"isError":false}}}}"#,
            json!(text)
        );
        let stream = format!(": ping\n\nid: 0\ndata: {message}\n\n");
        for cut in 0..stream.len() {
            let mut spliced = SplicedStream { body: Body::empty(), pending: Vec::new() };
            let mut out = spliced.lines(&stream.as_bytes()[..cut]);
            out.extend(spliced.lines(&stream.as_bytes()[cut..]));
            let out = String::from_utf8(out).expect("UTF-8");
            assert!(
                out.contains(&format!("\"structuredContent\":{text},")) && out.starts_with(": ping\n\n"),
                "{out}"
            );
        }
    }
}
