//! The proxy as programs meet it, with a resolver of the test's own. All hosts are listeners of the loopback.

use std::collections::VecDeque;
use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use bailiwick_policy::command::{HostName, HostRules};

use super::gate::ResolveFuture;
use super::{AskAboutHosts, Egress, HostAnswer, NetworkUse, Proxy, Resolve};

/// More than anything takes here, however busy the computer is.
const LONG: Duration = Duration::from_secs(60);

/// Answers each question with the next of its answers, and with the last one from then on.
#[derive(Debug)]
struct Answers(Mutex<VecDeque<Vec<SocketAddr>>>);

impl Resolve for Answers {
    fn resolve<'a>(&'a self, _: &'a str, port: u16) -> ResolveFuture<'a> {
        let mut answers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let answer = if answers.len() > 1 { answers.pop_front() } else { answers.front().cloned() };
        // A resolver has no say in the port.
        let answer = answer.unwrap_or_default().into_iter().map(|it| SocketAddr::new(it.ip(), port ^ 1));
        let answer: Vec<SocketAddr> = answer.collect();
        Box::pin(async move { Ok(answer) })
    }
}

/// A user who approves the first request to `asked.test` and refuses all others.
#[derive(Debug, Default)]
struct ApprovedOnce(AtomicBool);

impl AskAboutHosts for ApprovedOnce {
    fn ask(&self, host: &HostName, _: u16) -> HostAnswer {
        if host.to_string() != "asked.test" {
            return HostAnswer::Unavailable("nobody is here".to_owned());
        }
        if self.0.swap(true, Ordering::Relaxed) {
            HostAnswer::Refused
        } else {
            HostAnswer::Approved { is_for_command: false }
        }
    }
}

struct Bench {
    proxy: Proxy,
    at: SocketAddr,
    host: TcpListener,
    port: u16,
}

impl Bench {
    /// A proxy for `good.test` and `*.deep.test` at the port of a listener, which the address `127.0.0.1` names too.
    async fn new(answers: &[&[&str]]) -> Self {
        Self::with(answers, LONG).await
    }

    async fn with(answers: &[&[&str]], patience: Duration) -> Self {
        let host = TcpListener::bind("127.0.0.1:0").await.expect("bound");
        let port = host.local_addr().expect("bound").port();
        let entries = ["good.test", "*.deep.test", "127.0.0.1"].map(|entry| format!("{entry}:{port}"));
        let entries: Vec<String> = entries.into_iter().chain(["usual.test".to_owned()]).collect();
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("bound");
        let at = listener.local_addr().expect("bound");
        let address = |text: &&str| SocketAddr::new(text.parse().expect("an address"), 0);
        let answers = answers.iter().map(|all| all.iter().map(address).collect()).collect();
        let egress = Egress {
            scope: "app".to_owned(),
            rules: Arc::new(HostRules::compile(&entries).expect("entries")),
            asks: Some(Arc::new(ApprovedOnce::default())),
            resolver: Arc::new(Answers(Mutex::new(answers))),
            patience,
        };
        Self { proxy: Proxy::at(listener, egress), at, host, port }
    }

    async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.at).await.expect("connected")
    }

    /// Opens a tunnel.
    async fn tunnel(&self, host: &str) -> TcpStream {
        let mut stream = self.connect().await;
        let to = format!("{host}:{}", self.port);
        let request = format!("CONNECT {to} HTTP/1.1\r\nHost: {to}\r\n\r\n");
        stream.write_all(request.as_bytes()).await.expect("sent");
        assert_eq!(head(&mut stream).await, "HTTP/1.1 200 Connection established\r\n\r\n");
        stream
    }

    /// Sends bytes to the proxy, and returns all that it answers.
    async fn ask(&self, bytes: impl AsRef<[u8]>) -> String {
        let mut stream = self.connect().await;
        stream.write_all(bytes.as_ref()).await.expect("sent");
        rest(&mut stream).await
    }

    /// Takes the next connection of the host.
    /// Sends a request by a new connection to the proxy, and takes it as the host does. Returns the program's end and the host's.
    async fn begin(&self, request: &str) -> (TcpStream, TcpStream) {
        let mut client = self.connect().await;
        client.write_all(request.as_bytes()).await.expect("sent");
        let mut host = self.accept().await;
        let _ = head(&mut host).await;
        (client, host)
    }

    async fn accept(&self) -> TcpStream {
        tokio::time::timeout(LONG, self.host.accept()).await.expect("in time").expect("accepted").0
    }

    fn usage(&self) -> NetworkUse {
        self.proxy.usage()
    }

    /// Returns the only reason for a refusal.
    fn reason(&self) -> String {
        let usage = self.usage();
        assert_eq!(usage.refused.len(), 1, "{usage:?}");
        usage.refused[0].reason.clone()
    }
}

