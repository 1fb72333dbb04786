//! What clients over HTTP send, and proxies and browsers before them.

use bailiwick::adapters::http::HttpSettings;
use serde_json::{Value, json};

use super::plain_calls::{calls, comparable};
use support::http_client::{Reply, call, mcp, send};
use support::server::TestServer;
use support::service::TestService;

const PAGE: &str = "https://app.example";

async fn post(
    address: std::net::SocketAddr,
    token: &str,
    route: &str,
    more: &[(&str, &str)],
    body: &Value,
) -> Reply {
    let bearer = format!("Bearer {token}");
    let headers =
        [&[("Authorization", bearer.as_str()), ("Content-Type", "application/json")], more].concat();
    send(address, "POST", route, &headers, &body.to_string()).await
}

fn stat() -> Value {
    call("computer_query", &json!({"scope": "app", "op": "file.stat"}))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn either_form_of_an_answer_is_given_and_the_path_may_end_with_a_slash() {
    let mut house = TestServer::new();
    let address = house.http().await;
    for (accept, kind) in [
        (&[][..], "text/event-stream"),
        (&[("Accept", "*/*")], "text/event-stream"),
        (&[("Accept", "text/event-stream")], "text/event-stream"),
        (&[("Accept", "application/json")], "application/json"),
        (&[("Accept", "application/json, text/event-stream")], "text/event-stream"),
    ] {
        for route in ["/mcp", "/mcp/"] {
            let reply = post(address, &house.token, route, accept, &stat()).await;
            assert_eq!(
                (reply.status, reply.header("content-type")),
                (200, Some(kind)),
                "{accept:?} {reply:?}"
            );
            assert_eq!(reply.json()["result"]["structuredContent"]["ok"], true, "{reply:?}");
        }
    }
    let reply = post(address, &house.token, "/mcp", &[("Accept", "text/html")], &stat()).await;
    assert_eq!(reply.status, 406);
    for route in ["/.well-known/oauth-authorization-server", "/.well-known/oauth-protected-resource/mcp"] {
        assert_eq!(send(address, "GET", route, &[], "").await.status, 404);
    }
    house.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn structured_content_has_the_fields_in_the_order_of_the_text() {
    let mut house = TestServer::new();
    let address = house.http().await;
    for version in ["2025-11-25", "2026-07-28"] {
        let reply = mcp(address, &house.token, version, stat()).await;
        let text = reply.json()["result"]["content"][0]["text"].as_str().expect("a text").to_owned();
        assert!(text.starts_with("{\"ok\":true,\"operationId\""), "{text}");
        assert!(reply.body.contains(&format!("\"structuredContent\":{text}")), "{reply:?}");
    }
    house.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_plain_call_is_answered_in_one_piece_and_as_the_protocol_library_answers_it() {
    let mut house = TestServer::new();
    let address = house.http().await;
    for version in ["2025-03-26", "2025-11-25", "2026-07-28"] {
        for (tool, arguments) in calls() {
            let plain = call(tool, &arguments);
            // The library ignores what it does not know, and what has it is left to the library.
            let mut other = plain.clone();
            other["params"]["unknown"] = json!(1);
            let plain = mcp(address, &house.token, version, plain).await;
            let other = mcp(address, &house.token, version, other).await;
            assert!(plain.header("content-length").is_some(), "{plain:?}");
            assert!(other.header("content-length").is_none(), "{other:?}");
            for name in ["content-type", "cache-control", "x-accel-buffering", "x-content-type-options"] {
                assert_eq!(plain.header(name), other.header(name), "{name}");
            }
            assert_eq!(plain.status, other.status);
            assert_eq!(comparable(plain.json()), comparable(other.json()), "{version} {tool} {arguments}");
        }
    }
    // What the library refuses is left to it.
    let unknown = mcp(address, &house.token, "2025-11-25", call("no_such_tool", &json!({}))).await;
    assert_eq!(unknown.json()["error"]["code"], -32602, "{unknown:?}");
    for more in [
        &[("MCP-Protocol-Version", "2031-01-01")][..],
        &[("MCP-Protocol-Version", "2026-07-28"), ("Mcp-Method", "tools/call"), ("Mcp-Name", "other")],
    ] {
        let reply = post(address, &house.token, "/mcp", more, &stat()).await;
        assert_eq!(reply.status, 400, "{more:?} {reply:?}");
    }
    house.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_plain_call_that_takes_longer_tells_of_its_progress() {
    let mut house = TestServer::over(TestService::for_waits());
    let secret = house.token("waits", None, &["*"], &["*"]);
    let address = house.http().await;
    let wait =
        json!({"scope": "app", "op": "process.wait", "input": {"all": [{"until": "time", "seconds": 2.5}]}});
    for token in [json!("p-1"), json!(7), Value::Null] {
        let mut message = call("computer_query", &wait);
        if !token.is_null() {
            message["params"]["_meta"] = json!({"progressToken": token});
        }
        let reply = mcp(address, &secret, "2025-11-25", message).await;
        assert_eq!(reply.json()["result"]["structuredContent"]["data"]["outcome"], "held", "{reply:?}");
        let notifications: Vec<Value> = reply
            .body
            .lines()
            .filter_map(|line| serde_json::from_str(line.strip_prefix("data:")?).ok())
            .filter(|message: &Value| message["method"] == "notifications/progress")
            .collect();
        assert_eq!(notifications.is_empty(), token.is_null(), "{reply:?}");
        assert!(notifications.iter().all(|it| it["params"]["progressToken"] == token), "{reply:?}");
        assert!(notifications.iter().all(|it| it["params"]["message"].is_string()), "{reply:?}");
    }
    house.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn batches_are_answered_for_the_one_revision_that_has_them() {
    let mut house = TestServer::new();
    let address = house.http().await;
    let mut second = stat();
    second["id"] = json!("two");
    let note = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    let handshake = json!({"jsonrpc": "2.0", "id": 3, "method": "initialize", "params": {}});
    let batch = json!([stat(), note, second, handshake]);
    let version = [("MCP-Protocol-Version", "2025-03-26")];
    let answers = post(address, &house.token, "/mcp", &version, &batch).await.json();
    let answers = answers.as_array().expect("a batch");
    let ids: Vec<&Value> = answers.iter().map(|answer| &answer["id"]).collect();
    assert_eq!(ids, [&json!(1), &json!("two"), &json!(3)], "{answers:?}");
    assert_eq!(answers[1]["result"]["structuredContent"]["ok"], true, "{answers:?}");
    assert_eq!(answers[2]["error"]["code"], -32600, "{answers:?}");
    let reply = post(address, &house.token, "/mcp", &version, &json!([note])).await;
    assert_eq!((reply.status, reply.body.as_str()), (202, ""));
    assert_eq!(post(address, &house.token, "/mcp", &version, &json!([])).await.status, 400);
    let newer = [("MCP-Protocol-Version", "2025-06-18")];
    let reply = post(address, &house.token, "/mcp", &newer, &batch).await;
    assert_eq!((reply.status, reply.json()["error"]["code"].clone()), (400, json!(-32600)), "{reply:?}");
    house.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_that_is_named_may_read_answers_and_no_other() {
    let mut house = TestServer::new();
    let settings = HttpSettings { allowed_origins: vec![PAGE.to_owned()], ..house.settings() };
    let address = house.http_with(settings).await;
    let ask = [
        ("Origin", PAGE),
        ("Access-Control-Request-Method", "POST"),
        ("Access-Control-Request-Headers", "authorization,mcp-session-id,mcp-protocol-version"),
        ("Sec-Fetch-Site", "cross-site"),
    ];
    let reply = send(address, "OPTIONS", "/mcp", &ask, "").await;
    assert_eq!((reply.status, reply.header("access-control-allow-origin")), (204, Some(PAGE)), "{reply:?}");
    let allowed = reply.header("access-control-allow-headers").expect("a list");
    for header in ["authorization", "mcp-session-id", "mcp-protocol-version", "content-type"] {
        assert!(allowed.contains(header), "{allowed}");
    }
    let page = [("Origin", PAGE), ("Sec-Fetch-Site", "cross-site")];
    let reply = post(address, &house.token, "/mcp", &page, &stat()).await;
    assert_eq!((reply.status, reply.header("access-control-allow-origin")), (200, Some(PAGE)), "{reply:?}");
    assert!(reply.header("access-control-expose-headers").is_some_and(|it| it.contains("mcp-session-id")));
    // A refusal can be read, too; it still is one.
    let reply = post(address, "bwl_wrong", "/mcp", &page, &stat()).await;
    assert_eq!((reply.status, reply.header("access-control-allow-origin")), (401, Some(PAGE)), "{reply:?}");
    for origin in ["http://localhost:6274", "https://evil.example"] {
        let other = [("Origin", origin), ("Access-Control-Request-Method", "POST")];
        let reply = send(address, "OPTIONS", "/mcp", &other, "").await;
        assert!(reply.status == 401 || reply.status == 403, "{reply:?}");
        assert!(!reply.head.to_lowercase().contains("access-control"), "{reply:?}");
    }
    house.end().await;
}
