//! Raw bytes that are no proper HTTP, or say in two ways where a request ends: nothing in them becomes a second request.

use std::net::SocketAddr;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::patience::PATIENCE;
use support::server::TestServer;

const STAT: &str = r#"{"scope":"app","op":"file.stat"}"#;
/// What an attacker wants to be taken for a request of somebody else.
const SECOND: &str = "GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";

/// Sends bytes, and returns the status of each answer.
async fn statuses(address: SocketAddr, bytes: &[u8]) -> Vec<u16> {
    let mut stream = TcpStream::connect(address).await.expect("accepted");
    // It may answer and close before everything is written.
    let _ = stream.write_all(bytes).await;
    let mut answer = Vec::new();
    let read = tokio::time::timeout(*PATIENCE, stream.read_to_end(&mut answer)).await;
    // A connection that is reset has said what it had to say.
    let _ = read.expect("the listener closes it");
    let text = String::from_utf8_lossy(&answer).into_owned();
    let heads = text.split("HTTP/1.1 ").skip(1);
    heads.map(|head| head[..3].parse().expect("a status")).collect()
}

/// A request of a known caller, with further header lines.
fn post(house: &TestServer, lines: &str, body: &str) -> Vec<u8> {
    format!(
        "POST /api/v1/operations HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\n\
         Content-Type: application/json\r\n{lines}\r\n\r\n{body}",
        house.token
    )
    .into_bytes()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_whose_end_is_said_in_two_ways_is_the_last_of_its_connection() {
    let mut house = TestServer::new();
    let address = house.http().await;
    let chunked = format!("{:x}\r\n{STAT}\r\n0\r\n\r\n", STAT.len());
    let length = format!("Content-Length: {}", chunked.len() + SECOND.len());
    let te = "Transfer-Encoding: chunked";
    for lines in
        [format!("{length}\r\n{te}"), format!("{te}\r\n{length}"), format!("{te}\r\nContent-Length: 0")]
    {
        // By the chunks, the request ends before the second one; the connection ends with it.
        let seen = statuses(address, &post(&house, &lines, &format!("{chunked}{SECOND}"))).await;
        assert_eq!(seen, [200], "{lines}");
    }
    for lines in [
        format!("Content-Length: {0}\r\nContent-Length: {1}", STAT.len(), STAT.len() + SECOND.len()),
        format!("Content-Length: {}, {}", STAT.len(), STAT.len()),
        format!("Content-Length: +{}", STAT.len()),
        format!("Content-Length: 0x{:x}", STAT.len()),
        format!("Content-Length: {} ", "9".repeat(40)),
        "Content-Length: -1".to_owned(),
        "Content-Length: 1 0".to_owned(),
        "Content-Length:".to_owned(),
        "Transfer-Encoding: chunked, identity".to_owned(),
        "Transfer-Encoding: xchunked".to_owned(),
        "Transfer-Encoding: identity".to_owned(),
        "Transfer-Encoding : chunked".to_owned(),
        "Transfer-Encoding: \u{b}chunked".to_owned(),
        "X-Folded: one\r\n Transfer-Encoding: chunked".to_owned(),
        "X-Folded: one\r\n\tContent-Length: 5".to_owned(),
        "X-Return: one\rTransfer-Encoding: chunked".to_owned(),
        "X-Null: one\0two".to_owned(),
        "no colon".to_owned(),
        ": no name".to_owned(),
        "X Space: one".to_owned(),
    ] {
        let seen = statuses(address, &post(&house, &lines, &format!("{STAT}{SECOND}"))).await;
        assert_eq!(seen, [400], "{lines:?}");
    }
    house.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn chunks_that_are_malformed_end_the_connection_and_long_extensions_are_refused() {
    let mut house = TestServer::new();
    let address = house.http().await;
    let te = "Transfer-Encoding: chunked";
    let size = format!("{:x}", STAT.len());
    for good in [
        format!("{size}\r\n{STAT}\r\n0\r\n\r\n"),
        format!("{size};name=value\r\n{STAT}\r\n0;last\r\n\r\n"),
        format!("{size}\r\n{STAT}\r\n0\r\nX-Trailer: ignored\r\n\r\n"),
    ] {
        let seen = statuses(address, &post(&house, &format!("{te}\r\nConnection: close"), &good)).await;
        assert_eq!(seen, [200], "{good}");
    }
    for bad in [
        format!("0x{size}\r\n{STAT}\r\n0\r\n\r\n"),
        format!("-{size}\r\n{STAT}\r\n0\r\n\r\n"),
        format!("{}\r\n{STAT}\r\n0\r\n\r\n", "F".repeat(17)),
        format!("{size}\r\n{STAT}{STAT}\r\n0\r\n\r\n"),
        format!("{size};a\nb\r\n{STAT}\r\n0\r\n\r\n"),
        format!("{size};{}\r\n{STAT}\r\n0\r\n\r\n", "x".repeat(20 << 10)),
        format!("{size}\r\n{STAT}\r\n0\r\nX: {}\r\n\r\n", "x".repeat(200 << 10)),
        format!("\r\n{STAT}\r\n0\r\n\r\n"),
    ] {
        let seen = statuses(address, &post(&house, te, &format!("{bad}{SECOND}"))).await;
        assert!(seen.len() <= 1 && seen.iter().all(|status| *status == 400), "{seen:?} {:.80}", bad);
    }
    house.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_no_request_of_http_1_is_refused_before_anything_is_looked_at() {
    let mut house = TestServer::new();
    let address = house.http().await;
    let long = format!("GET /{} HTTP/1.1\r\nHost: localhost\r\n\r\n", "x".repeat(80 << 10));
    let name = format!("GET /healthz HTTP/1.1\r\nHost: localhost\r\n{}: x\r\n\r\n", "n".repeat(80 << 10));
    for bytes in [
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        "GET /healthz HTTP/9.9\r\nHost: localhost\r\n\r\n",
        "GET /healthz\r\n\r\n",
        "GET  /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "GET /heal\0thz HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "\u{16}\u{3}\u{1} a handshake",
        "{\"jsonrpc\":\"2.0\"}\r\n\r\n",
        &long,
        &name,
    ] {
        let seen = statuses(address, format!("{bytes}{SECOND}").as_bytes()).await;
        let is_refused = |status: &u16| matches!(status, 400 | 414 | 431 | 505);
        assert!(seen.len() <= 1 && seen.iter().all(is_refused), "{seen:?} {bytes:.60}");
    }
    // Methods that nothing here has.
    for line in
        ["TRACE / HTTP/1.1", "CONNECT localhost:80 HTTP/1.1", "OPTIONS * HTTP/1.1", "PUT /mcp HTTP/1.1"]
    {
        let seen =
            statuses(address, format!("{line}\r\nHost: localhost\r\nConnection: close\r\n\r\n").as_bytes())
                .await;
        assert!(matches!(seen[..], [400 | 401 | 403 | 404 | 405]), "{seen:?} {line}");
    }
    // Of HTTP/1.0 nothing is in chunks.
    let old = post(&house, "Transfer-Encoding: chunked", "0\r\n\r\n");
    let old = String::from_utf8(old).expect("text").replace("HTTP/1.1", "HTTP/1.0");
    assert_eq!(statuses(address, format!("{old}{SECOND}").as_bytes()).await, [400]);
    house.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pipelined_requests_are_judged_one_by_one_and_answered_in_order() {
    let mut house = TestServer::new();
    let address = house.http().await;
    let good =
        String::from_utf8(post(&house, &format!("Content-Length: {}", STAT.len()), STAT)).expect("text");
    let stranger = "GET /api/v1/info HTTP/1.1\r\nHost: localhost\r\n\r\n";
    let foreign = "GET /healthz HTTP/1.1\r\nHost: evil.example\r\n\r\n";
    // A line may end with a line feed alone, as RFC 9112 §2.2 allows.
    let feeds = SECOND.replace("\r\n", "\n").replace("Connection: close\n", "");
    let bytes = format!("{good}{stranger}{foreign}{feeds}{good}{SECOND}{good}");
    // What follows a request that says it is the last is not read.
    assert_eq!(statuses(address, bytes.as_bytes()).await, [200, 401, 403, 200, 200, 200]);
    house.end().await;
}
