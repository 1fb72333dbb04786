//! Asking a web server of a process whether it answers, from within the process's own network.
//!
//! One GET, of which only the status is read: what else the server says stays there.

use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

/// How much of an answer is read to find its status.
const MAX_STATUS_BYTES: u64 = 1_024;
/// How long a server may take to answer.
const TIMEOUT: Duration = Duration::from_secs(5);
/// The longest path.
pub const MAX_PATH_BYTES: usize = 2_000;

/// Tells whether a text can stand as the path of a request: `/`, then visible ASCII without blanks.
pub fn is_path(text: &str) -> bool {
    text.starts_with('/') && text.len() <= MAX_PATH_BYTES && text.bytes().all(|byte| byte.is_ascii_graphic())
}

/// Sends a GET over a connection and gives the status of the answer. `None` if none comes, or it is not HTTP.
pub(super) async fn status<S: AsyncRead + AsyncWrite + Unpin>(
    mut stream: S,
    port: u16,
    path: &str,
) -> Option<u16> {
    let request = format!(
        "GET {path} HTTP/1.1\r\nHost: localhost:{port}\r\nUser-Agent: bailiwick\r\nAccept: */*\r\nConnection: close\r\n\r\n"
    );
    let answer = async {
        stream.write_all(request.as_bytes()).await.ok()?;
        let (mut limited, mut line) = (stream.take(MAX_STATUS_BYTES), Vec::new());
        while !line.contains(&b'\n') {
            if limited.read_buf(&mut line).await.ok()? == 0 {
                return None;
            }
        }
        read_status(&line)
    };
    tokio::time::timeout(TIMEOUT, answer).await.ok().flatten()
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
    async fn a_server_is_asked_once_and_no_more_is_read_than_its_status() {
        let (near, mut far) = tokio::io::duplex(256);
        let server = tokio::spawn(async move {
            let mut request = vec![0; 200];
            let read = far.read(&mut request).await.expect("a request");
            far.write_all(b"HTTP/1.1 503 Not yet\r\nX: y\r\n\r\nbody").await.expect("it is read");
            String::from_utf8_lossy(&request[..read]).into_owned()
        });
        assert_eq!(status(near, 5173, "/health").await, Some(503));
        let request = server.await.expect("no panic");
        assert!(request.starts_with("GET /health HTTP/1.1\r\nHost: localhost:5173\r\n"), "{request}");
    }
}
