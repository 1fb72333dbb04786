//! Bodies: reading one of bounded size in bounded time, throwing away what nobody reads, and noting the end of an answer.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use axum::extract::Request;
use http::StatusCode;
use http::header::EXPECT;
use hyper::body::{Frame, SizeHint};
use tokio::runtime::Handle;

use super::connections::{Connection, ServedRequest, Wait};
use super::guard::Peer;
use super::settings::MAX_BODY_BYTES;

/// How long a client may take to send a body.
const BODY_TIMEOUT: Duration = Duration::from_secs(30);
/// How long, and how much of, what nobody reads is taken from the client, so that it sees the answer and not a broken
/// connection.
const DISCARD_TIMEOUT: Duration = Duration::from_secs(2);
const MAX_DISCARDED_BYTES: usize = 16 << 20;

/// Returns the most that a body can have, by what its head says.
///
/// # Errors
/// The status to answer with, if that is too much.
pub(super) fn size(body: &Body) -> Result<usize, StatusCode> {
    let hint = body.size_hint();
    if hint.lower() > MAX_BODY_BYTES as u64 {
        return Err(StatusCode::PAYLOAD_TOO_LARGE);
    }
    Ok(hint
        .upper()
        .and_then(|it| usize::try_from(it).ok())
        .map_or(MAX_BODY_BYTES, |it| it.min(MAX_BODY_BYTES)))
}

/// Reads a body to its end.
///
/// # Errors
/// The status to answer with, as soon as it is known.
pub(super) async fn read(body: Body) -> Result<Bytes, StatusCode> {
    read_within(BODY_TIMEOUT, body).await
}

async fn read_within(time: Duration, body: Body) -> Result<Bytes, StatusCode> {
    tokio::time::timeout(time, collect(body)).await.unwrap_or(Err(StatusCode::REQUEST_TIMEOUT))
}

async fn collect(mut body: Body) -> Result<Bytes, StatusCode> {
    // Reserved at once, so that no larger copy is made meanwhile; what never comes takes no memory.
    let mut kept: Vec<u8> = Vec::with_capacity(size(&body)?);
    while let Some(frame) = next(&mut body).await {
        // A body that breaks off has nobody who reads the answer.
        let frame = frame.map_err(|_| StatusCode::BAD_REQUEST)?;
        let Ok(data) = frame.into_data() else { continue };
        if kept.len() + data.len() > MAX_BODY_BYTES {
            return Err(StatusCode::PAYLOAD_TOO_LARGE);
        }
        if kept.is_empty() && body.is_end_stream() {
            return Ok(data);
        }
        kept.extend_from_slice(&data);
    }
    Ok(kept.into())
}

async fn next(body: &mut Body) -> Option<Result<Frame<Bytes>, axum::Error>> {
    poll_fn(|cx| Pin::new(&mut *body).poll_frame(cx)).await
}

/// A request's body. While it is waited for, its connection does no work: it can be dropped for another. What is left of it
/// when it is dropped is thrown away, for a while, after the answer.
pub(super) struct RequestBody {
    body: Body,
    /// Its connection, where that is known.
    connection: Option<Arc<Connection>>,
    waiting: Option<Wait>,
    /// Whether something was left: the connection must be closed after the answer.
    was_left: Arc<AtomicBool>,
    /// Whether the client sends it only when it is asked to: what is left of it is then never sent.
    is_sent_when_asked: bool,
}

impl RequestBody {
    /// Wraps the body of a request. The flag is set when it is dropped before its end.
    pub fn wrap(request: Request, was_left: Arc<AtomicBool>) -> Request {
        let is_sent_when_asked = request.headers().contains_key(EXPECT);
        let connection = request.extensions().get::<Peer>().map(|peer| Arc::clone(&peer.connection));
        request.map(|body| {
            if body.is_end_stream() {
                return body;
            }
            Body::new(Self { body, connection, waiting: None, was_left, is_sent_when_asked })
        })
    }
}

impl HttpBody for RequestBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let frame = Pin::new(&mut self.body).poll_frame(cx);
        if frame.is_ready() {
            self.waiting = None;
        } else if self.waiting.is_none() {
            self.waiting = self.connection.as_ref().map(Connection::wait);
        }
        frame
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for RequestBody {
    fn drop(&mut self) {
        if self.body.is_end_stream() || self.is_sent_when_asked {
            return;
        }
        self.was_left.store(true, Ordering::Release);
        let mut body = std::mem::replace(&mut self.body, Body::empty());
        let discard = async move {
            let mut total = 0;
            while let Some(Ok(frame)) = next(&mut body).await {
                total += frame.data_ref().map_or(0, Bytes::len);
                if total > MAX_DISCARDED_BYTES {
                    break;
                }
            }
        };
        if let Ok(runtime) = Handle::try_current() {
            runtime.spawn(tokio::time::timeout(DISCARD_TIMEOUT, discard));
        }
    }
}

/// An answer's body: its connection works until it is sent or given up.
pub(super) struct Answer {
    pub body: Body,
    pub _work: ServedRequest,
    /// What the request has taken, which it gives back at the end.
    pub _taken: Option<SharedUse>,
}

/// What a request has taken of what is shared among callers.
#[derive(Clone)]
pub(super) struct SharedUse {
    pub _shares: Arc<[bailiwick_engine::service::Share; 2]>,
}

impl HttpBody for Answer {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A body that sends a byte each time that it is asked, or nothing any more.
    struct Drip {
        left: usize,
    }

    impl HttpBody for Drip {
        type Data = Bytes;
        type Error = axum::Error;

        fn poll_frame(
            mut self: Pin<&mut Self>,
            _: &mut Context<'_>,
        ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
            if self.left == 0 {
                return Poll::Pending;
            }
            self.left -= 1;
            Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(b"x")))))
        }
    }

    #[tokio::test]
    async fn a_body_that_does_not_end_in_its_time_is_a_408_however_much_of_it_came() {
        for left in [0, 1, 1_000] {
            let read = read_within(Duration::from_millis(20), Body::new(Drip { left })).await;
            assert_eq!(read, Err(StatusCode::REQUEST_TIMEOUT), "{left}");
        }
        let whole = read_within(BODY_TIMEOUT, Body::from("{}")).await;
        assert_eq!(whole, Ok(Bytes::from_static(b"{}")));
    }
}
