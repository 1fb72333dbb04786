//! Asking a web server of a process whether it answers, from within the process's own network.
//!
//! One GET, of which the status counts, and the beginning of a text is given.

use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

/// How much of an answer is read to find its status.
const MAX_STATUS_BYTES: usize = 1_024;
/// How much of an answer is kept to find its body.
const MAX_KEPT_BYTES: usize = 64 << 10;
/// How much is read beyond that and dropped.
const MAX_DROPPED_BYTES: usize = 4 << 20;
/// How much of a body is given.
pub const MAX_BODY_BYTES: usize = 8 << 10;
/// How long the rest of an answer is waited for.
const MAX_REST: Duration = Duration::from_secs(2);
/// How long a server may take to answer.
const TIMEOUT: Duration = Duration::from_secs(5);
/// The longest path.
pub const MAX_PATH_BYTES: usize = 2_000;

/// Returns whether a text can stand as the path of a request: `/`, then visible ASCII without blanks.
pub fn is_path(text: &str) -> bool {
    text.starts_with('/') && text.len() <= MAX_PATH_BYTES && text.bytes().all(|byte| byte.is_ascii_graphic())
}

/// What a server has answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WebAnswer {
    /// The status.
    pub status: u16,
    /// The beginning of its body, where that is text.
    pub body: Option<String>,
    /// Whether the body continues.
    pub is_cut: bool,
}

/// Sends a GET over a connection and returns the answer. `None` if none comes, or it is not HTTP.
///
/// It is read to its end, within bounds: a server that finds its connection closed before would complain.
pub(super) async fn ask<S: AsyncRead + AsyncWrite + Unpin>(
    mut stream: S,
    port: u16,
    path: &str,
) -> Option<WebAnswer> {
    let request = format!(
        "GET {path} HTTP/1.1\r\nHost: localhost:{port}\r\nUser-Agent: bailiwick\r\nAccept: */*\r\nConnection: close\r\n\r\n"
    );
    let mut bytes = Vec::new();
    let first_line = async {
        stream.write_all(request.as_bytes()).await.ok()?;
        while !bytes.contains(&b'\n') {
            if bytes.len() >= MAX_STATUS_BYTES || stream.read_buf(&mut bytes).await.ok()? == 0 {
                return None;
            }
        }
        read_status(&bytes)
    };
    let status = tokio::time::timeout(TIMEOUT, first_line).await.ok().flatten()?;
    let rest = tokio::time::timeout(MAX_REST, read_rest(&mut stream, &mut bytes)).await;
    let has_end = rest.is_ok_and(|has_end| has_end);
    let (body, is_cut) = body_of(&bytes);
    Some(WebAnswer { status, body, is_cut: is_cut || !has_end })
}

/// Reads on, keeping the beginning. Returns whether all of it was kept.
async fn read_rest<S: AsyncRead + Unpin>(stream: &mut S, bytes: &mut Vec<u8>) -> bool {
    let (mut dropped, mut chunk) = (0, vec![0; 16 << 10]);
    while dropped < MAX_DROPPED_BYTES {
        match stream.read(&mut chunk).await {
            Ok(0) | Err(_) => return dropped == 0,
            Ok(length) => {
                let kept = length.min(MAX_KEPT_BYTES.saturating_sub(bytes.len()));
                bytes.extend_from_slice(&chunk[..kept]);
                dropped += length - kept;
            }
        }
    }
    false
}

/// Returns the text of an answer's body, as far as it is given, and whether there is more.
fn body_of(bytes: &[u8]) -> (Option<String>, bool) {
    let Some(end) = bytes.windows(4).position(|part| part == b"\r\n\r\n") else { return (None, false) };
    let head = String::from_utf8_lossy(&bytes[..end]).to_ascii_lowercase();
    let is_chunked =
        head.lines().any(|line| line.starts_with("transfer-encoding:") && line.contains("chunked"));
    let mut body = if is_chunked { joined(&bytes[end + 4..]) } else { bytes[end + 4..].to_vec() };
    let is_cut = body.len() > MAX_BODY_BYTES;
    body.truncate(MAX_BODY_BYTES);
    let text = match String::from_utf8(body) {
        Ok(text) => text,
        // A letter that was cut in two is left out.
        Err(error) if error.utf8_error().error_len().is_none() => {
            let length = error.utf8_error().valid_up_to();
            String::from_utf8_lossy(&error.as_bytes()[..length]).into_owned()
        }
        Err(_) => return (None, is_cut),
    };
    (Some(text).filter(|text| !text.is_empty()), is_cut)
}

