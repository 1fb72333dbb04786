//! The local socket: who gets in, and what happens when one side goes away.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;

use bailiwick::adapters::auth::KeyRing;
use bailiwick::adapters::backend::{Backend, EmbeddedService, Origin};
use bailiwick::adapters::socket::{BindError, ConnectError, Hello, Listener, connect, is_own_user, path};
use bailiwick::config::Tokens;
use bailiwick::contract::{Envelope, Transport};
use bailiwick::platform::machine::user_id;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;
use tokio_util::sync::CancellationToken;

use crate::patience::eventually_async;
use support::server::TestServer;

fn stat(scope: &str) -> Envelope {
    Envelope { scope: Some(scope.into()), op: "file.stat".into(), ..Envelope::default() }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_socket_is_for_this_user_alone() {
    let mut house = TestServer::new();
    let path = house.socket();
    let mode = |path: &std::path::Path| fs::metadata(path).expect("it is there").permissions().mode() & 0o777;
    assert_eq!(mode(&path), 0o600);
    assert_eq!(mode(path.parent().expect("a folder")), 0o700);
    assert!(is_own_user(user_id()));
    assert!(!is_own_user(user_id() + 1));
    assert!(user_id() == 0 || !is_own_user(0), "not even for root");
    house.end().await;
    assert!(!path.exists(), "it is removed at the end");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_second_service_is_refused_and_a_dead_ones_socket_is_replaced() {
    let house = TestServer::new();
    let path = path(&house.dirs);
    let first = Listener::bind(&path).expect("free");
    assert!(matches!(Listener::bind(&path), Err(BindError::Running)));
    drop(first);
    // What a service that was killed leaves behind: a socket that nobody holds.
    drop(std::os::unix::net::UnixListener::bind(&path).expect("free again"));
    assert!(path.exists());
    drop(Listener::bind(&path).expect("replaced"));
    fs::write(&path, "precious").expect("written");
    assert!(matches!(Listener::bind(&path), Err(BindError::Occupied(_))));
    assert_eq!(fs::read_to_string(&path).expect("untouched"), "precious");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_named_profile_restricts_the_connection() {
    let mut house = TestServer::new();
    house.token("narrow", None, &["notes"], &["fs:read"]);
    house.token("past", Some(1), &["*"], &["*"]);
    let path = house.socket();
    let narrow = connect(&path, &Hello::new(Transport::Stdio, Some("narrow".into()))).await.expect("let in");
    let gone = CancellationToken::new();
    let outcome =
        narrow.submit(&Origin::default(), &Ok(stat("notes")), &gone).await.expect("answered").into_value();
    assert_eq!(outcome["ok"], true);
    let outcome =
        narrow.submit(&Origin::default(), &Ok(stat("app")), &gone).await.expect("answered").into_value();
    assert_eq!(outcome["error"]["code"], "unknown_scope");
    assert_eq!(narrow.offer().await.expect("answered").scopes, ["notes"]);
    for name in ["nobody", "past", ""] {
        let refused = connect(&path, &Hello::new(Transport::Stdio, Some(name.into()))).await;
        assert!(matches!(refused, Err(ConnectError::Refused(_))), "{name}");
    }
    let refused = connect(&path, &Hello::new(Transport::Http, None)).await;
    assert!(matches!(refused, Err(ConnectError::Refused(_))), "no other transport can be claimed");
    house.end().await;
}

/// Takes a token away, and makes another of the same name that opens more.
fn replace_token(house: &TestServer) {
    let mut tokens = Tokens::load(&house.dirs).expect("readable");
    tokens.revoke("narrow").expect("it is there");
    tokens.save().expect("written");
    house.token("narrow", None, &["*"], &["*"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_revoked_token_opens_nothing_any_more_on_connections_that_are_open() {
    let mut house = TestServer::new();
    house.token("narrow", None, &["notes"], &["fs:read"]);
    let path = house.socket();
    let linked = connect(&path, &Hello::new(Transport::Stdio, Some("narrow".into()))).await.expect("let in");
    let keys = Arc::new(KeyRing::open(house.dirs.clone()));
    let caller = keys.profile("narrow", Transport::Stdio).expect("readable").expect("it is there");
    let own = Backend::Embedded(EmbeddedService { caller, keys: Some(keys), ..house.embedded() });
    let gone = CancellationToken::new();
    let over_link = async || {
        linked.submit(&Origin::default(), &Ok(stat("notes")), &gone).await.expect("answered").into_value()
    };
    let in_process = async || own.submit(Ok(stat("notes")), &gone).await.into_value();
    assert_eq!(
        (over_link().await["ok"].clone(), in_process().await["ok"].clone()),
        (true.into(), true.into())
    );
    replace_token(&house);
    for answer in [over_link().await, in_process().await] {
        assert_eq!(answer["error"]["details"]["rule"], "caller", "{answer:#}");
    }
    assert_eq!(linked.offer().await.expect("answered").scopes, Vec::<String>::new());
    assert_eq!(own.offer().await.scopes, Vec::<String>::new());
    house.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lines_that_are_not_of_the_protocol_are_answered_and_the_connection_lives() {
    let mut house = TestServer::new();
    let mut stream = UnixStream::connect(house.socket()).await.expect("accepted");
    let (input, mut output) = stream.split();
    let mut lines = BufReader::new(input).lines();
    let mut next = async || -> Value {
        serde_json::from_str(&lines.next_line().await.expect("read").expect("a line")).expect("JSON")
    };
    output.write_all(b"{\"hello\":{\"protocol\":3,\"transport\":\"socket\"}}\n").await.expect("written");
    assert!(next().await["welcome"]["version"].is_string());
    for line in
        ["{", "[]", "{\"request\":{}}", "{\"hello\":{\"protocol\":3,\"transport\":\"socket\"}}", "\u{7f}"]
    {
        output.write_all(format!("{line}\n").as_bytes()).await.expect("written");
        assert!(next().await["problem"]["message"].is_string(), "{line}");
    }
    let envelope = json!({"scope": "app", "op": "file.stat"});
    let line = json!({"request": {"id": 7, "envelope": envelope}});
    output.write_all(format!("{line}\n").as_bytes()).await.expect("written");
    let answer = next().await;
    assert_eq!(answer["outcome"]["id"], 7);
    assert_eq!(answer["outcome"]["outcome"]["ok"], true);
    house.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_connection_without_a_hello_is_closed() {
    let mut house = TestServer::new();
    let mut stream = UnixStream::connect(house.socket()).await.expect("accepted");
    stream.write_all(b"GET / HTTP/1.1\r\n\r\n").await.expect("written");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.expect("read");
    assert!(answer.contains("refused") && answer.lines().count() == 1, "{answer}");
    house.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_requests_are_in_flight_on_one_connection() {
    let mut house = TestServer::new();
    let client = connect(&house.socket(), &Hello::new(Transport::Cli, None)).await.expect("let in");
    let client = Arc::new(client);
    let mut asked = tokio::task::JoinSet::new();
    for n in 0..200 {
        let client = Arc::clone(&client);
        let op = if n % 2 == 0 { "file.stat" } else { "no.such" };
        let envelope = Envelope { op: op.to_owned(), ..stat("app") };
        asked.spawn(async move {
            let gone = CancellationToken::new();
            let outcome =
                client.submit(&Origin::default(), &Ok(envelope), &gone).await.expect("answered").into_value();
            assert_eq!(outcome["op"], op);
            assert_eq!(outcome["ok"], op == "file.stat");
        });
    }
    while let Some(result) = asked.join_next().await {
        result.expect("no panic");
    }
    house.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_whose_service_ends_goes_on_with_one_of_its_own() {
    let mut house = TestServer::new();
    house.socket();
    let embedded = house.embedded();
    let embed = Box::new(move || Ok(embedded.clone()));
    let hello = Hello::new(Transport::Stdio, None);
    let backend = Backend::open(&house.dirs, hello, embed).await.expect("the service answers");
    assert!(backend.is_remote());
    let gone = CancellationToken::new();
    assert_eq!(backend.submit(Ok(stat("app")), &gone).await.into_value()["ok"], true);
    let dirs = house.dirs.clone();
    house.shutdown.cancel();
    eventually_async("the service takes its socket away", || !path(&dirs).exists()).await;
    // The request that notices may find the service gone; those after it are served.
    let first = backend.submit(Ok(stat("app")), &gone).await.into_value();
    assert!(first["ok"] == true || first["error"]["code"] == "provider_unavailable", "{first}");
    assert_eq!(backend.submit(Ok(stat("app")), &gone).await.into_value()["ok"], true);
    house.end().await;
}
