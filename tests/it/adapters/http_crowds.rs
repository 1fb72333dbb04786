//! Many clients at once, some of them hostile: nobody keeps another waiting.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use bailiwick::adapters::http::HttpSettings;
use bailiwick::config::PublicUrl;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio::task::JoinSet;

use super::login::URL;
use crate::patience::{PATIENCE, eventually_some};
use support::http_client::{api, request, send};
use support::server::TestServer;

const STAT: &str = r#"{"scope":"app","op":"file.stat"}"#;

/// More connections than the listener keeps open.
const CROWD: usize = 440;

/// After how long a connection that takes nothing more is full.
const FULL_AFTER: Duration = Duration::from_secs(2);

/// What a member of the crowd does on its connection.
#[derive(Debug, Clone, Copy)]
enum Habit {
    /// Sends requests and reads no answer.
    NeverReads,
    /// Sends a head byte by byte.
    Drips,
    /// Sends nothing.
    IsSilent,
    /// Sends a head to a route that is open to everybody, and no body.
    SendsNoBody,
    /// The same, and says that the body comes when it is asked for.
    WaitsToBeAsked,
}

/// Fills the listener with clients of a habit. Those that are slow or silent come back whenever they are dropped.
async fn crowd(address: SocketAddr, habit: Habit) -> JoinSet<()> {
    let (came, mut coming) = tokio::sync::mpsc::channel(CROWD);
    let mut crowd = JoinSet::new();
    for _ in 0..CROWD {
        let came = came.clone();
        crowd.spawn(async move {
            loop {
                let socket = TcpSocket::new_v4().expect("a socket");
                // An answer that is not read fills it soon.
                socket.set_recv_buffer_size(4_096).expect("set");
                let Ok(mut stream) = socket.connect(address).await else { continue };
                if !matches!(habit, Habit::NeverReads) {
                    let _ = came.try_send(());
                }
                match habit {
                    Habit::NeverReads => {
                        let many = "GET /no/such HTTP/1.1\r\nHost: localhost\r\n\r\n".repeat(100);
                        let mut write = async || stream.write_all(many.as_bytes()).await;
                        while matches!(tokio::time::timeout(FULL_AFTER, write()).await, Ok(Ok(()))) {}
                        // Its answers fill all buffers, or it was dropped for another. It does not come back: this is no
                        // flood of requests.
                        let _ = came.try_send(());
                        return std::future::pending().await;
                    }
                    Habit::Drips => {
                        let head = "GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Long: ";
                        for byte in head.bytes().chain(std::iter::repeat(b'x')) {
                            if stream.write_all(&[byte]).await.is_err() {
                                break;
                            }
                            tokio::time::sleep(Duration::from_millis(100)).await;
                        }
                    }
                    // It ends when the listener closes it.
                    Habit::IsSilent => drop(stream.read(&mut [0]).await),
                    Habit::SendsNoBody | Habit::WaitsToBeAsked => {
                        let asks = if matches!(habit, Habit::WaitsToBeAsked) {
                            "Expect: 100-continue\r\n"
                        } else {
                            ""
                        };
                        let head = format!(
                            "POST /oauth/token HTTP/1.1\r\nHost: localhost\r\n{asks}\
                             Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 100\r\n\r\n"
                        );
                        let _ = stream.write_all(head.as_bytes()).await;
                        drop(stream.read_to_end(&mut Vec::new()).await);
                    }
                }
                // Who is dropped comes back, but not in a busy loop.
                tokio::time::sleep(Duration::from_millis(250)).await;
            }
        });
    }
    for _ in 0..CROWD {
        let _ = tokio::time::timeout(*PATIENCE, coming.recv()).await.expect("they come");
    }
    crowd
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn clients_that_read_or_send_nothing_or_slowly_keep_no_new_client_waiting() {
    let habits =
        [Habit::NeverReads, Habit::Drips, Habit::IsSilent, Habit::SendsNoBody, Habit::WaitsToBeAsked];
    for habit in habits {
        let mut house = TestServer::new();
        let public_url = PublicUrl::try_from(URL.to_owned()).expect("a URL");
        let address =
            house.http_with(HttpSettings { public_url: Some(public_url), ..house.settings() }).await;
        let mut crowd = crowd(address, habit).await;
        // Behind a listener that waits for each of those whom it drops it would be many minutes.
        let answered = tokio::time::timeout(*PATIENCE, async {
            let mut slowest = Duration::ZERO;
            for _ in 0..10 {
                let began = Instant::now();
                assert_eq!(send(address, "GET", "/healthz", &[], "").await.status, 200);
                slowest = slowest.max(began.elapsed());
                assert_eq!(api(address, &house.token, STAT).await.status, 200);
            }
            slowest
        });
        let slowest = answered.await.unwrap_or_else(|_| panic!("{habit:?} keeps a new client waiting"));
        println!("{habit:?}: the slowest answer of /healthz took {slowest:?}");
        crowd.shutdown().await;
        house.end().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_body_beyond_the_limit_that_stalls_is_answered_at_once() {
    let mut house = TestServer::new();
    let address = house.http().await;
    let mut stream = TcpStream::connect(address).await.expect("accepted");
    let head = format!(
        "POST /api/v1/operations HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\n\
         Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n",
        house.token
    );
    stream.write_all(head.as_bytes()).await.expect("written");
    let chunk = [format!("{:x}\r\n", 1 << 20).into_bytes(), vec![b'x'; 1 << 20], b"\r\n".to_vec()].concat();
    for _ in 0..5 {
        stream.write_all(&chunk).await.expect("what nobody reads is taken all the same");
    }
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.expect("an answer, and the end");
    // A body that is waited for is answered with 408, after 30 seconds.
    assert!(answer.starts_with("HTTP/1.1 413"), "{answer}");
    house.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_before_the_body_was_read_says_that_the_connection_closes() {
    let mut house = TestServer::new();
    let address = house.http().await;
    let headers = [("Host", "localhost"), ("Content-Type", "application/json")];
    let post = request("POST", "/api/v1/operations", &headers, STAT).replace("Connection: close\r\n", "");
    let (head, _) = post.rsplit_once(STAT).expect("a body");
    let mut stream = TcpStream::connect(address).await.expect("accepted");
    stream.write_all(head.as_bytes()).await.expect("written");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.expect("an answer, and the end");
    assert!(answer.starts_with("HTTP/1.1 401"), "{answer}");
    assert!(answer.to_ascii_lowercase().contains("\r\nconnection: close\r\n"), "{answer}");
    // Without a body the connection continues.
    let mut stream = TcpStream::connect(address).await.expect("accepted");
    let get =
        request("GET", "/api/v1/info", &[("Host", "localhost")], "").replace("Connection: close\r\n", "");
    for _ in 0..2 {
        stream.write_all(get.as_bytes()).await.expect("written");
        let mut seen = Vec::new();
        while !seen.ends_with(b"\"ok\":false}") {
            seen.push(stream.read_u8().await.expect("it continues"));
        }
        let seen = String::from_utf8_lossy(&seen);
        assert!(seen.contains(" 401 ") && !seen.to_ascii_lowercase().contains("connection: close"), "{seen}");
    }
    house.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn large_bodies_of_one_caller_leave_room_for_another() {
    let mut house = TestServer::new();
    let other = house.token("other", None, &["*"], &["*"]);
    let address = house.http().await;
    let bearer = format!("Bearer {}", house.token);
    let write = json!({"scope": "app", "op": "file.write", "target": "large.txt",
        "input": {"content": "x\n".repeat(1_000_000)}, "options": {"overwrite": true}});
    // Those who stall are given up after a while: on a slow computer that may be before the other is answered.
    eventually_some("another is answered while all of one caller's are held", async || {
        let mut stalled = JoinSet::new();
        // Each announces 4 MB and sends nothing of it: together far more than the bodies in flight may have.
        for _ in 0..40 {
            let mut stream = TcpStream::connect(address).await.expect("accepted");
            let head = format!(
                "POST /api/v1/operations HTTP/1.1\r\nHost: localhost\r\nAuthorization: {bearer}\r\n\
                 Content-Type: application/json\r\nContent-Length: 4000000\r\n\r\n"
            );
            stream.write_all(head.as_bytes()).await.expect("written");
            stalled.spawn(async move { stream.read(&mut [0]).await });
        }
        let reply = api(address, &other, &write.to_string()).await;
        let are_held = stalled.try_join_next().is_none();
        (reply.status == 200 && are_held).then_some(())
    })
    .await;
    house.end().await;
}
