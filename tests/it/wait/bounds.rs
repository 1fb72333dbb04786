//! Many waits at the same time hold up nothing else, are bounded, and leave nothing.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bailiwick::adapters::auth::KeyRing;
use bailiwick::adapters::http::{HttpSettings, Server};
use bailiwick::contract::{Caller, Envelope, Transport};
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::patience::{PATIENCE, eventually_some};
use crate::ports::reserve_port;
use support::http_client::{api, send};
use support::service::TestService;

/// Begins waits that end only when they are given up.
fn begin(host: &TestService, count: usize, gone: &CancellationToken) -> JoinSet<Value> {
    let mut waits = JoinSet::new();
    for _ in 0..count {
        let (service, gone) = (Arc::clone(&host.service), gone.clone());
        waits.spawn(async move {
            let input =
                json!({"any": [{"until": "time", "seconds": 3600}, {"until": "file", "path": "never"}]});
            let envelope = json!({"op": "process.wait", "input": input, "options": {"timeoutSeconds": 3600}});
            let caller = Caller::local(Transport::Stdio);
            service.handle(&caller, Envelope::from_value(envelope), &gone).await.into_reply().into_value()
        });
    }
    waits
}

/// How many operations one caller has waiting at most; another quarter is for others.
const PLACES: usize = 192;

/// Begins more waits than there are places, and takes out those that are refused: then every place is taken.
async fn fill(host: &TestService, gone: &CancellationToken) -> JoinSet<Value> {
    let mut waits = begin(host, PLACES + 44, gone);
    while waits.len() > PLACES {
        let ended = tokio::time::timeout(*PATIENCE, waits.join_next());
        let refused = ended.await.expect("one is refused").expect("one is left").expect("it ends");
        assert_eq!(refused["error"]["code"], "provider_unavailable", "{refused:#}");
        assert_eq!(refused["error"]["details"]["rule"], "too-many-held");
    }
    waits
}

/// Sends a wait that is over soon.
async fn short(host: &TestService) -> Value {
    host.send(json!({"op": "process.wait", "input": {"any": [{"until": "time", "seconds": 0.01}]}})).await
}