/// Joins the chunks of a body, as far as they are whole.
///
/// # Source
/// RFC 9112, 7.1: the length in hexadecimal, a line break, the chunk, a line break.
fn joined(mut bytes: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    while let Some(end) = bytes.windows(2).position(|part| part == b"\r\n") {
        let length = std::str::from_utf8(&bytes[..end]).ok().and_then(|line| {
            usize::from_str_radix(line.split(';').next().unwrap_or_default().trim(), 16).ok()
        });
        let Some(length @ 1..) = length else { break };
        let rest = &bytes[end + 2..];
        body.extend_from_slice(&rest[..length.min(rest.len())]);
        bytes = rest.get(length.saturating_add(2)..).unwrap_or_default();
    }
    body
}

/// Reads the status out of the first line of an answer.
///
/// # Source
/// RFC 9112, 4: `HTTP/1.1 200 OK`.
fn read_status(line: &[u8]) -> Option<u16> {
    let start = std::str::from_utf8(line.get(.."HTTP/1.1 200".len())?).ok()?;
    let (version, status) = start.split_once(' ')?;
    let is_status = status.len() == 3 && status.bytes().all(|byte| byte.is_ascii_digit());
    if version.starts_with("HTTP/1.") && is_status { status.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_paths_that_stay_in_the_request_line_are_paths() {
        for path in ["/", "/a/b?c=d#e", "/%20"] {
            assert!(is_path(path), "{path}");
        }
        for path in ["", "a", "http://x/", "/a b", "/a\r\nHost: x", "/ö", &format!("/{}", "a".repeat(2_000))]
        {
            assert!(!is_path(path), "{path}");
        }
    }

    #[test]
    fn the_status_is_read_from_the_first_line_alone() {
        for (line, status) in [
            ("HTTP/1.1 200 OK\r\n", Some(200)),
            ("HTTP/1.0 404\r\n", Some(404)),
            ("HTTP/1.1 20\r\n200\r\n", None),
            ("SSH-2.0-x 200 \r\n", None),
            ("HTTP/1.1\r\n", None),
            ("", None),
        ] {
            assert_eq!(read_status(line.as_bytes()), status, "{line:?}");
        }
    }

    #[tokio::test]
    async fn a_server_is_asked_once_and_read_to_its_end() {
        let (near, mut far) = tokio::io::duplex(256);
        let server = tokio::spawn(async move {
            let mut request = vec![0; 200];
            let read = far.read(&mut request).await.expect("a request");
            far.write_all(b"HTTP/1.1 503 Not yet\r\nX: y\r\n\r\nbody").await.expect("it is read");
            // More than the connection holds: nobody closes it before.
            far.write_all(&[b'x'; 100_000]).await.expect("it is read to its end");
            String::from_utf8_lossy(&request[..read]).into_owned()
        });
        let answer = ask(near, 5173, "/health").await.expect("an answer");
        assert_eq!((answer.status, answer.is_cut), (503, true));
        let body = answer.body.expect("text");
        assert!(body.starts_with("bodyxxx") && body.len() == MAX_BODY_BYTES, "{body}");
        let request = server.await.expect("no panic");
        assert!(request.starts_with("GET /health HTTP/1.1\r\nHost: localhost:5173\r\n"), "{request}");
    }

    #[test]
    fn a_body_is_text_without_its_chunks() {
        for (answer, body) in [
            ("HTTP/1.1 200 OK\r\n\r\nhello", Some("hello")),
            ("HTTP/1.1 204 No\r\nA: b\r\n\r\n", None),
            (
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\n",
                Some("abcde"),
            ),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\nabc", Some("abc")),
            ("HTTP/1.1 200 OK", None),
        ] {
            assert_eq!(body_of(answer.as_bytes()).0.as_deref(), body, "{answer:?}");
        }
        assert_eq!(body_of(b"HTTP/1.1 200 OK\r\n\r\n\xff\xfe").0, None);
        assert_eq!(body_of(b"HTTP/1.1 200 OK\r\n\r\nab\xc3").0.as_deref(), Some("ab"));
    }
}
