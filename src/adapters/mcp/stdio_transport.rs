//! MCP over lines: bounded lines, errors for unreadable ones, batches, and back-pressure.
//!
//! Plain calls are answered here: at once where nothing has to be waited for, else in a task of their own. rmcp gets the
//! rest, and starts a task for every message. Of both there is a bounded number at a time, and this transport reads on
//! only while the answers are being read.

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ClientRequest, GetExtensions, GetMeta, JsonRpcMessage,
    ProtocolVersion, RequestId, ServerJsonRpcMessage,
};
use rmcp::transport::Transport;
use rmcp::{ErrorData, RoleServer};
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;

use bailiwick_contract::json::check_unambiguous;

use super::super::lines::{Line, LineReader, MAX_LINE_BYTES};
use super::line_calls::LineCalls;
use super::line_output::LineOutput;
use super::plain_call::PlainCall;
use super::{Handler, MAX_BATCH, render};

/// How many requests are in the works at the same time.
const MAX_IN_FLIGHT: usize = 128;

/// A transport over a pair of byte streams.
pub(super) struct StdioTransport<R, W> {
    lines: LineReader<R>,
    output: Arc<LineOutput<W>>,
    calls: LineCalls<W>,
    turns: Arc<Semaphore>,
    /// A message that waits for its turn; kept here because `receive` may be dropped while it waits.
    next: Option<Next>,
    /// A request that begins a conversation has been read; notifications before it are dropped.
    begun: bool,
    /// The client speaks the one revision that has batches.
    has_batches: bool,
    /// The messages of a batch that are still to be read.
    batch: VecDeque<Vec<u8>>,
    closing: CloseHook,
}

/// What a line, or a part of a batch, asks for.
enum Next {
    /// rmcp answers it.
    Message(Box<ClientJsonRpcMessage>),
    /// It is answered here, unless it is cancelled.
    Call(Box<PlainCall>, CancellationToken),
}

impl Next {
    fn is_request(&self) -> bool {
        match self {
            Self::Call(..) => true,
            Self::Message(message) => matches!(**message, JsonRpcMessage::Request(_)),
        }
    }
}

/// What is done when the client closes its side.
pub(super) struct CloseHook {
    /// How long requests in the works may continue.
    pub after: Duration,
    /// Cancels them then.
    pub stop: CancellationToken,
}

/// Counts a request as in flight until the handler has dropped its context.
#[derive(Clone)]
struct RequestSlot {
    _permit: Arc<OwnedSemaphorePermit>,
}

impl<R: AsyncRead + Unpin + Send, W: AsyncWrite + Unpin + Send + 'static> StdioTransport<R, W> {
    /// Creates the transport.
    pub fn new(handler: Handler, input: R, output: W, closing: CloseHook) -> Self {
        let output = Arc::new(LineOutput::new(output));
        Self {
            lines: LineReader::new(input, MAX_LINE_BYTES),
            calls: LineCalls::new(handler, Arc::clone(&output)),
            output,
            turns: Arc::new(Semaphore::new(MAX_IN_FLIGHT)),
            next: None,
            begun: false,
            has_batches: false,
            batch: VecDeque::new(),
            closing,
        }
    }

    /// Waits for the next message that can be used, and puts it into `self.next`.
    async fn read(&mut self) -> Option<()> {
        loop {
            self.output.wait_for_room().await;
            let read = match self.batch.pop_front() {
                Some(text) => ParsedLine::of(&text, self.begun.then_some(&self.calls)),
                None => match self.lines.next().await.ok()? {
                    Line::End => {
                        let (after, stop) = (self.closing.after, self.closing.stop.clone());
                        let output = Arc::clone(&self.output);
                        output.input_ended();
                        tokio::spawn(async move {
                            tokio::time::sleep(after).await;
                            output.client_gone();
                            stop.cancel();
                        });
                        return None;
                    }
                    Line::TooLong => {
                        let message = format!("the line has more than {MAX_LINE_BYTES} bytes");
                        ParsedLine::Problem(ErrorData::parse_error(message, None), None)
                    }
                    Line::Text(text) if self.has_batches && text.trim_ascii_start().starts_with(b"[") => {
                        match parts(text) {
                            Ok(parts) => {
                                self.batch.extend(parts);
                                continue;
                            }
                            Err(problem) => ParsedLine::Problem(problem, None),
                        }
                    }
                    Line::Text(text) => ParsedLine::of(text, self.begun.then_some(&self.calls)),
                },
            };
            let (problem, id) = match read {
                ParsedLine::Nothing => continue,
                ParsedLine::Problem(problem, id) => (problem, id),
                ParsedLine::Call(call) => match self.calls.take(&call) {
                    Some(gone) => {
                        self.next = Some(Next::Call(call, gone));
                        return Some(());
                    }
                    None => (id_is_taken(), Some(call.id)),
                },
                ParsedLine::Message(message) => match self.conflict(&message) {
                    Some((problem, id)) => (problem, Some(id)),
                    None if self.begins(&message) => {
                        self.next = Some(Next::Message(message));
                        return Some(());
                    }
                    None => continue,
                },
            };
            let written = self.output.write(render::message(&ServerJsonRpcMessage::error(problem, id)));
            self.calls.begin(async { drop(written.await) }).await;
        }
    }

    /// Returns why a request cannot be taken beside those before it: rmcp would answer one of them alone, or begin again.
    fn conflict(&mut self, message: &ClientJsonRpcMessage) -> Option<(ErrorData, RequestId)> {
        match message {
            JsonRpcMessage::Request(request) => {
                let id = request.id.clone();
                if self.begun && matches!(request.request, ClientRequest::InitializeRequest(_)) {
                    let message = "the conversation has begun: `initialize` comes once, as the first request";
                    return Some((ErrorData::invalid_request(message, None), id));
                }
                if !self.calls.ids().take(&id) {
                    return Some((id_is_taken(), id));
                }
            }
            JsonRpcMessage::Notification(notification) => {
                if let ClientNotification::CancelledNotification(cancelled) = &notification.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    self.calls.ids().cancelled(id);
                }
            }
            JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_) => {}
        }
        None
    }

    /// Returns whether a message can be passed on: rmcp ends a conversation that begins with anything but
    /// a request.
    fn begins(&mut self, message: &ClientJsonRpcMessage) -> bool {
        let JsonRpcMessage::Request(request) = message else { return self.begun };
        if let ClientRequest::InitializeRequest(hello) = &request.request {
            self.has_batches = hello.params.protocol_version == ProtocolVersion::V_2025_03_26;
        }
        if !matches!(request.request, ClientRequest::PingRequest(_) | ClientRequest::DiscoverRequest(_)) {
            self.begun |= matches!(request.request, ClientRequest::InitializeRequest(_))
                || request.request.get_meta().protocol_version().is_some();
        }
        true
    }
}