/// Sends a wait that is over soon until it gets a place.
async fn until_there_is_room(host: &TestService) {
    eventually_some("a place is free", async || (short(host).await["ok"] == true).then_some(())).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn waits_take_no_turn_from_others_are_bounded_and_give_their_places_back() {
    let host = TestService::for_waits();
    let gone = CancellationToken::new();
    let waits = fill(&host, &gone).await;
    assert_eq!(short(&host).await["error"]["details"]["rule"], "too-many-held");
    for _ in 0..8 {
        host.data(json!({"op": "file.stat"})).await;
    }
    gone.cancel();
    let answers = waits.join_all().await;
    assert!(answers.iter().all(|answer| answer["error"]["code"] == "cancelled"), "{answers:#?}");
    assert_eq!(short(&host).await["ok"], true);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn waits_for_many_ports_leave_room_to_stop_the_process() {
    let host = TestService::for_waits();
    let process = host.python("print('up'); time.sleep(600)").await;
    let mut waits = JoinSet::new();
    let ports: Vec<u16> = (0..32).map(|_| reserve_port()).collect();
    for _ in 0..16 {
        let ports: Vec<Value> =
            ports.iter().map(|port| json!({"until": "port", "process": process, "port": port})).collect();
        let envelope =
            json!({"op": "process.wait", "input": {"any": ports}, "options": {"timeoutSeconds": 600}});
        let service = Arc::clone(&host.service);
        waits.spawn(async move {
            let caller = Caller::local(Transport::Stdio);
            let gone = CancellationToken::new();
            service.handle(&caller, Envelope::from_value(envelope), &gone).await.into_reply().into_value()
        });
    }
    for _ in 0..8 {
        host.wait_until(json!({"any": [{"until": "text", "process": process, "text": "up"}]})).await;
    }
    let stopped = host.data(json!({"op": "process.stop", "target": process})).await;
    assert_eq!(stopped["stopped"][0]["status"], "ended", "{stopped:#}");
    for answer in waits.join_all().await {
        assert_eq!(answer["data"]["outcome"], "impossible", "{answer:#}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_vanishes_ends_its_wait() {
    let host = TestService::for_waits();
    let gone = CancellationToken::new();
    let mut waits = fill(&host, &gone).await;
    // The futures are dropped, as a transport does when its connection breaks.
    waits.abort_all();
    while waits.join_next().await.is_some() {}
    until_there_is_room(&host).await;
}

/// How many connections the listener keeps open.
const CONNECTIONS: usize = 400;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn health_is_answered_while_all_else_that_can_be_taken_is_taken() {
    let host = TestService::for_waits();
    let tokens: Vec<String> = (0..40).map(|at| host.token(&format!("client-{at}"))).collect();
    let shutdown = CancellationToken::new();
    let keys = Arc::new(KeyRing::open(host.dirs.clone()));
    let settings = HttpSettings { port: 0, ..HttpSettings::from_config(&host.config) };
    let server = Server::bind(Arc::clone(&host.service), keys, settings).await;
    let server = server.unwrap_or_else(|failure| panic!("the listener starts: {failure}"));
    let address = server.address();
    let serving = tokio::spawn(server.run(shutdown.clone()));
    let wait = |seconds: f64| {
        let input = json!({"any": [{"until": "time", "seconds": seconds}]});
        json!({"op": "process.wait", "input": input, "options": {"timeoutSeconds": 3600}}).to_string()
    };
    let mut waits = JoinSet::new();
    // As many for each as anyone gets while there is a place at all, and one more: those are refused.
    for token in &tokens[..32] {
        for _ in 0..9 {
            let (token, wait) = (token.clone(), wait(3_600.0));
            waits.spawn(async move { api(address, &token, &wait).await.json() });
        }
    }
    while waits.len() > 32 * 8 {
        let ended = tokio::time::timeout(*PATIENCE, waits.join_next());
        let refused = ended.await.expect("one is refused").expect("one is left").expect("no panic");
        assert_eq!(refused["error"]["details"]["rule"], "too-many-held", "{refused}");
    }
    // The turns that are left, by bodies that never come; and the connections, by silence.
    let mut open = Vec::new();
    for at in 0..CONNECTIONS {
        let mut stream = TcpStream::connect(address).await.expect("accepted");
        if let Some(token) = tokens.get(32 + at / 10) {
            let head = format!(
                "POST /api/v1/operations HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n\
                 Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n"
            );
            stream.write_all(head.as_bytes()).await.expect("written");
        }
        open.push(stream);
    }
    let mut times = Vec::new();
    for _ in 0..40 {
        let began = Instant::now();
        assert_eq!(send(address, "GET", "/healthz", &[], "").await.status, 200);
        times.push(began.elapsed());
    }
    let in_time = times.iter().filter(|it| **it <= Duration::from_millis(50)).count();
    println!("/healthz: {in_time} of {} within 50 ms, at most {:?}", times.len(), times.iter().max());
    assert!(waits.try_join_next().is_none(), "nobody was given up for it");
    waits.shutdown().await;
    shutdown.cancel();
    serving.await.expect("no panic");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn three_hundred_waits_of_one_token_keep_no_other_client_waiting() {
    let host = TestService::for_waits();
    let (one, other) = (host.token("one"), host.token("other"));
    let shutdown = CancellationToken::new();
    let keys = Arc::new(KeyRing::open(host.dirs.clone()));
    let settings = HttpSettings { port: 0, ..HttpSettings::from_config(&host.config) };
    let server = Server::bind(Arc::clone(&host.service), keys, settings).await;
    let server = server.unwrap_or_else(|failure| panic!("the listener starts: {failure}"));
    let address = server.address();
    let serving = tokio::spawn(server.run(shutdown.clone()));
    let wait = |seconds: f64| {
        let input = json!({"any": [{"until": "time", "seconds": seconds}]});
        json!({"op": "process.wait", "input": input, "options": {"timeoutSeconds": 600}}).to_string()
    };
    let mut waits = JoinSet::new();
    for _ in 0..300 {
        let (one, wait) = (one.clone(), wait(600.0));
        waits.spawn(async move { api(address, &one, &wait).await.json() });
    }
    // Its share is taken when further ones are refused.
    let refused = tokio::time::timeout(*PATIENCE, waits.join_next());
    let refused = refused.await.expect("one is refused").expect("one is left").expect("no panic");
    assert_eq!(refused["error"]["details"]["rule"], "too-many-held", "{refused}");
    let began = Instant::now();
    assert_eq!(send(address, "GET", "/healthz", &[], "").await.status, 200);
    println!("/healthz took {:?}", began.elapsed());
    assert_eq!(api(address, &other, &wait(0.01)).await.json()["ok"], true);
    let stat = json!({"op": "file.stat"}).to_string();
    assert_eq!(api(address, &one, &stat).await.json()["ok"], true, "what does not wait has its turn");
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
    waits.shutdown().await;
    shutdown.cancel();
    serving.await.expect("no panic");
}
