//! MCP over lines: bounded lines, errors for unreadable ones, batches, and back-pressure.
//!
//! rmcp starts a task for every message that it is given, so this transport gives it no more than a bounded
//! number at a time, and reads on only while the answers are being read.

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ClientRequest, GetExtensions, GetMeta, JsonRpcMessage,
    ProtocolVersion, RequestId, ServerJsonRpcMessage,
};
use rmcp::transport::Transport;
use rmcp::{ErrorData, RoleServer};
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::sync::{Mutex, Notify, OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;

use bailiwick_contract::json::check_unambiguous;

use super::super::lines::{Line, LineReader, MAX_LINE_BYTES};
use super::request_ids::RequestIds;
use super::{MAX_BATCH, render};

/// How many requests are in the works at the same time.
const MAX_IN_FLIGHT: usize = 128;
/// How many bytes of answers may wait to be read before no further request is read.
const MAX_QUEUED_BYTES: usize = 4 << 20;

/// A transport over a pair of byte streams.
pub(super) struct StdioTransport<R, W> {
    lines: LineReader<R>,
    output: Arc<Output<W>>,
    turns: Arc<Semaphore>,
    /// A message that waits for its turn; kept here because `receive` may be dropped while it waits.
    next: Option<ClientJsonRpcMessage>,
    /// A request that begins a conversation has been read; notifications before it are dropped.
    begun: bool,
    ids: RequestIds,
    /// The client speaks the one revision that has batches.
    has_batches: bool,
    /// The messages of a batch that are still to be read.
    batch: VecDeque<Vec<u8>>,
    closing: CloseHook,
}

/// What is done when the client closes its side.
pub(super) struct CloseHook {
    /// How long requests in the works may continue.
    pub after: Duration,
    /// Cancels them then.
    pub stop: CancellationToken,
}

struct Output<W> {
    writer: Mutex<Option<W>>,
    queued_bytes: AtomicUsize,
    written: Notify,
    /// The client has closed its side: it gets answers, and nothing that it did not ask for.
    input_ended: AtomicBool,
    /// What is left was cancelled because the client has gone: it gets nothing any more.
    gone: AtomicBool,
}

/// Counts a request as in flight until the handler has dropped its context.
#[derive(Clone)]
struct RequestSlot {
    _permit: Arc<OwnedSemaphorePermit>,
}

impl<R: AsyncRead + Unpin + Send, W: AsyncWrite + Unpin + Send + 'static> StdioTransport<R, W> {
    /// Creates the transport.
    pub fn new(input: R, output: W, closing: CloseHook) -> Self {
        Self {
            lines: LineReader::new(input, MAX_LINE_BYTES),
            output: Arc::new(Output {
                writer: Mutex::new(Some(output)),
                queued_bytes: AtomicUsize::new(0),
                written: Notify::new(),
                input_ended: AtomicBool::new(false),
                gone: AtomicBool::new(false),
            }),
            turns: Arc::new(Semaphore::new(MAX_IN_FLIGHT)),
            next: None,
            begun: false,
            ids: RequestIds::default(),
            has_batches: false,
            batch: VecDeque::new(),
            closing,
        }
    }

    /// Waits for the next message that rmcp can use, and puts it into `self.next`.
    async fn read(&mut self) -> Option<()> {
        loop {
            while self.output.queued_bytes.load(Ordering::Acquire) > MAX_QUEUED_BYTES {
                self.output.written.notified().await;
            }
            let read = match self.batch.pop_front() {
                Some(text) => ParsedLine::of(&text),
                None => match self.lines.next().await.ok()? {
                    Line::End => {
                        let (after, stop) = (self.closing.after, self.closing.stop.clone());
                        let output = Arc::clone(&self.output);
                        output.input_ended.store(true, Ordering::Release);
                        tokio::spawn(async move {
                            tokio::time::sleep(after).await;
                            output.gone.store(true, Ordering::Release);
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
                    Line::Text(text) => ParsedLine::of(text),
                },
            };
            let (problem, id) = match read {
                ParsedLine::Nothing => continue,
                ParsedLine::Problem(problem, id) => (problem, id),
                ParsedLine::Message(message) => match self.conflict(&message) {
                    Some((problem, id)) => (problem, Some(id)),
                    None if self.begins(&message) => {
                        self.next = Some(*message);
                        return Some(());
                    }
                    None => continue,
                },
            };
            // In a task of its own: this future may be dropped, and a line must not be written by halves.
            tokio::spawn(Output::write(&self.output, to_line(&ServerJsonRpcMessage::error(problem, id))));
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
                if !self.ids.take(&id) {
                    let message = "the id is that of another request, which is in flight or was cancelled";
                    return Some((ErrorData::invalid_request(message, None), id));
                }
            }
            JsonRpcMessage::Notification(notification) => {
                if let ClientNotification::CancelledNotification(cancelled) = &notification.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    self.ids.cancelled(id);
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

/// What a line, or a part of a batch, was read as.
enum ParsedLine {
    Message(Box<ClientJsonRpcMessage>),
    /// An error for the client, with the id that it belongs to.
    Problem(ErrorData, Option<RequestId>),
    /// Something that needs no answer.
    Nothing,
}

impl ParsedLine {
    fn of(text: &[u8]) -> Self {
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

fn to_line(message: &ServerJsonRpcMessage) -> Vec<u8> {
    let mut line = render::message(message);
    line.push(b'\n');
    line
}

impl<W: AsyncWrite + Unpin + Send> Output<W> {
    /// Queues a line now; what this gives writes it.
    fn write(this: &Arc<Self>, line: Vec<u8>) -> impl Future<Output = io::Result<()>> + Send + use<W> {
        let queued = QueuedBytes::new(Arc::clone(this), line.len());
        async move { queued.output.write_now(&line).await }
    }

    async fn write_now(&self, line: &[u8]) -> io::Result<()> {
        let mut writer = self.writer.lock().await;
        if self.gone.load(Ordering::Acquire) {
            return Ok(());
        }
        let writer = writer.as_mut().ok_or_else(|| io::Error::from(io::ErrorKind::NotConnected))?;
        writer.write_all(line).await?;
        writer.flush().await
    }
}

/// Counts the bytes of a line until it is written or given up.
struct QueuedBytes<W> {
    output: Arc<Output<W>>,
    bytes: usize,
}

impl<W> QueuedBytes<W> {
    fn new(output: Arc<Output<W>>, bytes: usize) -> Self {
        output.queued_bytes.fetch_add(bytes, Ordering::AcqRel);
        Self { output, bytes }
    }
}

impl<W> Drop for QueuedBytes<W> {
    fn drop(&mut self) {
        self.output.queued_bytes.fetch_sub(self.bytes, Ordering::AcqRel);
        self.output.written.notify_one();
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
        match &message {
            JsonRpcMessage::Response(response) => self.ids.answered(&response.id),
            JsonRpcMessage::Error(error) => error.id.iter().for_each(|id| self.ids.answered(id)),
            JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_) => {}
        }
        let is_answer = matches!(message, JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_));
        let line = (is_answer || !self.output.input_ended.load(Ordering::Acquire))
            .then(|| Output::write(&self.output, to_line(&message)));
        async move {
            match line {
                Some(line) => line.await,
                None => Ok(()),
            }
        }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        if self.next.is_none() {
            self.read().await?;
        }
        if matches!(self.next, Some(JsonRpcMessage::Request(_))) {
            let permit = Arc::clone(&self.turns).acquire_owned().await.expect("never closed");
            if let Some(JsonRpcMessage::Request(request)) = &mut self.next {
                request.request.extensions_mut().insert(RequestSlot { _permit: Arc::new(permit) });
            }
        }
        self.next.take()
    }

    async fn close(&mut self) -> io::Result<()> {
        match self.output.writer.lock().await.take() {
            Some(mut writer) => writer.shutdown().await,
            None => Ok(()),
        }
    }
}