fn id_is_taken() -> ErrorData {
    let message = "the id is that of another request, which is in flight or was cancelled";
    ErrorData::invalid_request(message, None)
}

/// What a line, or a part of a batch, was read as.
enum ParsedLine {
    Call(Box<PlainCall>),
    Message(Box<ClientJsonRpcMessage>),
    /// An error for the client, with the id that it belongs to.
    Problem(ErrorData, Option<RequestId>),
    /// Something that needs no answer.
    Nothing,
}

impl ParsedLine {
    /// Reads a text, as a plain call where there is who answers those.
    fn of<W: AsyncWrite + Unpin + Send + 'static>(text: &[u8], calls: Option<&LineCalls<W>>) -> Self {
        if let Some(call) = calls.and_then(|calls| calls.read(text)) {
            return Self::Call(Box::new(call));
        }
        match serde_json::from_slice(text) {
            Ok(message) if check_unambiguous(text).is_err() => match message {
                ClientJsonRpcMessage::Request(request) => {
                    Self::Problem(ErrorData::invalid_request(ambiguous(text), None), Some(request.id))
                }
                _ => Self::Nothing,
            },
            Ok(message) => Self::Message(Box::new(message)),
            Err(error) => problem(text, &error).map_or(Self::Nothing, |problem| Self::Problem(problem, None)),
        }
    }
}

/// Returns the messages of a batch, each as if it had come on a line of its own.
fn parts(batch: &[u8]) -> Result<Vec<Vec<u8>>, ErrorData> {
    let messages: Vec<Value> = serde_json::from_slice(batch)
        .map_err(|error| ErrorData::parse_error(format!("the line is not valid JSON: {error}"), None))?;
    check_unambiguous(batch).map_err(|_| ErrorData::invalid_request(ambiguous(batch), None))?;
    if messages.is_empty() || messages.len() > MAX_BATCH {
        return Err(ErrorData::invalid_request(format!("a batch has 1 to {MAX_BATCH} messages"), None));
    }
    Ok(messages.iter().map(|message| message.to_string().into_bytes()).collect())
}

/// Returns which key of a line is doubled. rmcp reads the last of its values, and another reader may take the first.
fn ambiguous(line: &[u8]) -> String {
    let error = check_unambiguous(line).map_or_else(|error| error.to_string(), |()| String::new());
    format!("the line is ambiguous: {error}")
}

/// Creates the error for a line that is no message; `None` for foreign notifications, which need no answer.
fn problem(line: &[u8], error: &serde_json::Error) -> Option<ErrorData> {
    match serde_json::from_slice::<Value>(line) {
        Err(_) if std::str::from_utf8(line).is_err() => {
            Some(ErrorData::parse_error("the line is not valid UTF-8", None))
        }
        Err(error) => Some(ErrorData::parse_error(format!("the line is not valid JSON: {error}"), None)),
        Ok(value) if value.get("method").is_some() && value.get("id").is_none() => None,
        Ok(_) => {
            Some(ErrorData::invalid_request(format!("the line is not a JSON-RPC message: {error}"), None))
        }
    }
}

impl<R, W> Transport<RoleServer> for StdioTransport<R, W>
where
    R: AsyncRead + Unpin + Send + 'static,
    W: AsyncWrite + Unpin + Send + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let answered = match &message {
            JsonRpcMessage::Response(response) => Some(&response.id),
            JsonRpcMessage::Error(error) => error.id.as_ref(),
            JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_) => None,
        };
        if let Some(id) = answered {
            self.calls.ids().answered(id);
        }
        let is_answer = matches!(message, JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_));
        let is_taken = is_answer || self.output.takes_notices();
        let written = is_taken.then(|| self.output.write(render::message(&message)));
        async move {
            match written {
                Some(written) => written.await,
                None => Ok(()),
            }
        }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            if self.next.is_none() {
                self.read().await?;
            }
            let turn = match self.next.as_ref().is_some_and(Next::is_request) {
                true => Some(Arc::clone(&self.turns).acquire_owned().await.expect("never closed")),
                false => None,
            };
            match self.next.take()? {
                Next::Call(call, gone) => self.calls.begin(self.calls.answer(*call, gone, turn)).await,
                Next::Message(mut message) => {
                    if let (JsonRpcMessage::Request(request), Some(turn)) = (&mut *message, turn) {
                        request.request.extensions_mut().insert(RequestSlot { _permit: Arc::new(turn) });
                    }
                    return Some(*message);
                }
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.calls.end().await;
        self.output.close().await
    }
}
