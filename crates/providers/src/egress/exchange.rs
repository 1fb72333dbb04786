//! One request of plain HTTP and its answer. Unless neither can have left anything behind, the connection ends after them.

use std::io::{self, ErrorKind};
use std::sync::atomic::AtomicU64;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;

use super::gate::{Destination, HostConnection, Refusal};
use super::head::{AnswerBody, AnswerHead, Body, BufferedConnection, RequestHead, number};
use super::relay::{MAX_IDLE, copy_exactly, copy_to_end, counted, end};

/// What the lines of a body in chunks may hold.
struct ChunkRules {
    max_line: usize,
    is_allowed: fn(u8) -> bool,
    max_trailers: usize,
}

/// A request has lengths, and nothing that could be read in two ways.
const IN_REQUESTS: ChunkRules =
    ChunkRules { max_line: 32, is_allowed: |byte| byte.is_ascii_hexdigit(), max_trailers: 0 };
/// An answer may have extensions and trailers, which are not passed on.
const IN_ANSWERS: ChunkRules = ChunkRules {
    max_line: 4 << 10,
    is_allowed: |byte| (byte >= b' ' && byte != 0x7f) || byte == b'\t',
    max_trailers: 100,
};

/// Sends the head of a request.
pub(super) async fn send_head(host: &mut HostConnection, head: &[u8]) -> Result<(), Refusal> {
    let sent = counted(&mut host.connection.stream, head, &host.counter.sent).await;
    sent.map_err(|error| lost(&host.destination, &error))
}

fn lost(destination: &Destination, error: &io::Error) -> Refusal {
    Refusal {
        status: 502,
        ..Refusal::malformed(&format!("`{destination}` has ended the connection: {error}"))
    }
}

/// Passes the body of a request on, and its answer back. Returns the host's connection if another request may follow. A
/// refusal means that nothing of an answer has gone to the program.
pub(super) async fn exchange(
    client: &mut BufferedConnection<TcpStream>,
    mut host: HostConnection,
    request: &RequestHead,
) -> Result<Option<HostConnection>, Refusal> {
    let HostConnection { connection, counter, destination, .. } = &mut host;
    let (mut answer, mut writer) = connection.split();
    let (mut body, mut client_writer) = client.split();
    let sending = async {
        let sent = match request.body {
            Body::Length(length) => copy_exactly(&mut body, &mut writer, length, &counter.sent).await,
            Body::Chunked => copy_chunks(&mut body, &mut writer, &counter.sent, &IN_REQUESTS).await,
        };
        match sent {
            Err(error) if matches!(error.kind(), ErrorKind::InvalidData | ErrorKind::UnexpectedEof) => error,
            // The host may have answered before it had all. Its end stays open: some take that for the program's.
            Ok(()) | Err(_) => std::future::pending().await,
        }
    };
    let mut has_begun = false;
    let answering = async {
        loop {
            let head = AnswerHead::parse(&answer.take_head().await?, &request.method)?;
            let keeps_connection = request.keeps_connection && head.keeps_connection;
            has_begun = true;
            let copied =
                copy_answer(&mut answer, &mut client_writer, &counter.received, &head, keeps_connection);
            copied.await.map_err(|error| lost(destination, &error))?;
            if head.status >= 200 {
                return Ok(keeps_connection);
            }
        }
    };
    let done = tokio::select! {
        done = answering => done,
        error = sending => Err(Refusal::malformed(&format!("the body of the request is none: {error}"))),
    };
    let (rest, unasked) = (body.bytes, answer.bytes);
    client.bytes = rest;
    match done {
        Err(refusal) if !has_begun => Err(refusal),
        // What nobody has asked for is no answer to the next request.
        Ok(true) if unasked.is_empty() => Ok(Some(HostConnection { is_used: true, ..host })),
        Ok(_) => {
            end(&mut client.stream).await;
            Ok(None)
        }
        // What has begun can only be cut off.
        Err(_) => Ok(None),
    }
}

async fn copy_answer(
    answer: &mut BufferedConnection<impl AsyncRead + Unpin>,
    client: &mut (impl AsyncWrite + Unpin),
    counter: &AtomicU64,
    head: &AnswerHead,
    keeps_connection: bool,
) -> io::Result<()> {
    let bytes = head.encode(keeps_connection);
    match head.body {
        // With what has come of the body, so that the program wakes up once.
        AnswerBody::Length(length) => {
            let all = length.saturating_add(bytes.len() as u64);
            answer.bytes.splice(..0, bytes);
            copy_exactly(answer, client, all, counter).await
        }
        AnswerBody::Chunked => {
            counted(client, &bytes, counter).await?;
            let patience = std::mem::replace(&mut answer.patience, MAX_IDLE);
            let copied = copy_chunks(answer, client, counter, &IN_ANSWERS).await;
            answer.patience = patience;
            copied
        }
        AnswerBody::ToEnd => {
            answer.bytes.splice(..0, bytes);
            copy_to_end(answer, client, counter).await
        }
    }
}

/// Passes a body in chunks on, up to its last one, each read and written again.
async fn copy_chunks(
    body: &mut BufferedConnection<impl AsyncRead + Unpin>,
    writer: &mut (impl AsyncWrite + Unpin),
    counter: &AtomicU64,
    rules: &ChunkRules,
) -> io::Result<()> {
    let broken = || io::Error::from(ErrorKind::InvalidData);
    loop {
        let line = take_line(body, rules).await?;
        let length = line.split(|byte| *byte == b';').next().unwrap_or_default().trim_ascii_end();
        let length = number(length, 16).ok_or_else(broken)?;
        counted(writer, format!("{length:x}\r\n").as_bytes(), counter).await?;
        copy_exactly(body, writer, length, counter).await?;
        let mut trailers = 0;
        while !take_line(body, rules).await?.is_empty() {
            trailers += 1;
            if length > 0 || trailers > rules.max_trailers {
                return Err(broken());
            }
        }
        counted(writer, b"\r\n", counter).await?;
        if length == 0 {
            return Ok(());
        }
    }
}

/// Takes a line, without the CR LF at its end. Anything that it may not hold ends the request at once.
async fn take_line(
    body: &mut BufferedConnection<impl AsyncRead + Unpin>,
    rules: &ChunkRules,
) -> io::Result<Vec<u8>> {
    let mut looked = 0;
    loop {
        let end = body.bytes[looked..].iter().position(|byte| !(rules.is_allowed)(*byte));
        match end.map(|end| (looked + end, &body.bytes[looked + end..])) {
            Some((end, [b'\r', b'\n', ..])) => {
                let mut line: Vec<u8> = body.bytes.drain(..end + 2).collect();
                line.truncate(end);
                return Ok(line);
            }
            None | Some((_, [b'\r'])) if body.bytes.len() <= rules.max_line => {}
            None | Some(_) => return Err(ErrorKind::InvalidData.into()),
        }
        looked = body.bytes.len().saturating_sub(1);
        let came = tokio::time::timeout(body.patience, body.fill()).await;
        if !came.unwrap_or(Ok(false))? {
            return Err(ErrorKind::InvalidData.into());
        }
    }
}