async fn head(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    while !bytes.ends_with(b"\r\n\r\n") {
        let byte = tokio::time::timeout(LONG, stream.read_u8()).await.expect("in time").expect("a byte");
        bytes.push(byte);
    }
    String::from_utf8(bytes).expect("text")
}

async fn rest(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    // An end by a reset is an end.
    let _: io::Result<usize> =
        tokio::time::timeout(LONG, stream.read_to_end(&mut bytes)).await.expect("in time");
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Makes a greeting of TLS.
fn hello(name: Option<&str>, encrypted: bool) -> Vec<u8> {
    let list = |bytes: &[u8]| [&u16::try_from(bytes.len()).expect("short").to_be_bytes()[..], bytes].concat();
    let mut extensions = Vec::new();
    if let Some(name) = name {
        let entry = [&[0], &list(name.as_bytes())[..]].concat();
        extensions.extend([&[0, 0], &list(&list(&entry))[..]].concat());
    }
    if encrypted {
        extensions.extend([&[0xfe, 0x0d], &list(b"sealed")[..]].concat());
    }
    let body = [&[3, 3][..], &[7; 32], &[0], &list(&[0x13, 1]), &[1, 0], &list(&extensions)].concat();
    let length = u32::try_from(body.len()).expect("short").to_be_bytes();
    let message = [&[1], &length[1..], &body[..]].concat();
    [&[22, 3, 1], &list(&message)[..]].concat()
}

/// Makes an answer of a host: one that asks for another greeting, or an ordinary one.
fn server_hello(again: bool) -> Vec<u8> {
    const RETRY: [u8; 32] = [
        0xcf, 0x21, 0xad, 0x74, 0xe5, 0x9a, 0x61, 0x11, 0xbe, 0x1d, 0x8c, 0x02, 0x1e, 0x65, 0xb8, 0x91, 0xc2,
        0xa2, 0x11, 0x16, 0x7a, 0xbb, 0x8c, 0x5e, 0x07, 0x9e, 0x09, 0xe2, 0xc8, 0xa8, 0x33, 0x9c,
    ];
    let random = if again { RETRY } else { [9; 32] };
    let body = [&[3, 3][..], &random, &[0, 0x13, 1, 0, 0, 0]].concat();
    let length = u8::try_from(body.len()).expect("short");
    [&[22, 3, 3, 0, length + 4, 2, 0, 0, length], &body[..]].concat()
}

#[tokio::test]
async fn a_greeting_for_the_host_goes_through_and_is_counted() {
    let bench = Bench::new(&[&["127.0.0.1"]]).await;
    let mut client = bench.tunnel("GOOD.test").await;
    let mut host = bench.accept().await;
    let greeting = hello(Some("good.TEST"), true);
    // In two parts, and with records of its own for each half.
    let half = greeting.len() / 2;
    client.write_all(&greeting[..half]).await.expect("sent");
    client.write_all(&greeting[half..]).await.expect("sent");
    let mut got = vec![0; greeting.len()];
    host.read_exact(&mut got).await.expect("it comes");
    assert_eq!(got, greeting);
    host.write_all(&server_hello(false)).await.expect("sent");
    let mut answer = vec![0; server_hello(false).len()];
    client.read_exact(&mut answer).await.expect("it comes");
    client.write_all(b"sealed").await.expect("sent");
    let mut got = [0; 6];
    host.read_exact(&mut got).await.expect("it comes");
    drop(client);
    assert_eq!(rest(&mut host).await, "");
    drop(host);
    let usage = bench.usage();
    assert_eq!(usage.hosts[0].host, format!("good.test:{}", bench.port));
    assert_eq!(usage.sent_bytes, greeting.len() as u64 + 6);
    assert!(usage.hosts[0].encrypted_hello && usage.refused.is_empty(), "{usage:?}");
}

#[tokio::test]
async fn a_greeting_for_another_host_or_for_none_sends_nothing() {
    for (name, why) in
        [(Some("evil.test"), "another server"), (None, "no server"), (Some("good.test.evil"), "another")]
    {
        let bench = Bench::new(&[&["127.0.0.1"]]).await;
        let mut client = bench.tunnel("good.test").await;
        let mut host = bench.accept().await;
        client.write_all(&hello(name, false)).await.expect("sent");
        assert_eq!(rest(&mut client).await, "");
        assert_eq!(rest(&mut host).await, "", "{name:?}");
        assert!(bench.reason().contains(why), "{}", bench.reason());
        assert_eq!(bench.usage().sent_bytes, 0);
    }
}

#[tokio::test]
async fn a_second_greeting_must_name_the_same_host() {
    for (second, goes) in [("good.test", true), ("evil.test", false)] {
        let bench = Bench::new(&[&["127.0.0.1"]]).await;
        let mut client = bench.tunnel("good.test").await;
        let mut host = bench.accept().await;
        let first = hello(Some("good.test"), false);
        client.write_all(&first).await.expect("sent");
        host.read_exact(&mut vec![0; first.len()]).await.expect("it comes");
        // A warning first, which must not hide that it asks again.
        let again = [&[21, 3, 3, 0, 2, 1, 112], &server_hello(true)[..]].concat();
        host.write_all(&again).await.expect("sent");
        client.read_exact(&mut vec![0; again.len()]).await.expect("it comes");
        let change = [20, 3, 3, 0, 1, 1];
        let greeting = hello(Some(second), false);
        client.write_all(&[&change[..], &greeting].concat()).await.expect("sent");
        client.shutdown().await.expect("ended");
        let got = rest(&mut host).await;
        assert_eq!(!got.is_empty(), goes, "{second}");
        assert_eq!(bench.usage().refused.is_empty(), goes, "{second}");
    }
}

#[tokio::test]
async fn a_name_that_leads_to_an_address_that_is_not_public_is_refused() {
    for address in
        ["169.254.169.254", "10.0.0.1", "127.0.0.9", "::1", "fd00:ec2::254", "::ffff:10.0.0.1", "224.0.0.1"]
    {
        let bench = Bench::new(&[&[address]]).await;
        let to = format!("good.test:{}", bench.port);
        let answer = bench.ask(format!("CONNECT {to} HTTP/1.1\r\nHost: {to}\r\n\r\n")).await;
        assert!(answer.starts_with("HTTP/1.1 403 "), "{address}: {answer}");
        assert!(answer.contains("bailiwick scope allow app --host"), "{address}: {answer}");
    }
}

#[tokio::test]
async fn a_resolver_that_changes_its_answer_leads_nowhere_else() {
    // What is judged is what is connected to: each question is asked once, and each answer judged.
    let bench = Bench::new(&[&["127.0.0.1"], &["169.254.169.254"]]).await;
    let _client = bench.tunnel("a.deep.test").await;
    let _host = bench.accept().await;
    let to = format!("a.deep.test:{}", bench.port);
    let answer = bench.ask(format!("CONNECT {to} HTTP/1.1\r\n\r\n")).await;
    assert!(answer.starts_with("HTTP/1.1 403 ") && answer.contains("169.254.169.254"), "{answer}");
    // Of several addresses only those are tried that may be.
    let bench = Bench::new(&[&["169.254.169.254", "127.0.0.1", "10.0.0.1"]]).await;
    let _client = bench.tunnel("good.test").await;
    let _host = bench.accept().await;
}

#[tokio::test]
async fn what_stands_behind_a_request_is_not_passed_on() {
    let bench = Bench::new(&[&["127.0.0.1"]]).await;
    let to = format!("good.test:{}", bench.port);
    for (method, fields, body, passed) in [
        ("POST", "Content-Length: 3", "abcGET /smuggled HTTP/1.1\r\nHost: evil.test\r\n\r\n", "abc"),
        ("GET", "Content-Length: 3", "abcGET /smuggled HTTP/1.1\r\nHost: evil.test\r\n\r\n", "abc"),
        (
            "POST",
            "Transfer-Encoding: chunked",
            "3\r\nabc\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: evil.test\r\n\r\n",
            "3\r\nabc\r\n0\r\n\r\n",
        ),
        ("POST", "A: b", "GET /smuggled HTTP/1.1\r\nHost: evil.test\r\n\r\n", ""),
        ("GET", "Connection: close", "GET /smuggled HTTP/1.1\r\nHost: evil.test\r\n\r\n", ""),
    ] {
        let request = format!(
            "{method} http://{to}/path HTTP/1.1\r\nHost: {to}\r\nProxy-Authorization: x\r\n{fields}\r\n\r\n{body}"
        );
        let (answer, got) = tokio::join!(bench.ask(request), async {
            let mut host = bench.accept().await;
            let head = head(&mut host).await;
            let mut got = vec![0; passed.len()];
            host.read_exact(&mut got).await.expect("it comes");
            host.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: keep-alive\r\n\r\nok")
                .await
                .expect("sent");
            // The host keeps the connection open; the proxy ends it.
            format!("{head}{}{}", String::from_utf8_lossy(&got), rest(&mut host).await)
        });
        assert_eq!(answer, "HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\nok", "{fields}");
        assert!(got.ends_with(&format!("connection: close\r\n\r\n{passed}")), "{got}");
        assert!(got.starts_with(&format!("{method} /path HTTP/1.1\r\nhost: {to}\r\n")), "{got}");
        assert!(!got.contains("smuggled") && !got.contains("roxy-"), "{got}");
    }
}

const OK: &str = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";

/// Asks on a connection that stays open, and has the host answer.
async fn ask_and_answer(
    client: &mut TcpStream,
    host: &mut TcpStream,
    request: &str,
    answer: &str,
    expected: &str,
) {
    client.write_all(request.as_bytes()).await.expect("sent");
    let got = head(host).await;
    assert!(!got.contains("connection:"), "{got}");
    host.write_all(answer.as_bytes()).await.expect("sent");
    expect(client, expected).await;
}

async fn expect(stream: &mut TcpStream, expected: &str) {
    let mut got = vec![0; expected.len()];
    tokio::time::timeout(LONG, stream.read_exact(&mut got)).await.expect("in time").expect("it comes");
    assert_eq!(String::from_utf8_lossy(&got), expected);
}

#[tokio::test]
async fn requests_to_one_host_share_a_connection_and_each_is_judged() {
    let refused = [
        ("GET http://evil.test/ HTTP/1.1\r\nHost: evil.test\r\n\r\n", "403"),
        ("GET http://TO/ HTTP/1.1\r\nHost: evil.test\r\n\r\n", "403"),
        ("GET http://TO/ HTTP/1.1\r\nHost: TO\r\nHost: evil.test\r\n\r\n", "400"),
        ("GET / HTTP/1.1\r\nHost: TO\r\n\r\n", "400"),
        ("CONNECT evil.test:443 HTTP/1.1\r\n\r\n", "403"),
        ("GET http://TO/ HTTP/1.1\r\nA: b\nHost: evil.test\r\n\r\n", "400"),
        ("\u{5}\u{1}", "400"),
    ];
    for (second, status) in refused {
        // Also where it comes together with the first one.
        for is_together in [false, true] {
            let bench = Bench::new(&[&["127.0.0.1"]]).await;
            let to = format!("good.test:{}", bench.port);
            let (first, second) =
                (format!("GET http://{to}/ HTTP/1.1\r\nHost: {to}\r\n\r\n"), second.replace("TO", &to));
            let mut client = bench.connect().await;
            client.write_all(first.as_bytes()).await.expect("sent");
            let mut host = bench.accept().await;
            let _ = head(&mut host).await;
            host.write_all(OK.as_bytes()).await.expect("sent");
            expect(&mut client, OK).await;
            let third = if is_together { format!("{first}{second}") } else { first };
            ask_and_answer(&mut client, &mut host, &third, OK, OK).await;
            if !is_together {
                client.write_all(second.as_bytes()).await.expect("sent");
            }
            client.shutdown().await.expect("ended");
            let answer = rest(&mut client).await;
            assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{second}: {answer}");
            assert_eq!(rest(&mut host).await, "", "{second}");
            assert_eq!(bench.usage().hosts[0].connections, 1, "{second}");
        }
    }
}

#[tokio::test]
async fn an_offer_of_another_protocol_does_not_reach_the_host() {
    let bench = Bench::new(&[&["127.0.0.1"]]).await;
    let to = format!("good.test:{}", bench.port);
    let request = |fields: &str| {
        format!(
            "GET http://{to}/ HTTP/1.1\r\nHost: {to}\r\nConnection: Upgrade, HTTP2-Settings\r\n{fields}\r\n\r\n"
        )
    };
    let mut client = bench.connect().await;
    client.write_all(request("Upgrade: h2c\r\nHTTP2-Settings: AAMAAABk").as_bytes()).await.expect("sent");
    let mut host = bench.accept().await;
    assert_eq!(head(&mut host).await, format!("GET / HTTP/1.1\r\nhost: {to}\r\n\r\n"));
    host.write_all(OK.as_bytes()).await.expect("sent");
    expect(&mut client, OK).await;
    for fields in [
        "Upgrade: websocket",
        "Upgrade: h2c, websocket",
        "Upgrade: h2c\r\nContent-Length: 3",
        "HTTP2-Settings: AA\r\nContent-Length: 3",
    ] {
        let answer = bench.ask(request(fields)).await;
        assert!(answer.starts_with("HTTP/1.1 400 ") && answer.contains("(Upgrade)"), "{fields}: {answer}");
    }
}

#[tokio::test]
async fn requests_in_a_tunnel_are_each_for_its_host() {
    for second in [
        "GET / HTTP/1.1\r\nHost: evil.test\r\n\r\n",
        "GET / HTTP/1.1\r\nA: b\r\n\r\n",
        "GET http://evil.test/ HTTP/1.1\r\nHost: evil.test\r\n\r\n",
        "CONNECT TO HTTP/1.1\r\nHost: TO\r\n\r\n",
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    ] {
        let bench = Bench::new(&[&["127.0.0.1"]]).await;
        let to = format!("good.test:{}", bench.port);
        let mut client = bench.tunnel("good.test").await;
        let mut host = bench.accept().await;
        let first = format!("GET / HTTP/1.1\r\nHost: {to}\r\n\r\n");
        for _ in 0..2 {
            ask_and_answer(&mut client, &mut host, &first, OK, OK).await;
        }
        client.write_all(second.replace("TO", &to).as_bytes()).await.expect("sent");
        client.shutdown().await.expect("ended");
        let answer = rest(&mut client).await;
        assert!(answer.starts_with("HTTP/1.1 4") || answer.starts_with("HTTP/1.1 5"), "{second}: {answer}");
        assert_eq!(rest(&mut host).await, "", "{second}");
    }
}

#[tokio::test]
async fn an_approval_is_asked_for_again_on_a_connection_that_was_kept() {
    let bench = Bench::new(&[&["127.0.0.1"]]).await;
    let to = format!("asked.test:{}", bench.port);
    let request = format!("GET http://{to}/ HTTP/1.1\r\nHost: {to}\r\n\r\n");
    let (mut client, mut host) = bench.begin(&request).await;
    host.write_all(OK.as_bytes()).await.expect("sent");
    expect(&mut client, OK).await;
    client.write_all(request.as_bytes()).await.expect("sent");
    let answer = rest(&mut client).await;
    assert!(answer.starts_with("HTTP/1.1 403 ") && answer.contains("has refused"), "{answer}");
    assert_eq!(rest(&mut host).await, "");
}

#[tokio::test]
async fn only_what_was_asked_for_is_the_answer_to_the_next_request() {
    let second = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nother";
    // Whether the first answer leaves the connection to the host open, and what of it arrives.
    for (answer, expected) in [
        (format!("{OK}{second}"), OK),
        (
            "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok".to_owned(),
            "HTTP/1.0 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\nok",
        ),
        (
            OK.replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n"),
            "HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\nok",
        ),
        (
            format!(
                "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n{second}"
            ),
            "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n0\r\n\r\n",
        ),
        ("HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 30\r\n\r\nabc".to_owned(), "HTTP/1.1 502 "),
        ("HTTP/1.1 200 OK\r\nContent-Length: +3\r\n\r\nabc".to_owned(), "HTTP/1.1 502 "),
    ] {
        let bench = Bench::new(&[&["127.0.0.1"]]).await;
        let to = format!("good.test:{}", bench.port);
        let request = format!("GET http://{to}/ HTTP/1.1\r\nHost: {to}\r\n\r\n");
        let (mut client, mut host) = bench.begin(&request).await;
        host.write_all(answer.as_bytes()).await.expect("sent");
        expect(&mut client, expected).await;
        assert_eq!(rest(&mut host).await, "", "{answer:?}");
        let more = rest(&mut client).await;
        assert!(!more.contains("other"), "{answer:?}: {more}");
    }
}

#[tokio::test]
async fn an_answer_in_chunks_is_written_again_and_the_connection_kept() {
    let bench = Bench::new(&[&["127.0.0.1"]]).await;
    let to = format!("good.test:{}", bench.port);
    let request = format!("GET http://{to}/ HTTP/1.1\r\nHost: {to}\r\n\r\n");
    let (mut client, mut host) = bench.begin(&request).await;
    let start = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
    // In two parts, the second of which has what a program need not see.
    host.write_all(format!("{start}A;x=\"y\"\r\n01234").as_bytes()).await.expect("sent");
    expect(&mut client, &format!("{start}a\r\n01234")).await;
    host.write_all(b"56789\r\n0 \r\nTrailer: x\r\n\r\n").await.expect("sent");
    expect(&mut client, "56789\r\n0\r\n\r\n").await;
    ask_and_answer(&mut client, &mut host, &request, OK, OK).await;
    // What is no chunk ends the answer, and with it the connection.
    client.write_all(request.as_bytes()).await.expect("sent");
    let _ = head(&mut host).await;
    host.write_all(format!("{start}z\r\n").as_bytes()).await.expect("sent");
    assert_eq!(rest(&mut client).await, start);
}

#[tokio::test]
async fn a_host_that_ends_a_kept_connection_is_connected_to_again_once() {
    let bench = Bench::new(&[&["127.0.0.1"]]).await;
    let to = format!("good.test:{}", bench.port);
    let request = format!("GET http://{to}/ HTTP/1.1\r\nHost: {to}\r\n\r\n");
    let (mut client, mut host) = bench.begin(&request).await;
    host.write_all(OK.as_bytes()).await.expect("sent");
    expect(&mut client, OK).await;
    // While nothing is asked for: whether the proxy has seen it or not.
    drop(host);
    client.write_all(request.as_bytes()).await.expect("sent");
    let mut host = bench.accept().await;
    let _ = head(&mut host).await;
    host.write_all(OK.as_bytes()).await.expect("sent");
    expect(&mut client, OK).await;
    // When something is: it is repeated once.
    client.write_all(request.as_bytes()).await.expect("sent");
    let _ = head(&mut host).await;
    drop(host);
    let mut host = bench.accept().await;
    let _ = head(&mut host).await;
    drop(host);
    let answer = rest(&mut client).await;
    assert!(answer.starts_with("HTTP/1.1 400 "), "{answer}");
    assert_eq!(bench.usage().hosts[0].connections, 3);
}

#[tokio::test]
async fn chunks_that_can_be_read_in_two_ways_end_the_request() {
    let bench = Bench::new(&[&["127.0.0.1"]]).await;
    let to = format!("good.test:{}", bench.port);
    for body in [
        "3;a=b\r\nabc\r\n",
        "+3\r\nabc\r\n",
        "0x3\r\nabc\r\n",
        "3\nabc\n",
        "3\r\nabcx",
        "0\r\nHost: evil.test\r\n\r\n",
        "\r\n",
    ] {
        let request =
            format!("POST http://{to}/ HTTP/1.1\r\nHost: {to}\r\nTransfer-Encoding: chunked\r\n\r\n{body}");
        let (answer, got) = tokio::join!(bench.ask(request), async {
            let mut host = bench.accept().await;
            let _ = head(&mut host).await;
            rest(&mut host).await
        });
        assert!(answer.starts_with("HTTP/1.1 400 "), "{body:?}: {answer}");
        assert!(!got.contains("evil") && !got.ends_with("0\r\n\r\n"), "{body:?}: {got}");
    }
}

#[tokio::test]
async fn an_answer_that_leads_to_another_host_leads_there_only_if_that_is_allowed() {
    let bench = Bench::new(&[&["127.0.0.1"]]).await;
    let to = format!("good.test:{}", bench.port);
    let (answer, ()) = tokio::join!(
        bench.ask(format!("GET http://{to}/ HTTP/1.1\r\nHost: {to}\r\nConnection: close\r\n\r\n")),
        async {
            let mut host = bench.accept().await;
            let _ = head(&mut host).await;
            host.write_all(b"HTTP/1.1 302 Found\r\nLocation: http://evil.test/\r\nContent-Length: 0\r\n\r\n")
                .await
                .expect("sent");
        }
    );
    assert!(answer.contains("location: http://evil.test/"), "{answer}");
    let answer = bench.ask("GET http://evil.test/ HTTP/1.1\r\nHost: evil.test\r\n\r\n").await;
    assert!(answer.starts_with("HTTP/1.1 403 "), "{answer}");
    assert!(answer.contains("`bailiwick scope allow app --host 'evil.test'` allows it"), "{answer}");
    let (answer, ()) =
        tokio::join!(bench.ask(format!("GET http://{to}/ HTTP/1.1\r\nHost: {to}\r\n\r\n")), async {
            let mut host = bench.accept().await;
            let _ = head(&mut host).await;
            host.write_all(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\n\r\nother")
                .await
                .expect("sent");
        });
    assert!(answer.starts_with("HTTP/1.1 502 ") && !answer.contains("other\n"), "{answer}");
}

#[tokio::test]
async fn at_a_port_that_is_named_a_host_may_speak_first_and_as_it_likes() {
    let bench = Bench::new(&[&["127.0.0.1"]]).await;
    let mut client = bench.tunnel("good.test").await;
    let mut host = bench.accept().await;
    host.write_all(b"SSH-2.0-x\r\n").await.expect("sent");
    let mut got = [0; 11];
    client.read_exact(&mut got).await.expect("it comes");
    client.write_all(b"SSH-2.0-y\r\n").await.expect("sent");
    host.read_exact(&mut got).await.expect("it comes");
    assert_eq!(&got, b"SSH-2.0-y\r\n");
}

#[tokio::test]
async fn what_says_nothing_is_ended_in_time_and_holds_nobody_up() {
    let bench = Bench::with(&[&["127.0.0.1"]], Duration::from_millis(200)).await;
    let mut silent = Vec::new();
    for begin in ["", "GET http://good.test/ HT", "\u{5}", "CONNECT"] {
        let mut stream = bench.connect().await;
        stream.write_all(begin.as_bytes()).await.expect("sent");
        silent.push(stream);
    }
    let mut half = bench.tunnel("good.test").await;
    let mut host = bench.accept().await;
    half.write_all(&hello(Some("good.test"), false)[..20]).await.expect("sent");
    for stream in &mut silent {
        let _ = rest(stream).await;
    }
    assert_eq!(rest(&mut half).await, "");
    assert_eq!(rest(&mut host).await, "");
}

#[tokio::test]
async fn with_the_proxy_all_its_connections_end() {
    let bench = Bench::new(&[&["127.0.0.1"]]).await;
    let mut client = bench.tunnel("good.test").await;
    let mut host = bench.accept().await;
    let Bench { proxy, at, .. } = bench;
    drop(proxy);
    assert_eq!(rest(&mut client).await, "");
    assert_eq!(rest(&mut host).await, "");
    // The task drops its listener when it is ended.
    let refused = async {
        while TcpStream::connect(at).await.is_ok() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(LONG, refused).await.expect("nothing listens any more");
}

#[tokio::test]
async fn at_the_usual_ports_only_tls_and_http_are_spoken() {
    // Nothing listens at the address that is asked for, so the judgement of the tunnel itself is what is seen here.
    let bench = Bench::new(&[&["127.0.0.1"]]).await;
    let answer = bench.ask("CONNECT usual.test:443 HTTP/1.1\r\n\r\n").await;
    assert!(answer.starts_with("HTTP/1.1 403 "), "its loopback address is named at another port: {answer}");
}
