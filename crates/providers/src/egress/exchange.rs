//! One request of plain HTTP and its answer. The connection ends after it, so that nothing can come behind a request that
//! was not read as one.

use std::io::{self, ErrorKind};

use tokio::net::TcpStream;

use super::gate::{Destination, Refusal};
use super::head::{AnswerHead, Body, BufferedConnection, RequestHead, number};
use super::relay::{copy_exactly, copy_to_end, counted, end};
use super::usage::HostCounter;

/// The longest line before a chunk.
const MAX_CHUNK_LINE: usize = 32;

/// Passes a request on, and its answer back. A refusal means that nothing of an answer has gone to the program.
pub(super) async fn exchange(
    client: &mut BufferedConnection<TcpStream>,
    host: TcpStream,
    counter: &HostCounter,
    request: &RequestHead,
    (destination, path): (&Destination, &str),
) -> Result<(), Refusal> {
    let lost = |error: io::Error| Refusal {
        status: 502,
        ..Refusal::malformed(&format!("`{destination}` has ended the connection: {error}"))
    };
    let (reader, mut writer) = host.into_split();
    let mut answer = BufferedConnection::new(reader, client.patience);
    counted(&mut writer, &request.encode(destination, path), &counter.sent).await.map_err(lost)?;
    let BufferedConnection { stream, bytes, patience } = client;
    let (client_reader, mut client_writer) = stream.split();
    let mut body =
        BufferedConnection { stream: client_reader, bytes: std::mem::take(bytes), patience: *patience };
    let sending = async {
        let sent = match request.body {
            Body::Length(length) => copy_exactly(&mut body, &mut writer, length, &counter.sent).await,
            Body::Chunked => copy_chunks(&mut body, &mut writer, counter).await,
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
            let head = AnswerHead::parse(&answer.take_head().await?)?;
            has_begun = true;
            counted(&mut client_writer, head.bytes(), &counter.received).await.map_err(lost)?;
            if head.status < 200 {
                continue;
            }
            let has_no_body = request.method == "HEAD" || matches!(head.status, 204 | 304);
            let copied = match head.length {
                _ if has_no_body => Ok(()),
                Some(length) => {
                    copy_exactly(&mut answer, &mut client_writer, length, &counter.received).await
                }
                None => copy_to_end(&mut answer, &mut client_writer, &counter.received).await,
            };
            return copied.map_err(lost);
        }
    };
    let done = tokio::select! {
        done = answering => done,
        error = sending => Err(Refusal::malformed(&format!("the body of the request is none: {error}"))),
    };
    if !has_begun {
        return done;
    }
    if done.is_ok() {
        end(stream).await;
    }
    // What has begun can only be cut off.
    Ok(())
}

/// Passes a body in chunks on, up to its last one, each read and written again.
async fn copy_chunks(
    body: &mut BufferedConnection<impl tokio::io::AsyncRead + Unpin>,
    writer: &mut (impl tokio::io::AsyncWrite + Unpin),
    counter: &HostCounter,
) -> io::Result<()> {
    let broken = || io::Error::from(ErrorKind::InvalidData);
    loop {
        let line = take_line(body).await?;
        let length = number(&line, 16).ok_or_else(broken)?;
        counted(writer, format!("{length:x}\r\n").as_bytes(), &counter.sent).await?;
        copy_exactly(body, writer, length, &counter.sent).await?;
        // Also what follows the last chunk: trailers are not passed on.
        if !take_line(body).await?.is_empty() {
            return Err(broken());
        }
        counted(writer, b"\r\n", &counter.sent).await?;
        if length == 0 {
            return Ok(());
        }
    }
}

/// Takes a line of hexadecimal digits, without the CR LF at its end. Anything else ends the request at once.
async fn take_line(body: &mut BufferedConnection<impl tokio::io::AsyncRead + Unpin>) -> io::Result<Vec<u8>> {
    loop {
        let end = body.bytes.iter().position(|byte| !byte.is_ascii_hexdigit());
        match end.map(|end| (end, &body.bytes[end..])) {
            Some((end, [b'\r', b'\n', ..])) => {
                let mut line: Vec<u8> = body.bytes.drain(..end + 2).collect();
                line.truncate(end);
                return Ok(line);
            }
            None | Some((_, [b'\r'])) if body.bytes.len() <= MAX_CHUNK_LINE => {}
            None | Some(_) => return Err(ErrorKind::InvalidData.into()),
        }
        let came = tokio::time::timeout(body.patience, body.fill()).await;
        if !came.unwrap_or(Ok(false))? {
            return Err(ErrorKind::InvalidData.into());
        }
    }
}
