//! A client that cancels, or goes away, stops what it asked for.

use std::fs;

use bailiwick::adapters::backend::Origin;
use bailiwick::adapters::mcp::stdio::ConversationEnd;
use bailiwick::adapters::socket::{Hello, connect};
use bailiwick::contract::{Envelope, Transport};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpStream, UnixStream};
use tokio_util::sync::CancellationToken;

use crate::patience::{eventually_async, eventually_some};
use support::http_client::{call, request, whole};
use support::server::TestServer;
use support::stdio_client::{in_memory, meta, outcome};

/// Creates a search that takes far longer than a test is patient: many names of one large file.
fn long_search(house: &TestServer) -> Value {
    let folder = house.path("app/large");
    fs::create_dir(&folder).expect("a folder is made");
    let first = folder.join("0.txt");
    fs::write(&first, "abcdefgh ijklmnop qrstuvwx yz\n".repeat(20_000)).expect("a file is written");
    for n in 1..4_000 {
        fs::hard_link(&first, folder.join(format!("{n}.txt"))).expect("a name is added");
    }
    json!({"scope": "app", "op": "file.search", "target": "large",
           "input": {"query": "(a|b|c)[a-z ]*(x|y)[^n]*q{3}"}, "options": {"timeoutSeconds": 600}})
}

/// Waits until the history says how the search ended.
async fn how_it_ended(house: &TestServer) -> Value {
    let gone = CancellationToken::new();
    eventually_some("the history knows of the search", async || {
        let envelope = json!({"scope": "app", "op": "history.timeline"});
        let outcome = house.backend().submit(Envelope::from_value(envelope), &gone).await.into_value();
        let rows = outcome["data"]["operations"].as_array().unwrap_or_else(|| panic!("{outcome}"));
        rows.iter().find(|row| row["op"] == "file.search").map(|row| row["code"].clone())
    })
    .await
}

/// Waits until the search runs: the service, which is in this process, has the folder or a file of it open.
async fn begun(house: &TestServer) {
    let folder = house.path("app/large");
    eventually_async("the search begins", || {
        let open = fs::read_dir("/proc/self/fd").expect("listed").flatten();
        open.filter_map(|entry| fs::read_link(entry.path()).ok()).any(|path| path.starts_with(&folder))
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cancel_notification_stops_the_operation_and_the_session_lives() {
    let house = TestServer::new();
    let search = long_search(&house);
    let (mut client, _) = in_memory(house.backend(), CancellationToken::new());
    client.initialize("2025-11-25").await;
    let message = json!({"jsonrpc": "2.0", "id": "long", "method": "tools/call",
                         "params": {"name": "computer_query", "arguments": search}});
    client.send(&message).await;
    begun(&house).await;
    let ping = json!({"jsonrpc": "2.0", "id": "long", "method": "ping"});
    client.send(&ping).await;
    let refused = client.receive().await;
    assert_eq!(refused["error"]["code"], -32600, "the id is taken: {refused}");
    client
        .send(
            &json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "long"}}),
        )
        .await;
    let answer = client.call("computer_query", json!({"scope": "app", "op": "file.stat"})).await;
    assert_eq!(outcome(&answer)["ok"], true, "no answer to the cancelled request comes before it");
    assert_eq!(how_it_ended(&house).await, "cancelled");
    // Soon after its row.
    eventually_some("the id is free again", async || {
        client.send(&ping).await;
        client.receive().await.get("result").cloned()
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_closes_its_side_stops_its_operation_and_gets_nothing_of_it() {
    let house = TestServer::new();
    let search = long_search(&house);
    let (mut client, served) = in_memory(house.backend(), CancellationToken::new());
    client.initialize("2025-11-25").await;
    let params = json!({"name": "computer_query", "arguments": search});
    client.send(&json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params})).await;
    begun(&house).await;
    client.input.take().expect("open").shutdown().await.expect("closed");
    assert_eq!(served.await.expect("no panic"), ConversationEnd::ByClient);
    let mut rest = String::new();
    client.output.read_to_string(&mut rest).await.expect("read to its end");
    assert_eq!(rest, "");
    assert_eq!(how_it_ended(&house).await, "cancelled");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn shutdown_answers_what_runs_as_cancelled() {
    let house = TestServer::new();
    let search = long_search(&house);
    let shutdown = CancellationToken::new();
    let (mut client, served) = in_memory(house.backend(), shutdown.clone());
    let params = json!({"name": "computer_query", "arguments": whole(search), "_meta": meta()});
    client.send(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})).await;
    begun(&house).await;
    shutdown.cancel();
    assert_eq!(outcome(&client.receive().await)["error"]["code"], "cancelled");
    served.await.expect("no panic");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_http_client_that_goes_away_stops_its_operation() {
    for (route, version) in [("/api/v1/operations", ""), ("/mcp", "2025-11-25"), ("/mcp", "2026-07-28")] {
        let mut house = TestServer::new();
        let search = long_search(&house);
        let address = house.http().await;
        let bearer = format!("Bearer {}", house.token);
        let mut message = call("computer_query", &search);
        let mut headers = vec![
            ("Host", "localhost"),
            ("Authorization", bearer.as_str()),
            ("Content-Type", "application/json"),
            ("Accept", "application/json, text/event-stream"),
        ];
        if version == "2026-07-28" {
            message["params"]["_meta"] = meta();
            headers.extend([("Mcp-Method", "tools/call"), ("Mcp-Name", "computer_query")]);
        }
        if !version.is_empty() {
            headers.push(("MCP-Protocol-Version", version));
        }
        let body = if route == "/mcp" { message.to_string() } else { search.to_string() };
        let mut stream = TcpStream::connect(address).await.expect("accepted");
        stream.write_all(request("POST", route, &headers, &body).as_bytes()).await.expect("written");
        begun(&house).await;
        drop(stream);
        assert_eq!(how_it_ended(&house).await, "cancelled", "{route} {version}");
        house.end().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_socket_client_can_cancel_one_request_and_goes_on() {
    let mut house = TestServer::new();
    let search = long_search(&house);
    let client = connect(&house.socket(), &Hello::new(Transport::Cli, None)).await.expect("let in");
    let gone = CancellationToken::new();
    let (envelope, origin) = (Envelope::from_value(search), Origin::default());
    let (outcome, ()) = tokio::join!(client.submit(&origin, &envelope, &gone), async {
        begun(&house).await;
        gone.cancel();
    });
    let outcome = outcome.expect("answered").into_value();
    assert_eq!(outcome["error"]["code"], "cancelled");
    let stat = Envelope::from_value(json!({"scope": "app", "op": "file.stat"}));
    let outcome = client
        .submit(&Origin::default(), &stat, &CancellationToken::new())
        .await
        .expect("answered")
        .into_value();
    assert_eq!(outcome["ok"], true);
    house.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_socket_client_that_goes_away_stops_its_operations() {
    let mut house = TestServer::new();
    let search = long_search(&house);
    let mut stream = UnixStream::connect(house.socket()).await.expect("accepted");
    let lines = format!(
        "{}\n{}\n",
        json!({"hello": {"protocol": 3, "transport": "socket"}}),
        json!({"request": {"id": 1, "envelope": search}})
    );
    stream.write_all(lines.as_bytes()).await.expect("written");
    begun(&house).await;
    drop(stream);
    assert_eq!(how_it_ended(&house).await, "cancelled");
    house.end().await;
}
