//! Sizes, times and numbers that the HTTP listener bounds.

use std::time::{Duration, Instant};

use bailiwick::adapters::http::HttpSettings;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::patience::PATIENCE;
use crate::ports::reserve_port;
use support::http_client::{Reply, api, mcp, request, send, send_raw};
use support::server::TestServer;

const STAT: &str = r#"{"scope":"app","op":"file.stat"}"#;

async fn api_raw(address: std::net::SocketAddr, token: &str, more: &str, body: &[u8]) -> Reply {
    let mut bytes = format!(
        "POST /api/v1/operations HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAuthorization: Bearer {token}\r\nContent-Type: application/json\r\n{more}\r\n\r\n"
    )
    .into_bytes();
    bytes.extend_from_slice(body);
    send_raw(address, &bytes).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bodies_beyond_4_mebibytes_are_refused_however_they_are_announced() {
    let mut house = TestServer::new();
    let address = house.http().await;
    let large = format!("{{\"op\":\"{}\"}}", "x".repeat(5 << 20));
    let reply = api(address, &house.token, &large).await;
    assert_eq!(reply.status, 413, "{}", reply.head);
    // Announced, waiting for leave, and never sent.
    let more = format!("Content-Length: {}\r\nExpect: 100-continue", 5 << 20);
    assert_eq!(api_raw(address, &house.token, &more, b"").await.status, 413);
    assert_eq!(api_raw(address, &house.token, "Content-Length: 99999999999", b"").await.status, 413);
    let mut chunked = Vec::new();
    for _ in 0..5 {
        chunked.extend_from_slice(format!("{:x}\r\n", 1 << 20).as_bytes());
        chunked.extend_from_slice(&vec![b'x'; 1 << 20]);
        chunked.extend_from_slice(b"\r\n");
    }
    chunked.extend_from_slice(b"0\r\n\r\n");
    assert_eq!(api_raw(address, &house.token, "Transfer-Encoding: chunked", &chunked).await.status, 413);
    let small = format!("{:x}\r\n{STAT}\r\n0\r\n\r\n", STAT.len());
    assert_eq!(
        api_raw(address, &house.token, "Transfer-Encoding: chunked", small.as_bytes()).await.status,
        200
    );
    assert_eq!(
        api_raw(address, &house.token, "Content-Length: 2\r\nContent-Encoding: gzip", b"{}").await.status,
        415
    );
    house.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn messages_that_cannot_be_read_are_answered_with_a_parse_error() {
    let mut house = TestServer::new();
    let address = house.http().await;
    let token = house.token.clone();
    let deep = [b"{\"a\":".repeat(5_000), b"1".to_vec(), b"}".repeat(5_000)].concat();
    let unreadable: [&[u8]; 4] = [b"{\"jsonrpc\":\"2.0\",\"id\":1,", b"{\"jsonrpc\":\"\xff\"}", b"", &deep];
    for body in unreadable {
        let head = format!(
            "POST /mcp HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAuthorization: Bearer {token}\r\n\
             Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        let reply = send_raw(address, &[head.as_bytes(), body].concat()).await;
        assert_eq!(reply.status, 400, "{reply:?}");
        assert_eq!(reply.json()["error"]["code"], -32_700, "{reply:?}");
    }
    house.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn too_many_and_too_large_headers_are_refused() {
    let mut house = TestServer::new();
    let address = house.http().await;
    let many: Vec<(String, String)> = (0..200).map(|n| (format!("X-{n}"), "x".to_owned())).collect();
    let many: Vec<(&str, &str)> = many.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    assert_eq!(send(address, "GET", "/healthz", &many, "").await.status, 431);
    let large = "x".repeat(200_000);
    let reply = send(address, "GET", "/healthz", &[("X-Large", &large)], "").await;
    assert!(matches!(reply.status, 0 | 400 | 431), "{reply:?}");
    assert_eq!(send(address, "GET", "/healthz", &[], "").await.status, 200);
    house.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn smuggled_and_broken_framing_is_refused() {
    let mut house = TestServer::new();
    let address = house.http().await;
    for more in [
        "Content-Length: 2\r\nContent-Length: 3",
        "Content-Length: 2, 3",
        "Content-Length: -1",
        "Content-Length: 2\r\nTransfer-Encoding: gzip",
    ] {
        let reply = api_raw(address, &house.token, more, STAT.as_bytes()).await;
        assert!(matches!(reply.status, 0 | 400 | 501), "{more}: {reply:?}");
    }
    house.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_head_that_does_not_arrive_is_given_up() {
    let mut house = TestServer::new();
    let address = house.http().await;
    let mut stream = TcpStream::connect(address).await.expect("accepted");
    stream.write_all(b"GET /healthz HTTP/1.1\r\nHost: local").await.expect("written");
    let mut rest = Vec::new();
    // The listener ends it; the test's own patience is far longer.
    let ended = tokio::time::timeout(*PATIENCE, stream.read_to_end(&mut rest)).await;
    assert!(ended.is_ok(), "the connection is still open");
    house.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn idle_connections_make_room_for_new_ones() {
    let mut house = TestServer::new();
    let address = house.http().await;
    let mut idle = Vec::new();
    for _ in 0..300 {
        idle.push(TcpStream::connect(address).await.expect("accepted"));
    }
    let reply = tokio::time::timeout(*PATIENCE, api(address, &house.token, STAT)).await;
    assert_eq!(reply.expect("answered").status, 200);
    house.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn shutdown_ends_idle_and_open_connections_in_time() {
    let mut house = TestServer::new();
    // A port of its own: one that the system chose may be another's as soon as it is closed.
    let settings = HttpSettings { port: reserve_port(), ..house.settings() };
    let address = house.http_with(settings).await;
    house.socket();
    let bearer = format!("Bearer {}", house.token);
    let _idle = TcpStream::connect(address).await.expect("accepted");
    let mut half = TcpStream::connect(address).await.expect("accepted");
    half.write_all(b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Len").await.expect("written");
    let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}});
    assert_eq!(mcp(address, &house.token, "2026-07-28", list).await.status, 200);
    // The head is whole, the body never comes: a request for which the listener is patient for half a minute.
    let mut bodiless = TcpStream::connect(address).await.expect("accepted");
    let head =
        request("POST", "/api/v1/operations", &[("Host", "localhost"), ("Authorization", &bearer)], STAT);
    let (head, _) = head.rsplit_once(STAT).expect("a body");
    bodiless.write_all(head.as_bytes()).await.expect("written");
    let began = Instant::now();
    house.end().await;
    let took = began.elapsed();
    // The product gives them 1.5 s; whatever machine this is, far less than the body would be waited for.
    assert!(took < Duration::from_secs(25), "{took:?}");
    assert!(TcpStream::connect(address).await.is_err(), "the listener is closed");
}
