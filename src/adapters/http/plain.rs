//! The answer to a plain call of a tool: one piece if it is there soon, else an event stream that ends with it.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use axum::response::Response;
use http::StatusCode;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderName, HeaderValue};
use hyper::body::Frame;
use serde_json::Value;
use tokio::time::{Instant, Interval, interval_at};

use bailiwick_contract::{Caller, Progress};

use super::super::mcp::{Handler, PlainCall, progress_message};
use super::reply::json;

/// How long an answer may take to be given in one piece, and the time between two notifications of progress.
const INTERVAL: Duration = Duration::from_secs(1);
/// After how many of them a connection without any is kept open by a comment.
const QUIET_INTERVALS: u32 = 15;

type AnswerFuture = Pin<Box<dyn Future<Output = Vec<u8>> + Send>>;

/// Answers a call. If the answer is dropped before its end, the call is cancelled.
pub(super) async fn answer(
    handler: Handler,
    call: PlainCall,
    caller: Caller,
    user_agent: Option<String>,
    wants_stream: bool,
) -> Response {
    let (progress, token) = (Progress::default(), call.progress_token.clone());
    let board = progress.clone();
    let mut work: AnswerFuture =
        Box::pin(async move { handler.answer_plain(call, caller, user_agent, board).await });
    if !wants_stream {
        return json(StatusCode::OK, work.await);
    }
    let began = Instant::now();
    tokio::select! {
        biased;
        message = &mut work => return stream(Body::from(event(&message))),
        () = tokio::time::sleep(INTERVAL) => {}
    }
    let ticks = interval_at(began + INTERVAL, INTERVAL);
    stream(Body::new(Events { work, began, ticks, quiet: 0, progress, token, is_done: false }))
}

fn event(message: &[u8]) -> Vec<u8> {
    [b"data: ", message, b"\n\n"].concat()
}

fn stream(body: Body) -> Response {
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    headers.insert(HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"));
    response
}

/// The stream of a call that takes longer.
struct Events {
    work: AnswerFuture,
    began: Instant,
    ticks: Interval,
    quiet: u32,
    progress: Progress,
    token: Option<Value>,
    is_done: bool,
}

impl HttpBody for Events {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let frame = |bytes: Vec<u8>| Poll::Ready(Some(Ok(Frame::data(bytes.into()))));
        if self.is_done {
            return Poll::Ready(None);
        }
        if let Poll::Ready(message) = self.work.as_mut().poll(cx) {
            self.is_done = true;
            return frame(event(&message));
        }
        loop {
            if self.ticks.poll_tick(cx).is_pending() {
                return Poll::Pending;
            }
            if let Some(token) = &self.token {
                let said = progress_message(self.began.elapsed(), &self.progress, token);
                return frame(event(said.as_bytes()));
            }
            self.quiet += 1;
            if self.quiet.is_multiple_of(QUIET_INTERVALS) {
                return frame(b":\n\n".to_vec());
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.is_done
    }
}
