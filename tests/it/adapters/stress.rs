//! What takes long or measures this process: run apart from the gate.

use std::time::Duration;

use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::tls::{connect, encrypted};
use crate::patience::PATIENCE;
use support::http_client::request;
use support::server::TestServer;

/// Returns the memory that this process has, in bytes.
fn resident_bytes() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").expect("the system tells it");
    let pages: u64 = text.split(' ').nth(1).expect("a second number").parse().expect("a number");
    pages * 4_096
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_thousand_handshakes_leave_the_memory_bounded() {
    let mut house = TestServer::new();
    let address = house.http().await;
    let handshake = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"},
    }})
    .to_string();
    let bearer = format!("Bearer {}", house.token);
    let headers = [
        ("Host", "localhost"),
        ("Authorization", bearer.as_str()),
        ("Content-Type", "application/json"),
        ("Accept", "application/json, text/event-stream"),
    ];
    let one = request("POST", "/mcp", &headers, &handshake).replace("Connection: close\r\n", "");
    let round = async |count: usize| {
        let mut stream = TcpStream::connect(address).await.expect("accepted");
        let mut answer = vec![0; 64 << 10];
        for _ in 0..count {
            stream.write_all(one.as_bytes()).await.expect("written");
            let mut seen = Vec::new();
            while !seen.ends_with(b"0\r\n\r\n") {
                let got = stream.read(&mut answer).await.expect("read");
                assert!(got > 0, "closed: {}", String::from_utf8_lossy(&seen));
                seen.extend_from_slice(&answer[..got]);
            }
            assert!(seen.starts_with(b"HTTP/1.1 200"), "{}", String::from_utf8_lossy(&seen));
        }
    };
    round(500).await;
    let before = resident_bytes();
    round(10_000).await;
    let grown = resident_bytes().saturating_sub(before);
    // Sessions would take 50 kB each, 500 MB in all; with `cargo test` other tests run in the same process.
    assert!(grown < 200 << 20, "{grown} bytes more");
    house.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_connection_over_tls_waits_longer_for_its_first_request_than_for_a_head() {
    let mut house = TestServer::new();
    let address = house.http_with(encrypted(&house)).await;
    let mut idle = connect(&house, address, "localhost").await.expect("a handshake");
    let mut begun = connect(&house, address, "localhost").await.expect("a handshake");
    begun.write_all(b"GET /healthz HTTP/1.1\r\n").await.expect("written");
    // The one that has begun a head is given up: then the other has waited as long.
    let ended = tokio::time::timeout(*PATIENCE, begun.read_to_end(&mut Vec::new())).await;
    assert!(ended.is_ok(), "a head that does not arrive is given up");
    idle.write_all(request("GET", "/healthz", &[("Host", "localhost")], "").as_bytes())
        .await
        .expect("written");
    let mut answer = String::new();
    idle.read_to_string(&mut answer).await.expect("an answer");
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    house.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_body_that_comes_byte_by_byte_is_answered_with_408_and_no_connection_waits_longer() {
    let mut house = TestServer::new();
    let address = house.http().await;
    let bearer = format!("Bearer {}", house.token);
    let headers = [("Host", "localhost"), ("Authorization", &bearer), ("Content-Type", "application/json")];
    let whole = request("POST", "/api/v1/operations", &headers, &"x".repeat(100_000));
    let (head, _) = whole.split_once("\r\n\r\n").expect("a head");
    let mut stream = TcpStream::connect(address).await.expect("accepted");
    stream.write_all(format!("{head}\r\n\r\n").as_bytes()).await.expect("written");
    let (mut reader, mut writer) = stream.into_split();
    // Some of it keeps coming: that is what makes it slow and not silent.
    let sends = tokio::spawn(async move {
        while writer.write_all(b"x").await.is_ok() {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    });
    let mut answer = String::new();
    let ended = tokio::time::timeout(2 * *PATIENCE, reader.read_to_string(&mut answer)).await;
    assert!(ended.is_ok(), "the connection is still open: {answer}");
    assert!(answer.starts_with("HTTP/1.1 408") && answer.contains(r#""code":"timeout""#), "{answer}");
    sends.abort();
    house.end().await;
}

// Memory is read from /proc.
#[cfg(unix)]
#[test]
fn large_bodies_of_64_clients_take_bounded_memory_and_leave_little() {
    crate::drills::run_drill("large-bodies", &[]);
}
