//! Reading a body of bounded size in bounded time.

use std::future::poll_fn;
use std::pin::Pin;
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use http::{HeaderMap, StatusCode};

use super::settings::MAX_BODY_BYTES;

/// How long a client may take to send a body.
const BODY_TIMEOUT: Duration = Duration::from_secs(30);
/// How much of a body that is too large is read and thrown away, so that the client sees the answer and
/// not a broken connection.
const MAX_DISCARDED_BYTES: u64 = 64 << 20;

/// Reads a body to its end.
///
/// # Errors
/// The status to answer with.
pub(super) async fn read(headers: &HeaderMap, body: Body) -> Result<Bytes, StatusCode> {
    let announced = body.size_hint().lower();
    // A client that waits for leave before it sends is told at once.
    if announced > MAX_DISCARDED_BYTES
        || (announced > MAX_BODY_BYTES as u64 && headers.contains_key("expect"))
    {
        return Err(StatusCode::PAYLOAD_TOO_LARGE);
    }
    tokio::time::timeout(BODY_TIMEOUT, collect(body)).await.unwrap_or(Err(StatusCode::REQUEST_TIMEOUT))
}

async fn collect(mut body: Body) -> Result<Bytes, StatusCode> {
    let mut kept: Vec<u8> = Vec::new();
    let mut total: u64 = 0;
    while let Some(frame) = poll_fn(|cx| Pin::new(&mut body).poll_frame(cx)).await {
        // A body that breaks off has nobody who reads the answer.
        let frame = frame.map_err(|_| StatusCode::BAD_REQUEST)?;
        let Ok(data) = frame.into_data() else { continue };
        total += data.len() as u64;
        if total > MAX_DISCARDED_BYTES {
            return Err(StatusCode::PAYLOAD_TOO_LARGE);
        }
        if total > MAX_BODY_BYTES as u64 {
            kept = Vec::new();
            continue;
        }
        if kept.is_empty() && body.is_end_stream() {
            return Ok(data);
        }
        kept.extend_from_slice(&data);
    }
    if total > MAX_BODY_BYTES as u64 { Err(StatusCode::PAYLOAD_TOO_LARGE) } else { Ok(kept.into()) }
}
