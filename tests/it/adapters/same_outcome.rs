//! The same envelope through every transport gives the same outcome.

use bailiwick::adapters::backend::Origin;
use bailiwick::adapters::socket::{Hello, connect};
use bailiwick::contract::{ErrorCode, Transport};
use bailiwick::requests;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::envelopes;
use support::http_client::{api, call, mcp, send};
use support::server::TestServer;
use support::service::normal;
use support::stdio_client::{in_memory, meta, outcome};

fn check_code(way: &str, name: &str, outcome: &Value, code: &str) {
    let got = outcome["error"]["code"].as_str().unwrap_or("ok");
    assert_eq!(got, code, "{name} by {way}: {outcome}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_transport_gives_the_same_outcome() {
    let mut house = TestServer::new();
    let address = house.http().await;
    let path = house.socket();
    let token = house.token.clone();
    let (mut legacy, _) = in_memory(house.backend(), house.shutdown.clone());
    legacy.initialize("2025-11-25").await;
    let (mut modern, _) = in_memory(house.backend(), house.shutdown.clone());
    let socket = connect(&path, &Hello::new(Transport::Socket, None)).await.expect("the service answers");

    for (name, envelope, code) in envelopes::all() {
        let gone = CancellationToken::new();
        let by_socket = socket
            .submit(&Origin::default(), &requests::read(envelope.clone()), &gone)
            .await
            .expect("the service answers")
            .into_value();
        check_code("socket", name, &by_socket, code);
        let expected = normal(by_socket);

        let reply = api(address, &token, &envelope.to_string()).await;
        let status =
            ErrorCode::ALL.iter().find(|it| it.as_str() == code).map_or(200, |it| it.facts().http_status);
        assert_eq!(reply.status, status, "{name}: {reply:?}");
        assert_eq!(normal(reply.json()), expected, "{name} by the JSON API");

        let by_stdio = outcome(&legacy.call("computer_operation", envelope.clone()).await);
        assert_eq!(normal(by_stdio), expected, "{name} by stdio, 2025-11-25");
        let by_stdio = outcome(&modern.call_modern("computer_operation", envelope.clone()).await);
        assert_eq!(normal(by_stdio), expected, "{name} by stdio, 2026-07-28");

        for version in ["2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"] {
            let reply = mcp(address, &token, version, call("computer_operation", &envelope)).await;
            assert_eq!(reply.status, 200, "{name} by HTTP, {version}: {reply:?}");
            assert_eq!(normal(outcome(&reply.json())), expected, "{name} by HTTP, {version}");
        }
    }
    house.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn text_that_is_no_envelope_is_answered_and_recorded_by_the_json_api() {
    let mut house = TestServer::new();
    let address = house.http().await;
    for body in ["", "{", "[]", "null", "\"x\"", "{\"op\":\"file.stat\"} x", "{\"op\":\"a\u{1}\"}", DOUBLED] {
        let reply = api(address, &house.token, body).await;
        assert_eq!(reply.status, 400, "{body}: {reply:?}");
        let outcome = reply.json();
        assert_eq!(outcome["error"]["code"], "invalid_request", "{body}");
        assert!(outcome["operationId"].as_str().is_some_and(|id| id.len() == 26), "{body}");
    }
    house.end().await;
}

/// A request that two readers take for two operations.
const DOUBLED: &str = r#"{"scope":"app","op":"file.stat","op":"file.delete","target":"README.md"}"#;

#[tokio::test(flavor = "current_thread")]
async fn a_key_that_is_there_twice_is_refused_on_every_transport() {
    let mut house = TestServer::new();
    let address = house.http().await;
    for body in [
        DOUBLED.to_owned(),
        r#"{"scope":"app","op":"file.stat","input":{},"options":{"hash":false,"hash":true}}"#.to_owned(),
    ] {
        let answer = api(address, &house.token, &body).await.json();
        assert_eq!(answer["error"]["code"], "invalid_request", "{answer}");
        assert!(answer["error"]["message"].to_string().contains("is there twice"), "{answer}");

        // Of MCP the doubled key is deep in the arguments of a tool.
        let call = json!({
            "jsonrpc": "2.0", "id": 7, "method": "tools/call",
            "params": {"name": "computer_query", "arguments": {"_": 0}, "_meta": meta()},
        });
        let line = call.to_string().replace(r#"{"_":0}"#, &body);
        let bearer = format!("Bearer {}", house.token);
        let headers = [
            ("Authorization", bearer.as_str()),
            ("Content-Type", "application/json"),
            ("Accept", "application/json, text/event-stream"),
        ];
        let reply = send(address, "POST", "/mcp", &headers, &line).await;
        assert_eq!((reply.status, &reply.json()["error"]["code"]), (400, &json!(-32600)), "{reply:?}");

        let (mut client, _) = in_memory(house.backend(), CancellationToken::new());
        client.send_raw(format!("{line}\n").as_bytes()).await;
        let answer = client.receive().await;
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(7), &json!(-32600)), "{answer}");
    }
    house.end().await;
}
